/*
 * message_frame.h - a message as a frame. Private to this room.
 */
#ifndef WD_SEAM_MESSAGE_FRAME_H
#define WD_SEAM_MESSAGE_FRAME_H

#include <protobuf-c/protobuf-c.h>

#include "seam/frame.h"

/* Makes a frame that holds the message; the caller releases it. Errors:
 * WD_LIMIT above WD_MAX_SEAM_MESSAGE, WD_NOMEM. */
enum wd_status wd_message_frame(uint16_t kind, uint64_t id,
    const ProtobufCMessage *message, struct wd_frame *frame,
    struct wd_error *err) WD_MUST_CHECK;

#endif
