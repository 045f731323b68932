/*
 * servers_text.h - what several agents list, as a table for people.
 */
#ifndef WD_CMD_SERVERS_TEXT_H
#define WD_CMD_SERVERS_TEXT_H

#include "api/fault.h"
#include "api/target.h"
#include "base/buf.h"
#include "weightd/v1/service.pb-c.h"

/* One host, and what came of asking it. */
struct wd_servers_row {
	const char *host; /* as the user wrote it */
	struct wd_target target;
	Weightd__V1__ListServersResponse *answer; /* NULL: see fault */
	struct wd_api_fault fault;
};

/* Appends the table, then what could not be seen; hosts in their order.
 * Nothing of it is another's bytes unescaped. Errors: those of the buffer. */
enum wd_status wd_servers_text(
    const struct wd_servers_row *rows, size_t count, struct wd_buf *out);

#endif
