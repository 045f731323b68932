#include "bundle/window.h"

#include <string.h>

#include "base/mem.h"

enum wd_status
wd_window_init(struct wd_window *window, const struct wd_source *source,
    uint64_t cap, struct wd_error *err)
{
	*window = (struct wd_window){
		.source = source, .cap = cap, .status = WD_OK, .err = err
	};
	window->bytes = wd_calloc(WD_WINDOW_BYTES, 1);
	if (window->bytes == NULL)
		return wd_fail(err, WD_NOMEM, "no memory to read the header");
	return WD_OK;
}

void
wd_window_release(struct wd_window *window)
{
	wd_free(window->bytes);
	window->bytes = NULL;
}

uint64_t
wd_window_at(const struct wd_window *window)
{
	return window->base + window->at;
}

enum wd_status
wd_window_fail(struct wd_window *window, enum wd_status status, uint64_t offset,
    const char *text)
{
	if (window->status == WD_OK)
		window->status =
		    wd_fail_at(window->err, status, offset, "%s", text);
	return window->status;
}

bool
wd_window_promised(struct wd_window *window, uint64_t len)
{
	uint64_t at = wd_window_at(window);

	if (window->status != WD_OK)
		return false;
	if (len > INT64_MAX - at) {
		(void)wd_window_fail(window, WD_MALFORMED, at,
		    "a length in the header is beyond any file");
		return false;
	}
	if (at + len > window->source->size_bytes) {
		window->status = wd_fail_at(window->err, WD_TRUNCATED, at,
		    "the file ends within its header: need at least %llu "
		    "bytes, have %llu",
		    (unsigned long long)(at + len),
		    (unsigned long long)window->source->size_bytes);
		return false;
	}
	if (at + len > window->cap) {
		(void)wd_window_fail(window, WD_LIMIT, at,
		    "the header is larger than any known model's");
		return false;
	}
	return true;
}

/* Moves what is left to the front and reads behind it. */
static bool
fill(struct wd_window *window)
{
	size_t left = window->len - window->at, got = 0;
	enum wd_status st;

	memmove(window->bytes, window->bytes + window->at, left);
	window->base += window->at;
	window->at = 0;
	window->len = left;
	st = window->source->read(window->source->ctx, window->base + left,
	    window->bytes + left, WD_WINDOW_BYTES - left, &got, window->err);
	if (st != WD_OK) {
		window->status = st;
		return false;
	}
	if (got == 0) {
		(void)wd_window_fail(window, WD_TRUNCATED, window->base + left,
		    "the file has become shorter while it was read");
		return false;
	}
	window->len += got;
	return true;
}

static const uint8_t *
take(struct wd_window *window, size_t len)
{
	const uint8_t *bytes;

	if (!wd_window_promised(window, len))
		return NULL;
	while (window->len - window->at < len)
		if (!fill(window))
			return NULL;
	bytes = window->bytes + window->at;
	window->at += len;
	return bytes;
}

uint64_t
wd_window_bits(struct wd_window *window, unsigned size)
{
	const uint8_t *bytes = take(window, size);
	uint64_t value = 0;
	unsigned i;

	if (bytes == NULL)
		return 0;
	for (i = 0; i < size; i++)
		value =
		    value << 8 | bytes[window->big_endian ? i : size - 1 - i];
	return value;
}

uint32_t
wd_window_u32(struct wd_window *window)
{
	return (uint32_t)wd_window_bits(window, 4);
}

uint64_t
wd_window_u64(struct wd_window *window)
{
	return wd_window_bits(window, 8);
}

struct wd_slice
wd_window_part(struct wd_window *window, uint64_t most)
{
	struct wd_slice part = { NULL, 0 };
	size_t have = window->len - window->at;

	if (most == 0 || !wd_window_promised(window, 1))
		return part;
	if (have == 0 && !fill(window))
		return part;
	have = window->len - window->at;
	part.data = window->bytes + window->at;
	part.len = most < have ? (size_t)most : have;
	window->at += part.len;
	return part;
}
