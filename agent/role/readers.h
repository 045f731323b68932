/*
 * readers.h - lines to the reader process (seam/reader_line.h), for the
 * threads of the observer.
 *
 * A line is a socketpair, one end of which goes to the reader over its control
 * line. A thread that needs one while the reader is being replaced waits a
 * moment. A thread whose reader hangs says so; the loop then ends the process
 * (only that very process: a reader that was started since has other lines).
 */
#ifndef WD_ROLE_READERS_H
#define WD_ROLE_READERS_H

#include "seam/reader_line.h"

/* What goes over the control line: a frame of this kind with one line. */
#define WD_READERS_LINE 1

/* How long a thread waits for a reader that is being started. */
#define WD_READERS_WAIT_MS 5000

struct wd_readers;

/* Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_readers_new(const struct wd_clock *clock,
    struct wd_readers **readers, struct wd_error *err) WD_MUST_CHECK;

/* For any thread; valid until wd_readers_free. */
struct wd_reader_lines wd_readers_lines(struct wd_readers *readers);

/* A reader started with this control line, which stays the caller's; -1: it
 * ended. For the loop's thread, as all below. */
void wd_readers_use(struct wd_readers *readers, int control);

/* Readable when a thread gave its reader up; then wd_readers_given_up says
 * whether that is the one of today. */
int wd_readers_wake_fd(const struct wd_readers *readers);
bool wd_readers_given_up(struct wd_readers *readers);

/* No more lines, at once. */
void wd_readers_close(struct wd_readers *readers);

/* No thread may have a line any more. Accepts NULL, sets NULL. */
void wd_readers_free(struct wd_readers **readers);

#endif
