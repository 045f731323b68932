#include "server/http.h"

#include <string.h>

#include "base/limits.h"

static bool
refuse(struct wd_http_refusal *refusal, int status, const char *why)
{
	*refusal = (struct wd_http_refusal){ status, why };
	return false;
}

/* ---- bytes --------------------------------------------------------------- */

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static void
copy(char *out, struct wd_slice text)
{
	if (text.len > 0)
		memcpy(out, text.data, text.len);
	out[text.len] = '\0';
}

/* ---- request line -------------------------------------------------------- */

static bool
read_path(struct wd_slice target, struct wd_http_head *out,
    struct wd_http_refusal *refusal)
{
	const uint8_t *query;
	size_t i;

	if (target.len == 0 || target.data[0] != '/')
		return refuse(refusal, 400, "the target must be a path");
	for (i = 0; i < target.len; i++)
		if (target.data[i] <= ' ' || target.data[i] >= 0x7f)
			return refuse(
			    refusal, 400, "the path holds a strange byte");
	query = memchr(target.data, '?', target.len);
	out->has_query = query != NULL;
	if (query != NULL)
		target.len = (size_t)(query - target.data);
	if (target.len >= sizeof(out->path))
		return refuse(refusal, 414, "the path is too long");
	copy(out->path, target);
	return true;
}

static bool
read_request_line(struct wd_slice line, struct wd_http_head *out,
    struct wd_http_refusal *refusal)
{
	struct wd_slice method = { NULL, 0 }, target = { NULL, 0 };

	if (!wd_slice_cut(&line, ' ', &method) || !wd_http_is_token(method) ||
	    !wd_slice_cut(&line, ' ', &target))
		return refuse(refusal, 400, "no request line of HTTP/1.1");
	if (line.len != 8 || !wd_slice_starts(line, "HTTP/") ||
	    !is_digit(line.data[5]) || line.data[6] != '.' ||
	    !is_digit(line.data[7]))
		return refuse(refusal, 400, "no request line of HTTP/1.1");
	if (!wd_slice_equal(line, wd_slice_text("HTTP/1.1")))
		return refuse(refusal, 505, "only HTTP/1.1 is spoken here");
	out->method = WD_HTTP_OTHER;
	if (wd_slice_equal(method, wd_slice_text("GET")))
		out->method = WD_HTTP_GET;
	else if (wd_slice_equal(method, wd_slice_text("POST")))
		out->method = WD_HTTP_POST;
	return read_path(target, out, refusal);
}

/* ---- headers ------------------------------------------------------------- */

static const char *const kept_names[WD_HTTP_HEADER_COUNT] = {
	[WD_HTTP_CONTENT_TYPE] = "content-type",
	[WD_HTTP_CONTENT_ENCODING] = "content-encoding",
	[WD_HTTP_CONNECT_VERSION] = "connect-protocol-version",
	[WD_HTTP_CONNECT_TIMEOUT] = "connect-timeout-ms",
};

/* Headers that say how to read the request, seen so far. */
struct framing {
	bool has_host;
	bool has_length;
	bool has_coding;
};

static bool
read_length(struct wd_slice value, struct framing *seen,
    struct wd_http_head *out, struct wd_http_refusal *refusal)
{
	if (seen->has_length)
		return refuse(refusal, 400, "Content-Length stands twice");
	seen->has_length = true;
	/* "5, 5" and the like are no number either. */
	if (value.len > 19 || !wd_slice_number(value, 10, &out->content_length))
		return refuse(refusal, 400, "Content-Length is no number");
	return true;
}

static bool
read_coding(struct wd_slice value, struct framing *seen,
    struct wd_http_head *out, struct wd_http_refusal *refusal)
{
	if (seen->has_coding)
		return refuse(refusal, 400, "Transfer-Encoding stands twice");
	seen->has_coding = true;
	if (!wd_http_is(value, "chunked"))
		return refuse(
		    refusal, 501, "Transfer-Encoding may only be chunked");
	out->is_chunked = true;
	return true;
}

static bool
read_expect(struct wd_slice value, struct wd_http_head *out,
    struct wd_http_refusal *refusal)
{
	if (!wd_http_is(value, "100-continue"))
		return refuse(refusal, 417, "Expect may only be 100-continue");
	out->wants_continue = true;
	return true;
}

static bool
keep_value(size_t which, struct wd_slice value, struct wd_http_head *out,
    struct wd_http_refusal *refusal)
{
	if (out->has[which])
		return refuse(refusal, 400, "a header stands twice");
	if (value.len >= WD_HTTP_VALUE_BYTES)
		return refuse(refusal, 431, "a header is too long");
	out->has[which] = true;
	copy(out->value[which], value);
	return true;
}

static bool
read_header(struct wd_slice line, struct framing *seen,
    struct wd_http_head *out, struct wd_http_refusal *refusal)
{
	struct wd_slice name = { NULL, 0 }, value = { NULL, 0 };
	const char *why = NULL;
	size_t i;

	if (!wd_http_split(line, &name, &value, &why))
		return refuse(refusal, 400, why);
	if (wd_http_is(name, "content-length"))
		return read_length(value, seen, out, refusal);
	if (wd_http_is(name, "transfer-encoding"))
		return read_coding(value, seen, out, refusal);
	if (wd_http_is(name, "expect"))
		return read_expect(value, out, refusal);
	if (wd_http_is(name, "connection") && wd_http_lists(value, "close"))
		out->keep_alive = false;
	if (wd_http_is(name, "host")) {
		if (seen->has_host)
			return refuse(refusal, 400, "Host stands twice");
		seen->has_host = true;
	}
	for (i = 0; i < WD_HTTP_HEADER_COUNT; i++)
		if (wd_http_is(name, kept_names[i]))
			return keep_value(i, value, out, refusal);
	return true;
}

static bool
check_framing(const struct framing *seen, const struct wd_http_head *out,
    struct wd_http_refusal *refusal)
{
	if (!seen->has_host)
		return refuse(refusal, 400, "there is no Host");
	if (seen->has_length && seen->has_coding)
		return refuse(
		    refusal, 400, "both Content-Length and Transfer-Encoding");
	if (out->content_length > WD_MAX_REQUEST_BODY)
		return refuse(refusal, 413, "the body is too large");
	return true;
}

bool
wd_http_read_head(struct wd_slice head, struct wd_http_head *out,
    struct wd_http_refusal *refusal)
{
	struct framing seen = { false, false, false };
	struct wd_slice line = { NULL, 0 };

	memset(out, 0, sizeof(*out));
	out->keep_alive = true;
	if (!wd_http_take_line(&head, &line))
		return refuse(refusal, 400, "a line without CR LF");
	if (!read_request_line(line, out, refusal))
		return false;
	for (;;) {
		if (!wd_http_take_line(&head, &line))
			return refuse(refusal, 400, "a line without CR LF");
		if (line.len == 0)
			break;
		if (!read_header(line, &seen, out, refusal))
			return false;
	}
	return check_framing(&seen, out, refusal);
}

const char *
wd_http_value(const struct wd_http_head *head, enum wd_http_header header)
{
	return head->has[header] ? head->value[header] : NULL;
}

/* ---- answers ------------------------------------------------------------- */

const char *
wd_http_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
		{ 100, "Continue" },
		{ 200, "OK" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 408, "Request Timeout" },
		{ 409, "Conflict" },
		{ 413, "Content Too Large" },
		{ 414, "URI Too Long" },
		{ 415, "Unsupported Media Type" },
		{ 417, "Expectation Failed" },
		{ 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" },
		{ 499, "Client Closed Request" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
		{ 505, "HTTP Version Not Supported" },
	};
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Unknown";
}
