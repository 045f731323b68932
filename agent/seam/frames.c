#include "seam/frames.h"

#include <string.h>

#include "base/mem.h"
#include "seam/frame_some.h"

struct wd_frames_item {
	struct wd_frames_item *next;
	struct wd_frame frame;
	size_t done; /* bytes that are sent */
};

void
wd_frames_init(
    struct wd_frames *frames, int socket, size_t max_bytes, size_t max_queued)
{
	memset(frames, 0, sizeof(*frames));
	frames->socket = socket;
	frames->max_bytes = max_bytes;
	frames->max_queued = max_queued;
	frames->coming = wd_frame_init(0, 0);
}

/* ---- going --------------------------------------------------------------- */

static void
free_item(struct wd_frames_item *item)
{
	wd_frame_release(&item->frame);
	wd_free(item);
}

static void
drop_first(struct wd_frames *frames)
{
	struct wd_frames_item *item = frames->first;

	frames->first = item->next;
	if (frames->first == NULL)
		frames->last = NULL;
	frames->queued -= WD_FRAME_HEADER_BYTES + item->frame.len;
	free_item(item);
}

void
wd_frames_release(struct wd_frames *frames)
{
	while (frames->first != NULL)
		drop_first(frames);
	wd_frame_release(&frames->coming);
}

enum wd_status
wd_frames_put(
    struct wd_frames *frames, struct wd_frame *frame, struct wd_error *err)
{
	struct wd_frames_item *item = wd_calloc(1, sizeof(*item));
	size_t bytes = frame->len + WD_FRAME_HEADER_BYTES;

	if (item != NULL)
		item->frame = *frame;
	else
		wd_frame_release(frame);
	*frame = wd_frame_init(0, 0);
	if (item == NULL)
		return wd_fail(err, WD_NOMEM, "frames: out of memory");
	if (item->frame.len > UINT32_MAX ||
	    (frames->first != NULL &&
		(frames->queued > frames->max_queued ||
		    bytes > frames->max_queued - frames->queued))) {
		free_item(item);
		return wd_fail(err, WD_LIMIT,
		    "frames: the other process does not read what it is sent");
	}
	if (frames->last != NULL)
		frames->last->next = item;
	else
		frames->first = item;
	frames->last = item;
	frames->queued += bytes;
	return WD_OK;
}

enum wd_status
wd_frames_flush(struct wd_frames *frames, struct wd_error *err)
{
	while (frames->first != NULL) {
		struct wd_frames_item *item = frames->first;
		enum wd_status st = wd_frame_send_some(
		    frames->socket, &item->frame, &item->done, err);

		if (st == WD_BUSY)
			return WD_OK;
		if (st != WD_OK)
			return st;
		if (item->done == WD_FRAME_HEADER_BYTES + item->frame.len)
			drop_first(frames);
	}
	return WD_OK;
}

bool
wd_frames_waits(const struct wd_frames *frames)
{
	return frames->first != NULL;
}

/* ---- coming -------------------------------------------------------------- */

/* The header is there: makes room for the data. */
static enum wd_status
begin(struct wd_frames *frames, struct wd_error *err)
{
	struct wd_frame_header header;
	enum wd_status st = wd_frame_header_read(
	    frames->header, frames->max_bytes, &header, err);

	if (st != WD_OK)
		return st;
	frames->coming.kind = header.kind;
	frames->coming.id = header.id;
	frames->announced = header.fd_count;
	frames->data_done = 0;
	if (header.len == 0)
		return WD_OK;
	frames->coming.data = wd_calloc(header.len, 1);
	if (frames->coming.data == NULL)
		return wd_fail(err, WD_NOMEM, "frames: no memory for %u bytes",
		    header.len);
	frames->coming.len = header.len;
	return WD_OK;
}

static enum wd_status
take_header(struct wd_frames *frames, struct wd_error *err)
{
	enum wd_status st = WD_OK;

	if (frames->header_done == WD_FRAME_HEADER_BYTES)
		return WD_OK;
	while (st == WD_OK && frames->header_done < WD_FRAME_HEADER_BYTES)
		st = wd_frame_take_some(frames->socket, frames->header,
		    WD_FRAME_HEADER_BYTES, &frames->header_done,
		    &frames->coming, err);
	return st == WD_OK ? begin(frames, err) : st;
}

enum wd_status
wd_frames_take(
    struct wd_frames *frames, struct wd_frame *frame, struct wd_error *err)
{
	struct wd_frame *coming = &frames->coming;
	enum wd_status st = take_header(frames, err);

	while (st == WD_OK && frames->data_done < coming->len)
		st = wd_frame_take_some(frames->socket, coming->data,
		    coming->len, &frames->data_done, coming, err);
	if (st != WD_OK)
		return st;
	if (coming->fd_count != frames->announced)
		return wd_fail(err, WD_MALFORMED,
		    "frames: %u descriptors came, %u were announced",
		    coming->fd_count, frames->announced);
	*frame = *coming;
	*coming = wd_frame_init(0, 0);
	frames->header_done = 0;
	return WD_OK;
}
