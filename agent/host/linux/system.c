#include "host/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/linux.h"

enum wd_status
wd_host_system(
    bool pid_namespace_is_all, struct wd_host **host, struct wd_error *err)
{
	struct wd_host_linux_options options = { .pid_namespace_is_all =
						     pid_namespace_is_all };

	return wd_host_linux_open(&options, host, err);
}

/* file-hierarchy(7): systemd's STATE_DIRECTORY, /var/lib for the system,
 * XDG_STATE_HOME or ~/.local/state for a user. */
char *
wd_host_state_folder(void)
{
	const char *given = getenv("STATE_DIRECTORY");
	const char *home = getenv("HOME");
	struct wd_buf path;

	if (given != NULL && given[0] == '/')
		return wd_strdup(given);
	if (geteuid() == 0)
		return wd_strdup("/var/lib/weightd");
	given = getenv("XDG_STATE_HOME");
	wd_buf_init(&path, WD_MAX_PATH);
	if (given != NULL && given[0] == '/')
		(void)wd_buf_printf(&path, "%s/weightd", given);
	else if (home != NULL && home[0] == '/')
		(void)wd_buf_printf(&path, "%s/.local/state/weightd", home);
	else
		return NULL;
	return wd_buf_detach(&path);
}
