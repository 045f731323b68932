#include "api/response.h"

#include <string.h>

#include "base/limits.h"

#define MOST_INTERIM 8 /* responses of 1xx before the real one */

/* What frames the body, while a head is read. */
struct framing {
	bool has_length;
	bool has_coding;
	bool has_type;
	uint64_t length;
};

void
wd_response_init(struct wd_response *response, size_t max_body)
{
	*response = (struct wd_response){ .state = WD_RESPONSE_HEAD };
	wd_buf_init(&response->head, WD_MAX_ANSWER_HEAD);
	wd_buf_init(&response->body, max_body);
}

void
wd_response_release(struct wd_response *response)
{
	wd_buf_release(&response->head);
	wd_buf_release(&response->body);
}

bool
wd_response_has_begun(const struct wd_response *response)
{
	return response->head.len > 0 || response->interim > 0 ||
	    response->state != WD_RESPONSE_HEAD;
}

/* ---- head ---------------------------------------------------------------- */

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* "HTTP/1.1 200 OK"; the words may be missing, the blank before them not. */
static bool
read_status(struct wd_slice line, struct wd_response *response)
{
	const uint8_t *at = line.data;

	if (line.len < 13 || !wd_slice_starts(line, "HTTP/1.1 ") ||
	    !is_digit(at[9]) || !is_digit(at[10]) || !is_digit(at[11]) ||
	    at[12] != ' ')
		return false;
	response->status =
	    (at[9] - '0') * 100 + (at[10] - '0') * 10 + (at[11] - '0');
	return response->status >= 100 && response->status < 600;
}

static const char *
read_length(struct wd_slice value, struct framing *framing)
{
	if (framing->has_length)
		return "Content-Length stands twice";
	framing->has_length = true;
	if (value.len > 19 || !wd_slice_number(value, 10, &framing->length))
		return "Content-Length is no number";
	return NULL;
}

static const char *
read_coding(struct wd_slice value, struct framing *framing)
{
	if (framing->has_coding)
		return "Transfer-Encoding stands twice";
	framing->has_coding = true;
	return wd_http_is(value, "chunked") ?
	    NULL :
	    "Transfer-Encoding is not chunked";
}

static const char *
read_type(struct wd_slice value, struct framing *framing,
    struct wd_response *response)
{
	struct wd_slice kind = { NULL, 0 };

	if (framing->has_type)
		return "Content-Type stands twice";
	framing->has_type = true;
	if (!wd_slice_cut(&value, ';', &kind))
		return NULL;
	kind = wd_http_trim(kind);
	if (wd_http_is(kind, "application/proto"))
		response->type = WD_RESPONSE_PROTO;
	if (wd_http_is(kind, "application/json"))
		response->type = WD_RESPONSE_JSON;
	return NULL;
}

static void
read_retry(struct wd_slice value, struct wd_response *response)
{
	uint64_t seconds;

	if (wd_slice_number(value, 10, &seconds) && seconds <= 86400)
		response->retry_after_s = (uint32_t)seconds;
}

/* Returns what is wrong, or NULL. */
static const char *
read_header(
    struct wd_slice line, struct framing *framing, struct wd_response *response)
{
	struct wd_slice name = { NULL, 0 }, value = { NULL, 0 };
	const char *why = NULL;

	if (!wd_http_split(line, &name, &value, &why))
		return why;
	if (wd_http_is(name, "content-length"))
		return read_length(value, framing);
	if (wd_http_is(name, "transfer-encoding"))
		return read_coding(value, framing);
	if (wd_http_is(name, "content-type"))
		return read_type(value, framing, response);
	if (wd_http_is(name, "content-encoding") &&
	    !wd_http_is(value, "identity"))
		return "the body is compressed, which was not asked for";
	if (wd_http_is(name, "connection") && wd_http_lists(value, "close"))
		response->keep_alive = false;
	if (wd_http_is(name, "retry-after"))
		read_retry(value, response);
	return NULL;
}

static const char *
begin_body(const struct framing *framing, struct wd_response *response)
{
	if (framing->has_length && framing->has_coding)
		return "both Content-Length and Transfer-Encoding";
	if (response->status == 204 || response->status == 304) {
		response->state = WD_RESPONSE_DONE;
		return framing->has_coding || framing->length > 0 ?
		    "a body where there is none" :
		    NULL;
	}
	if (!framing->has_length && !framing->has_coding)
		return "a body without a length";
	if (framing->length > response->body.max)
		return "the body is too large";
	response->left = framing->length;
	response->chunks = (struct wd_http_chunks){ .state = WD_CHUNK_LINE };
	if (framing->has_coding)
		response->state = WD_RESPONSE_CHUNKS;
	else
		response->state =
		    framing->length > 0 ? WD_RESPONSE_LENGTH : WD_RESPONSE_DONE;
	return NULL;
}

/* 100 Continue and its like: the real one follows. */
static const char *
pass_over(struct wd_response *response)
{
	if (response->status == 101)
		return "another protocol, which was not asked for";
	if (++response->interim > MOST_INTERIM)
		return "too many interim responses";
	wd_buf_reset(&response->head);
	return NULL;
}

static const char *
read_head(struct wd_response *response)
{
	struct framing framing = { .has_length = false };
	struct wd_slice rest = wd_buf_slice(&response->head);
	struct wd_slice line = { NULL, 0 };
	const char *why;

	response->keep_alive = true;
	response->type = WD_RESPONSE_OTHER;
	response->retry_after_s = 0;
	if (!wd_http_take_line(&rest, &line) || !read_status(line, response))
		return "no status line of HTTP/1.1";
	for (;;) {
		if (!wd_http_take_line(&rest, &line))
			return "a header with a strange byte";
		if (line.len == 0)
			break;
		why = read_header(line, &framing, response);
		if (why != NULL)
			return why;
	}
	return response->status < 200 ? pass_over(response) :
					begin_body(&framing, response);
}

/* ---- bytes --------------------------------------------------------------- */

static bool
ends_head(const struct wd_buf *head)
{
	return head->len >= 4 &&
	    memcmp(head->data + head->len - 4, "\r\n\r\n", 4) == 0;
}

/* Up to the end of the head. What cannot begin one is refused at once, so that
 * a server of another protocol is not waited for. */
static const char *
take_head(struct wd_response *response, struct wd_slice in, size_t *used)
{
	static const char begin[] = "HTTP/1.1 ";
	struct wd_buf *head = &response->head;

	while (*used < in.len) {
		uint8_t byte = in.data[(*used)++];

		if (head->len < sizeof(begin) - 1 &&
		    byte != (uint8_t)begin[head->len])
			return "no status line of HTTP/1.1";
		if (wd_buf_byte(head, byte) != WD_OK)
			return "the head is too large";
		if (ends_head(head))
			return read_head(response);
	}
	return NULL;
}

static const char *
take_length(struct wd_response *response, struct wd_slice in, size_t *used)
{
	size_t len = in.len - *used;

	if (len > response->left)
		len = (size_t)response->left;
	if (wd_buf_append(&response->body, in.data + *used, len) != WD_OK)
		return "no memory for the body";
	*used += len;
	response->left -= len;
	if (response->left == 0)
		response->state = WD_RESPONSE_DONE;
	return NULL;
}

static const char *
take_chunks(struct wd_response *response, struct wd_slice in, size_t *used)
{
	struct wd_slice rest = { in.data + *used, in.len - *used };
	struct wd_http_refusal refusal = { 0, NULL };
	size_t taken = 0;
	enum wd_http_progress progress = wd_http_take_chunks(
	    &response->chunks, rest, &taken, &response->body, &refusal);

	*used += taken;
	if (progress == WD_HTTP_DONE)
		response->state = WD_RESPONSE_DONE;
	if (response->body.status != WD_OK)
		return "no memory for the body";
	return progress == WD_HTTP_REFUSED ? refusal.why : NULL;
}

enum wd_http_progress
wd_response_take(struct wd_response *response, struct wd_slice in, size_t *used,
    const char **why)
{
	*used = 0;
	*why = NULL;
	while (*used < in.len && response->state != WD_RESPONSE_DONE &&
	    *why == NULL) {
		if (response->state == WD_RESPONSE_HEAD)
			*why = take_head(response, in, used);
		else if (response->state == WD_RESPONSE_LENGTH)
			*why = take_length(response, in, used);
		else
			*why = take_chunks(response, in, used);
	}
	if (*why != NULL)
		return WD_HTTP_REFUSED;
	return response->state == WD_RESPONSE_DONE ? WD_HTTP_DONE :
						     WD_HTTP_MORE;
}
