/*
 * nettable.h - a whole table of /proc/net, line by line; of tcp and tcp6 row by
 * row.
 */
#ifndef WD_HOST_LINUX_NETTABLE_H
#define WD_HOST_LINUX_NETTABLE_H

#include "base/clock.h"
#include "host/linux/procnet.h"

/* Hands over every line of `fd` from its start, without its newline; as
 * below. */
enum wd_status wd_line_table(int fd, const struct wd_deadline *deadline,
    enum wd_status (*take)(void *ctx, struct wd_slice line),
    void *ctx) WD_MUST_CHECK;

/* Hands over every row of `fd` from its start; the heading is none. A table
 * can have a million rows, so it is read in pieces. Errors: WD_TIMEDOUT,
 * WD_NOMEM, those of reading, the taker's. */
enum wd_status wd_net_table(int fd, const struct wd_deadline *deadline,
    enum wd_status (*take)(void *ctx, const struct wd_net_row *row),
    void *ctx) WD_MUST_CHECK;

#endif
