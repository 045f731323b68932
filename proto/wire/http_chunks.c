#include "base/limits.h"
#include "wire/http.h"

static enum wd_http_progress
refuse(struct wd_http_refusal *refusal, int status, const char *why)
{
	*refusal = (struct wd_http_refusal){ status, why };
	return WD_HTTP_REFUSED;
}

/* The size in front of extensions: 1 to 16 hexadecimal digits. */
static bool
read_size(const struct wd_http_chunks *chunks, uint64_t *size)
{
	struct wd_slice line = { (const uint8_t *)chunks->line,
		chunks->line_len < sizeof(chunks->line) ?
		    chunks->line_len :
		    sizeof(chunks->line) };
	struct wd_slice digits = { NULL, 0 };

	if (!wd_slice_cut(&line, ';', &digits))
		return false;
	while (digits.len > 0 &&
	    (digits.data[digits.len - 1] == ' ' ||
		digits.data[digits.len - 1] == '\t'))
		digits.len--;
	return digits.len <= 16 && wd_slice_number(digits, 16, size);
}

static enum wd_http_progress
end_line(struct wd_http_chunks *chunks, const struct wd_buf *body,
    struct wd_http_refusal *refusal)
{
	if (!read_size(chunks, &chunks->left))
		return refuse(refusal, 400, "a chunk has no size");
	if (chunks->left > body->max - body->len)
		return refuse(refusal, 413, "the body is too large");
	chunks->line_len = 0;
	chunks->state = chunks->left == 0 ? WD_CHUNK_TRAILER : WD_CHUNK_DATA;
	return WD_HTTP_MORE;
}

/* One byte of a line; `*ended` when it was the LF behind a CR. */
static bool
take_line_byte(struct wd_http_chunks *chunks, uint8_t c, bool *ended)
{
	bool after_cr = chunks->last == '\r';

	chunks->last = c;
	*ended = after_cr && c == '\n';
	if (after_cr || c == '\r')
		return *ended || (!after_cr && c == '\r');
	if ((c < 0x20 && c != '\t') || c == 0x7f)
		return false;
	if (chunks->line_len < sizeof(chunks->line))
		chunks->line[chunks->line_len] = (char)c;
	chunks->line_len++;
	return true;
}

static enum wd_http_progress
take_size_byte(struct wd_http_chunks *chunks, uint8_t c,
    const struct wd_buf *body, struct wd_http_refusal *refusal)
{
	bool ended;

	if (!take_line_byte(chunks, c, &ended) ||
	    chunks->line_len > WD_MAX_CHUNK_LINE)
		return refuse(refusal, 400, "a chunk has no proper line");
	return ended ? end_line(chunks, body, refusal) : WD_HTTP_MORE;
}

static enum wd_http_progress
take_trailer_byte(
    struct wd_http_chunks *chunks, uint8_t c, struct wd_http_refusal *refusal)
{
	bool ended, is_empty;

	if (!take_line_byte(chunks, c, &ended) ||
	    ++chunks->trailers > WD_MAX_REQUEST_HEAD)
		return refuse(refusal, 400, "no proper trailer");
	if (!ended)
		return WD_HTTP_MORE;
	is_empty = chunks->line_len == 0;
	chunks->line_len = 0;
	return is_empty ? WD_HTTP_DONE : WD_HTTP_MORE;
}

static enum wd_http_progress
take_end_byte(
    struct wd_http_chunks *chunks, uint8_t c, struct wd_http_refusal *refusal)
{
	bool ended;

	if (!take_line_byte(chunks, c, &ended) || chunks->line_len > 0)
		return refuse(refusal, 400, "a chunk is longer than its size");
	if (ended)
		chunks->state = WD_CHUNK_LINE;
	return WD_HTTP_MORE;
}

static size_t
take_data(
    struct wd_http_chunks *chunks, struct wd_slice in, struct wd_buf *body)
{
	size_t len = in.len < chunks->left ? in.len : (size_t)chunks->left;

	(void)wd_buf_append(body, in.data, len);
	chunks->left -= len;
	if (chunks->left == 0)
		chunks->state = WD_CHUNK_END;
	return len;
}

static enum wd_http_progress
take_byte(struct wd_http_chunks *chunks, uint8_t c, const struct wd_buf *body,
    struct wd_http_refusal *refusal)
{
	if (chunks->state == WD_CHUNK_LINE)
		return take_size_byte(chunks, c, body, refusal);
	if (chunks->state == WD_CHUNK_END)
		return take_end_byte(chunks, c, refusal);
	return take_trailer_byte(chunks, c, refusal);
}

enum wd_http_progress
wd_http_take_chunks(struct wd_http_chunks *chunks, struct wd_slice in,
    size_t *used, struct wd_buf *body, struct wd_http_refusal *refusal)
{
	enum wd_http_progress progress = WD_HTTP_MORE;

	*used = 0;
	while (progress == WD_HTTP_MORE && *used < in.len) {
		struct wd_slice rest = { in.data + *used, in.len - *used };

		if (chunks->state == WD_CHUNK_DATA) {
			*used += take_data(chunks, rest, body);
			continue;
		}
		progress = take_byte(chunks, rest.data[0], body, refusal);
		(*used)++;
	}
	return progress;
}
