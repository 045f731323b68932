#include "host/system.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "host/darwin/darwin.h"

enum wd_status
wd_host_system(
    bool pid_namespace_is_all, struct wd_host **host, struct wd_error *err)
{
	(void)pid_namespace_is_all;
	return wd_host_darwin_open(host, err);
}

/* Apple's File System Programming Guide: Application Support. */
char *
wd_host_state_folder(void)
{
	const char *home = getenv("HOME");
	struct wd_buf path;

	if (geteuid() == 0)
		return wd_strdup("/Library/Application Support/weightd");
	if (home == NULL || home[0] != '/')
		return NULL;
	wd_buf_init(&path, WD_MAX_PATH);
	(void)wd_buf_printf(
	    &path, "%s/Library/Application Support/weightd", home);
	return wd_buf_detach(&path);
}
