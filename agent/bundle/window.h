/*
 * window.h - a file read from front to back through one buffer.
 *
 * However many small values a header has, the number of reads is its size
 * divided by the buffer's (a tokenizer of 300,000 strings once cost half a
 * million). A value is read whole or not at all; the first failure sticks, so
 * that callers may read several fields and look once.
 */
#ifndef WD_BUNDLE_WINDOW_H
#define WD_BUNDLE_WINDOW_H

#include "base/error.h"
#include "bundle/source.h"

#define WD_WINDOW_BYTES 65536

struct wd_window {
	const struct wd_source *source;
	uint8_t *bytes; /* WD_WINDOW_BYTES */
	uint64_t base;  /* where in the file bytes[0] stands */
	size_t len;     /* filled */
	size_t at;      /* consumed; <= len */
	uint64_t cap;   /* position beyond which WD_LIMIT is given */
	bool big_endian;
	enum wd_status status;
	struct wd_error *err; /* may be NULL */
};

/* Errors: WD_NOMEM. */
enum wd_status wd_window_init(struct wd_window *window,
    const struct wd_source *source, uint64_t cap,
    struct wd_error *err) WD_MUST_CHECK;
void wd_window_release(struct wd_window *window);

/* Position in the file of the next byte. */
uint64_t wd_window_at(const struct wd_window *window);

/* The next value; 0 after a failure. */
uint32_t wd_window_u32(struct wd_window *window);
uint64_t wd_window_u64(struct wd_window *window);

/* An integer of 1, 2, 4 or 8 bytes. */
uint64_t wd_window_bits(struct wd_window *window, unsigned size);

/* Checks that `len` bytes follow, before anything is done for them. The
 * failure names the byte count that the file would need. */
bool wd_window_promised(struct wd_window *window, uint64_t len) WD_MUST_CHECK;

/* The next bytes, at least one and at most `most`, valid until the next call;
 * empty after a failure. */
struct wd_slice wd_window_part(struct wd_window *window, uint64_t most);

/* Keeps the failure, at the present position, and returns its status. */
enum wd_status wd_window_fail(struct wd_window *window, enum wd_status status,
    uint64_t offset, const char *text);

#endif
