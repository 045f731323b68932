/*
 * source.h - where a bundle's bytes come from.
 *
 * The parsers of this room never open, map or name a file of the system: they
 * read through these two vtables, so the same code runs over descriptors in
 * the reader process, over memory in unit tests, and over whatever a fuzzer
 * invents.
 */
#ifndef WD_BUNDLE_SOURCE_H
#define WD_BUNDLE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

/* One file. */
struct wd_source {
	/* Reads up to `len` bytes at `offset`; `*got` is 0 at the end. A short
	 * read is allowed. Errors: any status but WD_TRUNCATED. */
	enum wd_status (*read)(void *ctx, uint64_t offset, void *bytes,
	    size_t len, size_t *got, struct wd_error *err);
	void *ctx;
	uint64_t size_bytes; /* as fstat gave it when the look began */
};

/* Exactly `len` bytes at `offset`. Errors: WD_TRUNCATED when the file ends
 * first; those of read. */
enum wd_status wd_source_exact(const struct wd_source *source, uint64_t offset,
    void *bytes, size_t len, struct wd_error *err) WD_MUST_CHECK;

/* Appends the whole file to `out`. Errors: WD_LIMIT when it is larger than
 * the buffer may become, WD_NOMEM, those of read. */
enum wd_status wd_source_all(const struct wd_source *source, struct wd_buf *out,
    struct wd_error *err) WD_MUST_CHECK;

/* A source over memory, for tests; `slice` must outlive it. */
struct wd_source wd_source_memory(const struct wd_slice *slice);

/* A source over an open descriptor of a regular file, which stays the
 * caller's and must outlive it; reads with pread. Errors: WD_INVALID when it
 * is no regular file (a FIFO would block us), WD_IO. */
enum wd_status wd_source_fd(
    int fd, struct wd_source *source, struct wd_error *err) WD_MUST_CHECK;

/* The descriptor behind a source of wd_source_fd or of a folder over a
 * descriptor; -1 behind any other. */
int wd_source_descriptor(const struct wd_source *source);

/* The folder in which a bundle lies. Names are single components: never
 * empty, ".", "..", nor with a '/'. An index that wants to lead elsewhere is
 * refused before the folder is asked. */
struct wd_folder {
	/* Opens the regular file `name`. Errors: WD_NOTFOUND, WD_DENIED,
	 * WD_INVALID (no regular file), WD_GONE (the folder itself is not
	 * known: the file was unlinked, or nobody named one). */
	enum wd_status (*open)(void *ctx, struct wd_slice name,
	    struct wd_source *source, struct wd_error *err);
	/* Ends a source that open gave. */
	void (*close)(void *ctx, struct wd_source *source);
	/* Calls `each` for every entry's name, in no order; stops when it
	 * returns false. Errors: as open. */
	enum wd_status (*list)(void *ctx,
	    bool (*each)(void *each_ctx, struct wd_slice name), void *each_ctx,
	    struct wd_error *err);
	void *ctx;
	/* Opens the folder `name` in it, no symbolic link; it lives as long as
	 * this one. NULL: what lies deeper is out of reach. Errors: as open. */
	enum wd_status (*enter)(void *ctx, struct wd_slice name,
	    struct wd_folder *inner, struct wd_error *err);
};

/* Whether `name` may be asked of a folder (see above; at most 255 bytes). */
bool wd_folder_name_allowed(struct wd_slice name);

/* Appends the text of the symbolic link `name` in an open directory, as it
 * stands; nothing is followed. Errors: WD_INVALID (no name, or no link),
 * WD_NOTFOUND, WD_LIMIT (longer than the buffer may become), WD_NOMEM, WD_IO.
 */
enum wd_status wd_folder_link(int fd, struct wd_slice name, struct wd_buf *text,
    struct wd_error *err) WD_MUST_CHECK;

/* A folder over an open directory descriptor, which stays the caller's. With
 * `beneath` no symbolic link is followed, so nothing leads out of it. */
struct wd_folder_fd {
	int fd;
	bool beneath;
};
struct wd_folder wd_folder_over_fd(struct wd_folder_fd *folder);

#endif
