/*
 * place.h - where the store's file lies, and whether it may be trusted.
 *
 * Whoever can write the file can plant a digest in it and so turn a wrong
 * answer into a MATCH. The directory and the file must therefore belong to us
 * (or to root) and be writable by nobody else; symbolic links are not followed
 * for the file.
 */
#ifndef WD_STORE_PLACE_H
#define WD_STORE_PLACE_H

#include "base/error.h"

/* Makes `state_dir` and its parents (mode 0700) and the empty file (0600)
 * where they are missing, and checks them. `*path` is the file's path without
 * symbolic links, freed with wd_free.
 * Errors: WD_DENIED (no right to it, read-only, or not ours alone), WD_INVALID
 * (something else than a directory or a regular file is there), WD_GONE,
 * WD_NOMEM, WD_IO; the message names the remedy. */
enum wd_status wd_place_prepare(
    const char *state_dir, char **path, struct wd_error *err) WD_MUST_CHECK;

/* Renames a damaged file to PATH.corrupt-N (N from 1; the last of
 * WD_PLACE_ASIDE is used again and again, so that they do not fill the disk)
 * and removes its -wal and -shm. `*aside` is the new path, freed with wd_free.
 * Errors: WD_NOMEM, or that of rename. */
enum wd_status wd_place_move_aside(
    const char *path, char **aside, struct wd_error *err) WD_MUST_CHECK;

#define WD_PLACE_ASIDE 3

#endif
