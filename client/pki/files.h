/*
 * files.h - the files of a CA and of those who ask it: whole or not there.
 *
 * A file is written under a name that nobody knows, flushed to the disk, and
 * then given its own name by link(2), which never replaces anything. What goes
 * wrong leaves nothing behind. Keys are readable by their owner alone, and one
 * that others can read is not used.
 */
#ifndef WD_PKI_FILES_H
#define WD_PKI_FILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

#define WD_PKI_SECRET_MODE 0600
#define WD_PKI_PUBLIC_MODE 0644

/* A folder that is open; `path` is borrowed. */
struct wd_pki_folder {
	int fd; /* -1: none */
	const char *path;
};

/* Opens a folder; makes it (mode 0700) when it is not there and `make` says
 * so. With `is_secret` one that others may write is refused: they could put
 * another key in place. Errors: WD_GONE, WD_DENIED, WD_INVALID, WD_IO. */
enum wd_status wd_pki_folder_open(const char *path, bool make, bool is_secret,
    struct wd_pki_folder *folder, struct wd_error *err) WD_MUST_CHECK;
void wd_pki_folder_close(struct wd_pki_folder *folder);

/* Whether there is something by that name. */
bool wd_pki_is_there(const struct wd_pki_folder *folder, const char *name);

/* WD_BUSY, with the whole name, when there is: nothing is overwritten. */
enum wd_status wd_pki_must_be_free(const struct wd_pki_folder *folder,
    const char *name, struct wd_error *err) WD_MUST_CHECK;

/* Writes a new file with exactly this mode. Errors: WD_BUSY when there is one;
 * WD_DENIED, WD_IO. */
enum wd_status wd_pki_write(const struct wd_pki_folder *folder,
    const char *name, unsigned mode, struct wd_slice bytes,
    struct wd_error *err) WD_MUST_CHECK;

/* As above, in place of the one that is there: for revocation lists, and for
 * answers that the caller asked to be written somewhere. */
enum wd_status wd_pki_replace(const struct wd_pki_folder *folder,
    const char *name, unsigned mode, struct wd_slice bytes,
    struct wd_error *err) WD_MUST_CHECK;

/* Takes a file away that was written a moment ago. */
void wd_pki_remove(const struct wd_pki_folder *folder, const char *name);

/* Appends the bytes of a regular file. With `is_secret` one that anybody but
 * its owner can read is refused. Errors: WD_GONE, WD_DENIED, WD_INVALID when
 * it is no file; WD_LIMIT, WD_NOMEM, WD_IO. */
enum wd_status wd_pki_read(const struct wd_pki_folder *folder, const char *name,
    bool is_secret, struct wd_buf *bytes, struct wd_error *err) WD_MUST_CHECK;

/* As above, by path. */
enum wd_status wd_pki_read_path(const char *path, bool is_secret,
    struct wd_buf *bytes, struct wd_error *err) WD_MUST_CHECK;

#endif
