/*
 * http.h - the bytes of an HTTP/1.1 request, as far as this server wants them
 * (RFC 9110, RFC 9112). Pure: no connection, no allocation of its own.
 *
 * Stricter than the RFC allows a server to be, wherever two readers of the
 * same bytes could see two different requests: a line ends with CR LF; no
 * header is folded; nothing stands between name and colon; a header that
 * frames the body or that we read stands once; a body has a length or chunks,
 * never both; HTTP/1.1 and nothing else. Each refusal has its status and says
 * why.
 */
#ifndef WD_SERVER_HTTP_H
#define WD_SERVER_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "wire/http.h"

enum wd_http_method { WD_HTTP_GET, WD_HTTP_POST, WD_HTTP_OTHER };

/* Headers that are read; each a string, "" and has_* false when not there. */
enum wd_http_header {
	WD_HTTP_CONTENT_TYPE,
	WD_HTTP_CONTENT_ENCODING,
	WD_HTTP_CONNECT_VERSION,
	WD_HTTP_CONNECT_TIMEOUT,
	WD_HTTP_HEADER_COUNT,
};

#define WD_HTTP_VALUE_BYTES 128
#define WD_HTTP_PATH_BYTES 128

struct wd_http_head {
	enum wd_http_method method;
	char path[WD_HTTP_PATH_BYTES]; /* without a query */
	bool has_query;
	bool is_chunked;
	uint64_t content_length; /* 0 when there is none */
	bool keep_alive;
	bool wants_continue; /* Expect: 100-continue */
	bool has[WD_HTTP_HEADER_COUNT];
	char value[WD_HTTP_HEADER_COUNT][WD_HTTP_VALUE_BYTES];
};

/* Reads a head: everything up to and with the empty line. False, and
 * `*refusal` filled: 400 for what breaks the rules above, 413 for a body
 * beyond WD_MAX_REQUEST_BODY, 414 for a path and 431 for a header that is too
 * long, 417 for another expectation, 501 for another transfer coding, 505 for
 * another version. */
bool wd_http_read_head(struct wd_slice head, struct wd_http_head *out,
    struct wd_http_refusal *refusal) WD_MUST_CHECK;

/* A value that was sent, or NULL. */
const char *wd_http_value(
    const struct wd_http_head *head, enum wd_http_header header);

/* The words of a status line: "Not Found". Never NULL. */
const char *wd_http_reason(int status);

#endif
