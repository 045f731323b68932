/*
 * buf.h - a growing byte buffer with a maximum it never passes.
 *
 * Invariants: len <= capacity <= max, and data[len] is a NUL once anything
 * was appended, so that text can be used as a C string. Appending is all or
 * nothing. A buffer that failed once stays failed (`status`): callers may
 * append a whole page and look at the status at the end.
 */
#ifndef WD_BASE_BUF_H
#define WD_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

struct wd_buf {
	uint8_t *data; /* NULL until the first append */
	size_t len;
	size_t capacity;
	size_t max;
	enum wd_status status; /* WD_OK, WD_NOMEM or WD_LIMIT */
};

/* An empty buffer that holds at most `max` bytes. Allocates nothing. */
void wd_buf_init(struct wd_buf *buf, size_t max);

/* Frees the memory; the buffer can then be initialised again. Is a valid
 * WD_CLEANUP handler. */
void wd_buf_release(struct wd_buf *buf);

/* Forgets the content and the failure, keeps the memory. */
void wd_buf_reset(struct wd_buf *buf);

/* Each returns the buffer's status: WD_NOMEM; WD_LIMIT beyond `max`. */
enum wd_status wd_buf_append(struct wd_buf *buf, const void *bytes, size_t len);
enum wd_status wd_buf_text(struct wd_buf *buf, const char *text);
enum wd_status wd_buf_byte(struct wd_buf *buf, uint8_t byte);
enum wd_status wd_buf_printf(struct wd_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum wd_status wd_buf_vprintf(struct wd_buf *buf, const char *format,
    va_list args) __attribute__((format(printf, 2, 0)));

/* Room for `len` more bytes at the end; `*space` points there. The caller
 * writes and then calls wd_buf_advance with what it wrote. */
enum wd_status wd_buf_reserve(
    struct wd_buf *buf, size_t len, uint8_t **space) WD_MUST_CHECK;
void wd_buf_advance(struct wd_buf *buf, size_t len);

/* The content as a string that the buffer owns; "" when it is empty. */
const char *wd_buf_string(const struct wd_buf *buf);
struct wd_slice wd_buf_slice(const struct wd_buf *buf);

/* The content as a NUL-terminated string that the caller frees with wd_free;
 * the buffer is empty afterwards. NULL when the buffer has failed or there is
 * no memory. */
char *wd_buf_detach(struct wd_buf *buf) WD_MUST_CHECK;

#endif
