/*
 * http.h - the bytes that requests and responses of HTTP/1.1 have in common:
 * lines, headers, chunks (RFC 9110, RFC 9112). Pure.
 *
 * Stricter than the RFC allows, wherever two readers of the same bytes could
 * see two different messages: a line ends with CR LF, no header is folded,
 * nothing stands between name and colon.
 */
#ifndef WD_WIRE_HTTP_H
#define WD_WIRE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* A refusal; `why` is static. */
struct wd_http_refusal {
	int status;
	const char *why;
};

/* The next line without its CR LF. False when there is no whole one, or when
 * it holds a control character: none but a tab in a value has a place in a
 * head, and a lone CR or LF least of all. */
bool wd_http_take_line(
    struct wd_slice *rest, struct wd_slice *line) WD_MUST_CHECK;

/* Whether every byte is one of a token (RFC 9110, 5.6.2), and there is one. */
bool wd_http_is_token(struct wd_slice text);

/* Whether the text is `word`, in whatever case. */
bool wd_http_is(struct wd_slice text, const char *word);

/* Without blanks and tabs at both ends. */
struct wd_slice wd_http_trim(struct wd_slice text);

/* Whether `word` is among the values between commas. */
bool wd_http_lists(struct wd_slice value, const char *word);

/* Cuts a line into name and trimmed value. False, and `*why` set, when the
 * header is folded or has no proper name. */
bool wd_http_split(struct wd_slice line, struct wd_slice *name,
    struct wd_slice *value, const char **why) WD_MUST_CHECK;

enum wd_http_progress { WD_HTTP_MORE, WD_HTTP_DONE, WD_HTTP_REFUSED };

/* A chunked body (RFC 9112, 7.1) that is being put together. */
struct wd_http_chunks {
	enum {
		WD_CHUNK_LINE,
		WD_CHUNK_DATA,
		WD_CHUNK_END,     /* CR LF behind the data */
		WD_CHUNK_TRAILER, /* lines that are passed over */
	} state;
	char line[64];
	size_t line_len; /* bytes of the line so far, also beyond `line` */
	size_t trailers; /* bytes of all of them */
	uint64_t left;   /* of the data */
	uint8_t last;    /* byte before this one, for CR LF */
};

/* Takes bytes from the front of `in`; `*used` says how many, also when it is
 * DONE. Data goes to `body`. Refuses with 400, or 413 when the body's buffer
 * is full. */
enum wd_http_progress wd_http_take_chunks(struct wd_http_chunks *chunks,
    struct wd_slice in, size_t *used, struct wd_buf *body,
    struct wd_http_refusal *refusal) WD_MUST_CHECK;

#endif
