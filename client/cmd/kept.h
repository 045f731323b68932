/*
 * kept.h - the files of one look, each opened once and kept open.
 *
 * What is described and what is hashed must be the same bytes. A file that is
 * opened by name a second time may be another one, and a size that fits proves
 * nothing: so every file is opened once, read through that descriptor to the
 * end, and held against its first state when all is done.
 */
#ifndef WD_CMD_KEPT_H
#define WD_CMD_KEPT_H

#include <sys/stat.h>

#include "bundle/source.h"

struct wd_kept_file {
	char *name;
	size_t name_len;
	struct wd_source source;
	int fd;
	struct stat first; /* its state when it was opened */
};

struct wd_kept;

/* A folder within the bundle's; its files are kept under their paths. */
struct wd_kept_inner {
	struct wd_kept *kept;
	struct wd_folder_fd folder;
	char *prefix; /* ends in '/' */
};

struct wd_kept {
	struct wd_folder_fd folder;   /* fd -1: it could not be opened */
	struct wd_kept_inner **inner; /* folders within, once entered */
	size_t inner_count;
	size_t inner_capacity;
	struct wd_kept_file *files;
	size_t count;
	size_t capacity;
};

/* Both descriptors become the set's, also on an error, and go with it. */
void wd_kept_init(struct wd_kept *kept, int folder_fd);
void wd_kept_release(struct wd_kept *kept);

/* Adds the file that the user named. Errors: WD_INVALID (no regular file),
 * WD_NOMEM, WD_LIMIT, WD_IO. */
enum wd_status wd_kept_add(struct wd_kept *kept, struct wd_slice name, int fd,
    struct wd_error *err) WD_MUST_CHECK;

/* The folder as bundle/ reads it: a name that was opened before gives the
 * same descriptor again, and close keeps it. */
struct wd_folder wd_kept_folder(struct wd_kept *kept);

/* NULL when it was never opened. Valid until the next file is opened. */
const struct wd_kept_file *wd_kept_find(
    const struct wd_kept *kept, struct wd_slice name);

/* The first file that is not what it was: its size, its time of modification
 * or of change moved, or its name leads to another object now. NULL when none.
 * Two writes within one tick of the file system's clock (4 ms on Linux), one
 * before the file was opened and one after, look like one. */
const struct wd_kept_file *wd_kept_changed(const struct wd_kept *kept);

#endif
