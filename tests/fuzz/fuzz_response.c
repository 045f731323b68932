/* An answer: all at once and in pieces it must mean the same. */
#include <stdlib.h>

#include "api/response.h"

#define MAX_BODY 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum wd_http_progress
run(struct wd_slice bytes, size_t step, struct wd_response *response,
    size_t *taken)
{
	enum wd_http_progress progress = WD_HTTP_MORE;
	const char *why;
	size_t used;

	wd_response_init(response, MAX_BODY);
	*taken = 0;
	while (progress == WD_HTTP_MORE && *taken < bytes.len) {
		struct wd_slice part = { bytes.data + *taken,
			bytes.len - *taken };

		if (part.len > step)
			part.len = step;
		progress = wd_response_take(response, part, &used, &why);
		*taken += used;
		if ((progress == WD_HTTP_REFUSED) != (why != NULL))
			abort();
	}
	return progress;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice bytes = { data, size };
	struct wd_response whole, pieces;
	size_t a, b;
	enum wd_http_progress first = run(bytes, SIZE_MAX, &whole, &a);

	if (first != run(bytes, 3, &pieces, &b) ||
	    (first == WD_HTTP_DONE &&
		(a != b || whole.status != pieces.status ||
		    !wd_slice_equal(wd_buf_slice(&whole.body),
			wd_buf_slice(&pieces.body)))))
		abort();
	if (first == WD_HTTP_DONE && (whole.status < 200 || whole.status > 599))
		abort();
	wd_response_release(&whole);
	wd_response_release(&pieces);
	return 0;
}
