/*
 * reader_line.h - the reader interface (reader.h) over a socket: one process
 * asks, another one parses and hashes.
 *
 * The line carries one call at a time. The asking side sends Call with the
 * file's descriptor; while a bundle is described the other side may ask back
 * for files beside it, by name, and gets descriptors; it ends with Done. The
 * messages are those of proto/weightd/seam/v1/reader.proto.
 *
 * Whoever answers may have been taken over by a file it read. It never gets a
 * path, names only single components, and what it answers is checked
 * (pack.h). When it says nothing for WD_LINE_SILENCE_MS, or beyond the
 * question's deadline, it is taken for hung and given up.
 */
#ifndef WD_SEAM_READER_LINE_H
#define WD_SEAM_READER_LINE_H

#include "seam/reader.h"

/* Longest time without a word, however long the deadline is: longer than a
 * disk needs for the next megabyte, shorter than people wait. */
#define WD_LINE_SILENCE_MS 30000
/* A reader that keeps to the deadline still needs time to say so. */
#define WD_LINE_GRACE_MS 1000

/* Where lines come from. */
struct wd_reader_lines {
	/* A new line to a living reader; `*socket` is then the caller's.
	 * Errors: WD_BUSY (it crashed too often lately), WD_IO. */
	enum wd_status (*open)(void *ctx, int *socket, struct wd_error *err);
	/* The reader behind that line hangs or broke the protocol: end it.
	 * The socket is closed afterwards. */
	void (*lost)(void *ctx, int socket);
	void *ctx;
};

/* A reader that asks over lines. Opens one when it is needed and keeps it.
 * Used by one thread at a time. A call that finds the reader dead is made
 * once more with a new one; then: WD_IO, with words. `lines` is copied, what
 * it points to must outlive the reader. Errors: WD_NOMEM. */
enum wd_status wd_reader_over_lines(const struct wd_reader_lines *lines,
    const struct wd_clock *clock, struct wd_reader **reader,
    struct wd_error *err) WD_MUST_CHECK;

/* Answers calls that come over `socket` by `reader` (in this process) until
 * the other side closes the line: WD_OK. The socket stays the caller's.
 * Errors: WD_MALFORMED, WD_NOMEM, WD_IO. */
enum wd_status wd_reader_serve(int socket, struct wd_reader *reader,
    const struct wd_clock *clock, struct wd_error *err) WD_MUST_CHECK;

#endif
