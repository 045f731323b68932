/*
 * frame_some.h - a frame's next bytes, as far as they go without waiting.
 * Private to this room; whole frames are frame.h (waiting) and frames.h.
 */
#ifndef WD_SEAM_FRAME_SOME_H
#define WD_SEAM_FRAME_SOME_H

#include "seam/frame.h"

/* Sends from byte `*done` of header and data on and moves it. Errors: WD_BUSY
 * when the socket takes nothing just now; WD_GONE, WD_IO. */
enum wd_status wd_frame_send_some(int socket, const struct wd_frame *frame,
    size_t *done, struct wd_error *err) WD_MUST_CHECK;

/* Receives into `bytes` from `*done` on, at most to `len`, and moves it;
 * descriptors that come along are put into `frame`. Errors: as above;
 * WD_MALFORMED for too many descriptors. */
enum wd_status wd_frame_take_some(int socket, uint8_t *bytes, size_t len,
    size_t *done, struct wd_frame *frame, struct wd_error *err) WD_MUST_CHECK;

#endif
