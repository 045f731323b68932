/*
 * frame.h - one message on a socketpair between two of our processes, with
 * the descriptors that go with it.
 *
 * A frame is a header of 16 bytes, little-endian, and its data:
 *
 *   u32 bytes of data   u16 kind   u16 descriptors   u64 id
 *
 * Kinds and the meaning of data are those of whoever talks (seam/reader_line.h,
 * seam/observer.h); the id ties an answer to its question. Descriptors travel
 * with the first byte (unix(7), SCM_RIGHTS) and are close-on-exec at the
 * receiver.
 *
 * The other side may be a process that was taken over: what it sends is
 * checked here for size and number of descriptors, and by the caller for
 * everything else.
 */
#ifndef WD_SEAM_FRAME_H
#define WD_SEAM_FRAME_H

#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/slice.h"

#define WD_FRAME_HEADER_BYTES 16
#define WD_FRAME_DESCRIPTORS 8

struct wd_frame {
	uint16_t kind;
	uint64_t id;
	uint8_t *data; /* NULL when len is 0 */
	size_t len;
	int fds[WD_FRAME_DESCRIPTORS];
	unsigned fd_count;
};

/* An empty frame of that kind and id. */
struct wd_frame wd_frame_init(uint16_t kind, uint64_t id);

/* Frees the data and closes the descriptors. */
void wd_frame_release(struct wd_frame *frame);

/* Takes the first descriptor out of a frame; -1 when it has none. */
int wd_frame_take_fd(struct wd_frame *frame);

/* The header's two forms. Errors of reading: WD_MALFORMED when more than
 * `max_bytes` or too many descriptors are announced. */
struct wd_frame_header {
	uint32_t len;
	uint16_t kind;
	uint16_t fd_count;
	uint64_t id;
};
void wd_frame_header_write(
    const struct wd_frame_header *header, uint8_t bytes[WD_FRAME_HEADER_BYTES]);
enum wd_status wd_frame_header_read(const uint8_t bytes[WD_FRAME_HEADER_BYTES],
    size_t max_bytes, struct wd_frame_header *header,
    struct wd_error *err) WD_MUST_CHECK;

/* Sends a frame whole. Data and descriptors stay the caller's. Errors:
 * WD_TIMEDOUT (the other side did not read; the socket is then of no more
 * use), WD_GONE (nobody reads any more), WD_LIMIT (data above 4 GiB), WD_IO. */
enum wd_status wd_frame_send(int socket, const struct wd_frame *frame,
    const struct wd_deadline *deadline, struct wd_error *err) WD_MUST_CHECK;

/* Receives one frame with at most `max_bytes` of data; the caller releases
 * it. On error nothing is to be released. Errors: WD_GONE (the other side has
 * ended, also in the middle of a frame), WD_TIMEDOUT, WD_MALFORMED, WD_NOMEM,
 * WD_IO; behind each but WD_TIMEDOUT before the first byte the socket is of no
 * more use. */
enum wd_status wd_frame_receive(int socket, size_t max_bytes,
    const struct wd_deadline *deadline, struct wd_frame *frame,
    struct wd_error *err) WD_MUST_CHECK;

/* A connected pair of stream sockets, both close-on-exec. Errors: WD_LIMIT or
 * WD_IO with errno. */
enum wd_status wd_frame_pair(int pair[2], struct wd_error *err) WD_MUST_CHECK;

#endif
