/*
 * hosts.h - a list of hosts, from words, lines or a Prometheus file.
 *
 * Each host stands in it once, in the order in which it was first named, as
 * it was written; ranges (range.h) are expanded.
 */
#ifndef WD_MAP_HOSTS_H
#define WD_MAP_HOSTS_H

#include "base/error.h"
#include "base/slice.h"

struct wd_hosts {
	char **items;
	size_t count, capacity;
	/* Private: items by name, for look-ups. */
	void *tree;
};

/* Adds a name or a range of them. Errors: those of wd_range_expand; WD_LIMIT
 * beyond WD_MAX_HOSTS in all; WD_NOMEM. */
enum wd_status wd_hosts_add(struct wd_hosts *hosts, struct wd_slice text,
    struct wd_error *err) WD_MUST_CHECK;

/* Adds a name or a range from each line; what follows a '#' and empty lines
 * are left out. `name` begins errors, with the line. Errors: as above;
 * WD_INVALID when there is no host in it: an empty list is never "all is
 * well". */
enum wd_status wd_hosts_add_lines(struct wd_hosts *hosts, const char *name,
    struct wd_slice text, struct wd_error *err) WD_MUST_CHECK;

/* Adds the hosts of a Prometheus file_sd file (JSON or YAML: a list of groups
 * with `targets`, "HOST" or "HOST:PORT"; ports and labels are left out).
 * Errors: as above, with the place in the file. */
enum wd_status wd_hosts_add_file_sd(struct wd_hosts *hosts, const char *name,
    struct wd_slice text, struct wd_error *err) WD_MUST_CHECK;

/* A valid WD_CLEANUP handler; also of a zeroed struct. */
void wd_hosts_release(struct wd_hosts *hosts);

#endif
