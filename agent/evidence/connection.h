/*
 * connection.h - what connection.c and translated.c share. Private to this
 * room.
 */
#ifndef WD_EVIDENCE_CONNECTION_H
#define WD_EVIDENCE_CONNECTION_H

#include "evidence/address.h"
#include "evidence/look.h"

/* What is searched for, read once from the question. */
struct wd_wanted {
	struct wd_address caller;
	uint16_t caller_port, port;
	bool has_address; /* the service's, when the question gives it */
	struct wd_address address;
};

/* What the rows came to. */
struct wd_finding {
	struct wd_connection socket;
	size_t fitting;
	bool translated;     /* `socket` is at the end of a translation */
	uint16_t other_port; /* a row from the caller at another port, or 0 */
	uint64_t other_netns;
};

/* Adds the sockets to which the kernel has rewritten the caller's connection
 * to the asked port. `blinds` takes what of its tables could not
 * be read. Errors: WD_NOMEM. */
enum wd_status wd_look_translated(struct wd_look *look,
    const struct wd_wanted *wanted, const struct wd_connections *rows,
    struct wd_finding *finding, struct wd_blinds *blinds) WD_MUST_CHECK;

/* Adds all of `from` to `to`. Errors: WD_NOMEM. */
enum wd_status wd_blinds_take(
    struct wd_blinds *to, const struct wd_blinds *from) WD_MUST_CHECK;

#endif
