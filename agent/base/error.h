/*
 * error.h - the story of one failure, carried as the last argument.
 *
 * A function that crosses a room takes `struct wd_error *err` last; it may be
 * NULL. It is written only on failure. The message is inside the struct, so
 * reporting a failure never allocates. A message names the thing, the reason
 * and, where there is one, the remedy; untrusted bytes in it are escaped by
 * the caller (escape.h).
 */
#ifndef WD_BASE_ERROR_H
#define WD_BASE_ERROR_H

#include <stdint.h>

#include "base/status.h"

#define WD_ERROR_MESSAGE_BYTES 512
#define WD_ERROR_NO_OFFSET UINT64_MAX

struct wd_error {
	enum wd_status status;
	int os_errno;    /* 0 when the failure is not the system's */
	uint64_t offset; /* byte in the input, or WD_ERROR_NO_OFFSET */
	char message[WD_ERROR_MESSAGE_BYTES];
};

/* Sets `err` to "no failure". */
void wd_error_init(struct wd_error *err);

/* Fills `err` (may be NULL) and returns `status`, so that a failing function
 * ends with `return wd_fail(err, WD_MALFORMED, "...")`. A message that is too
 * long is cut between two characters. An argument may be err->message itself,
 * to put words in front of it. */
enum wd_status wd_fail(struct wd_error *err, enum wd_status status,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As wd_fail, for a failure at byte `offset` of the input. */
enum wd_status wd_fail_at(struct wd_error *err, enum wd_status status,
    uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* As wd_fail, with the status that wd_status_from_errno gives; the system's
 * words are appended to the message, which is cut to make room for them. */
enum wd_status wd_fail_errno(struct wd_error *err, int os_errno,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
