/*
 * rights.h - what the agent is allowed and able to look at at all, whatever
 * the question is.
 */
#ifndef WD_HOST_RIGHTS_H
#define WD_HOST_RIGHTS_H

#include "host/host.h"

/* A right of the agent's that its looks need; static texts. */
struct wd_right {
	const char *name;    /* "CAP_SYS_PTRACE" */
	const char *purpose; /* what for, and what is blind without it */
	bool held;
};

#define WD_MAX_RIGHTS 8

struct wd_rights {
	struct wd_right items[WD_MAX_RIGHTS];
	size_t count;
};

/* Which of the rights that looks need the agent has. Errors: WD_UNSUPPORTED
 * where rights have no names; those of reading them: then none is known. */
enum wd_status wd_host_rights(struct wd_host *host, struct wd_rights *rights,
    struct wd_error *err) WD_MUST_CHECK;

/* What this kind of host can be asked at all, whatever its rights are. */
struct wd_abilities {
	bool written, connections, devices;
};
struct wd_abilities wd_host_abilities(const struct wd_host *host);

#endif
