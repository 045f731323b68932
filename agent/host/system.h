/*
 * system.h - the backend of the system that this program was built for.
 */
#ifndef WD_HOST_SYSTEM_H
#define WD_HOST_SYSTEM_H

#include "host/host.h"

/* Opens the running host. `pid_namespace_is_all`: the operator says that the
 * pid namespace the agent runs in holds every process that can own its
 * sockets; without that an agent in a pid namespace of its own never calls a
 * list of processes complete (systems without pid namespaces ignore it).
 * Errors: WD_NOMEM, those of the backend's own open. The caller frees it with
 * wd_host_free. */
enum wd_status wd_host_system(bool pid_namespace_is_all, struct wd_host **host,
    struct wd_error *err) WD_MUST_CHECK;

/* The folder for the state of the agent when nobody names one: for root the
 * system's, else one below the user's home; NULL when there is no home. The
 * caller frees it with wd_free. */
char *wd_host_state_folder(void) WD_MUST_CHECK;

#endif
