/* A head up to its empty line, then chunks: all at once and in pieces they
 * must mean the same. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "server/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum wd_http_progress
run(struct wd_slice bytes, size_t step, struct wd_buf *body, size_t *taken)
{
	struct wd_http_chunks chunks = { .state = WD_CHUNK_LINE };
	enum wd_http_progress progress = WD_HTTP_MORE;
	struct wd_http_refusal refusal;
	size_t used;

	*taken = 0;
	while (progress == WD_HTTP_MORE && *taken < bytes.len) {
		struct wd_slice part = { bytes.data + *taken,
			bytes.len - *taken };

		if (part.len > step)
			part.len = step;
		progress =
		    wd_http_take_chunks(&chunks, part, &used, body, &refusal);
		*taken += used;
	}
	return progress;
}

static void
run_chunks(struct wd_slice bytes)
{
	struct wd_buf whole, pieces;
	size_t a, b;

	wd_buf_init(&whole, WD_MAX_REQUEST_BODY);
	wd_buf_init(&pieces, WD_MAX_REQUEST_BODY);
	if (run(bytes, SIZE_MAX, &whole, &a) != run(bytes, 3, &pieces, &b) ||
	    a != b ||
	    !wd_slice_equal(wd_buf_slice(&whole), wd_buf_slice(&pieces)))
		abort();
	wd_buf_release(&whole);
	wd_buf_release(&pieces);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memmem(data, size, "\r\n\r\n", 4);
	size_t len = end == NULL ? size : (size_t)(end - data) + 4;
	struct wd_http_refusal refusal;
	struct wd_http_head head;

	if (wd_http_read_head(
		(struct wd_slice){ data, len }, &head, &refusal)) {
		if (end == NULL || head.path[0] != '/' ||
		    head.content_length > WD_MAX_REQUEST_BODY)
			abort();
	} else if (refusal.status < 400 || refusal.status > 505) {
		abort();
	}
	run_chunks((struct wd_slice){ data + len, size - len });
	return 0;
}
