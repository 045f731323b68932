/*
 * procmaps.h - lines of /proc/PID/maps and smaps, and the names of the links
 * in /proc/PID/map_files. Pure.
 *
 * The path in maps is ambiguous: of all bytes only the newline is escaped, as
 * \012, and a file may really be named so; " (deleted)" may be a mark or part
 * of a name. Nothing is decoded or cut here.
 */
#ifndef WD_HOST_LINUX_PROCMAPS_H
#define WD_HOST_LINUX_PROCMAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct wd_map_line {
	uint64_t start, end, offset;
	uint64_t device; /* as stat's st_dev */
	uint64_t inode;  /* 0: no file */
	bool readable, writable, executable, shared;
	struct wd_slice path; /* within the line; may be empty */
};

/* One line, with or without its newline. Errors: WD_MALFORMED; a range that
 * is empty or backwards is one. */
enum wd_status wd_parse_map_line(
    struct wd_slice line, struct wd_map_line *map) WD_MUST_CHECK;

/* "START-END" in unpadded hexadecimal. */
bool wd_parse_map_range(
    struct wd_slice name, uint64_t *start, uint64_t *end) WD_MUST_CHECK;

/* A line of smaps below its mapping's line: adds what "Anonymous:" and
 * "Swap:" say to `*bytes` and returns true; false for other lines. */
bool wd_parse_smaps_line(struct wd_slice line, uint64_t *bytes);

/* Whether a line of smaps says that the mapping has private huge pages:
 * "Anonymous" does not count those that were written. */
bool wd_is_private_hugetlb(struct wd_slice line);

#endif
