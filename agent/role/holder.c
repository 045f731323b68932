/*
 * Who has our port: the agent's own question, asked of itself.
 */
#include <stdio.h>

#include "base/escape.h"
#include "base/mem.h"
#include "host/system.h"
#include "role/listeners.h"

#define LOOK_MS 3000

static bool
find_pid(struct wd_host *host, uint16_t port, pid_t *pid)
{
	struct wd_deadline deadline = wd_deadline_in(&wd_clock_system, LOOK_MS);
	struct wd_listener_query query = { WD_NETNS_OWN, 0, port };
	struct wd_listeners listeners = { 0 };
	struct wd_holders holders = { 0 };
	size_t i;
	bool found = false;

	if (wd_host_listeners(host, &query, &deadline, &listeners, NULL) !=
	    WD_OK)
		return false;
	for (i = 0; i < listeners.count && !found; i++) {
		if (wd_host_holders(host, &listeners.items[i].inode, 1,
			&deadline, &holders, NULL) != WD_OK)
			break;
		found = holders.count > 0;
		if (found)
			*pid = holders.items[0].pid;
		wd_holders_release(&holders);
	}
	wd_listeners_release(&listeners);
	return found;
}

const char *
wd_port_holder(uint16_t port, char *text, size_t size)
{
	WD_CLEANUP(wd_host_free) struct wd_host *host = NULL;
	struct wd_process process = { .argv_status = WD_OK };
	char shown[128];
	pid_t pid = 0;

	(void)snprintf(text, size, "another process, which cannot be seen");
	if (wd_host_system(false, &host, NULL) != WD_OK ||
	    !find_pid(host, port, &pid))
		return text;
	(void)snprintf(text, size, "process %d", (int)pid);
	if (wd_host_process(host, pid, &process, NULL) != WD_OK)
		return text;
	(void)snprintf(text, size, "%s (process %d)",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(process.comm)),
	    (int)pid);
	wd_process_release(&process);
	return text;
}
