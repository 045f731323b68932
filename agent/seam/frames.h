/*
 * frames.h - frames (frame.h) on a socket that nobody waits for: what an
 * event loop uses.
 *
 * Frames to be sent wait in a queue with a cap; frames that come are put
 * together as their bytes arrive. Neither direction ever blocks, so a slow or
 * hostile other side costs its own line and nothing else.
 */
#ifndef WD_SEAM_FRAMES_H
#define WD_SEAM_FRAMES_H

#include "seam/frame.h"

struct wd_frames_item;

struct wd_frames {
	int socket;        /* borrowed */
	size_t max_bytes;  /* of data in a frame that comes */
	size_t max_queued; /* bytes that wait to be sent */
	/* Private. */
	uint8_t header[WD_FRAME_HEADER_BYTES];
	size_t header_done, data_done;
	unsigned announced; /* descriptors */
	struct wd_frame coming;
	struct wd_frames_item *first, *last;
	size_t queued;
};

void wd_frames_init(
    struct wd_frames *frames, int socket, size_t max_bytes, size_t max_queued);
void wd_frames_release(struct wd_frames *frames);

/* Queues a frame and takes what it holds, also on failure; `frame` is then
 * empty. One frame always fits into an empty queue. Errors: WD_LIMIT (the other
 * side does not read), WD_NOMEM. */
enum wd_status wd_frames_put(struct wd_frames *frames, struct wd_frame *frame,
    struct wd_error *err) WD_MUST_CHECK;

/* Sends what can be sent. WD_OK also when something stays in the queue.
 * Errors: WD_GONE, WD_IO. */
enum wd_status wd_frames_flush(
    struct wd_frames *frames, struct wd_error *err) WD_MUST_CHECK;

/* Whether something waits to be sent. */
bool wd_frames_waits(const struct wd_frames *frames);

/* The next whole frame, which the caller releases. Errors: WD_BUSY when it is
 * not there yet; WD_GONE, WD_MALFORMED, WD_NOMEM, WD_IO: the socket is of no
 * more use. */
enum wd_status wd_frames_take(struct wd_frames *frames, struct wd_frame *frame,
    struct wd_error *err) WD_MUST_CHECK;

#endif
