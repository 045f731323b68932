/*
 * line.h - what both ends of a reader's line share. Private to this room.
 */
#ifndef WD_SEAM_LINE_H
#define WD_SEAM_LINE_H

#include "seam/frame.h"
#include "weightd/seam/v1/reader.pb-c.h"

enum wd_line_kind {
	WD_LINE_CALL = 1, /* Call, with the file */
	WD_LINE_ASK,      /* Ask */
	WD_LINE_GIVE,     /* Give, with a file when it succeeded */
	WD_LINE_PROGRESS, /* Progress */
	WD_LINE_STOP,     /* nothing: end the Hash that is running */
	WD_LINE_DONE,     /* Done */
};

/* Sends a message as a frame, with one descriptor when fd >= 0. Errors: those
 * of wd_frame_send; WD_NOMEM. */
enum wd_status wd_line_send(int socket, enum wd_line_kind kind,
    const ProtobufCMessage *message, int fd, const struct wd_deadline *deadline,
    struct wd_error *err) WD_MUST_CHECK;

/* The message in a frame; NULL when it is none, or would take more than
 * WD_MAX_SEAM_MEMORY (WD_MALFORMED for the caller), or there is no memory. The
 * other end may have been taken over: it is checked as what a stranger sends
 * (wire/validate.h). Freed with wd_message_free. */
void *wd_line_message(
    const struct wd_frame *frame, const ProtobufCMessageDescriptor *descriptor);

/* A failure as a message, whose texts stay `err`'s, and back. */
void wd_line_failure(enum wd_status status, const struct wd_error *err,
    Weightd__Seam__V1__Failure *failure);
enum wd_status wd_line_status(
    const Weightd__Seam__V1__Failure *failure, struct wd_error *err);

#endif
