/* server/http.h: heads and chunks, byte by byte; what a whole connection makes
 * of them is tests/integration/server's. */
#include "server/http.h"

#include <string.h>

#include "base/limits.h"
#include "support/suite.h"

#define HOST "Host: x\r\n"

static const struct {
	const char *head;
	int status; /* 0: good */
} heads[] = {
	{ "GET / HTTP/1.1\r\n" HOST "\r\n", 0 },
	{ "PUT /a/b?c=d HTTP/1.1\r\n" HOST "\r\n", 0 },
	{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 65536\r\n\r\n", 0 },
	{ "POST / HTTP/1.1\r\n" HOST "transfer-encoding:\tChunked \r\n\r\n",
	    0 },
	{ "GET / HTTP/1.1\r\n" HOST "X: \xc3\xbc\r\nX: y\r\nEmpty:\r\n\r\n",
	    0 },
	{ "GET  / HTTP/1.1\r\n" HOST "\r\n", 400 },
	{ "GET / HTTP/1.1 \r\n" HOST "\r\n", 400 },
	{ "G(T / HTTP/1.1\r\n" HOST "\r\n", 400 },
	{ " GET / HTTP/1.1\r\n" HOST "\r\n", 400 },
	{ "\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 400 },
	{ "GET * HTTP/1.1\r\n" HOST "\r\n", 400 },
	{ "GET /\xc3\xbc HTTP/1.1\r\n" HOST "\r\n", 400 },
	{ "GET / HTTP/1.x\r\n" HOST "\r\n", 400 },
	{ "GET / http/1.1\r\n" HOST "\r\n", 400 },
	{ "GET / HTTP/1.0\r\n" HOST "\r\n", 505 },
	{ "GET / HTTP/1.1\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST "\tfolded\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST "X : y\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST ": y\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST "X: a\x01\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST "X: a\x7f\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST "X: a\nY: b\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n" HOST
	  "Content-Type: a\r\ncontent-type: a\r\n\r\n",
	    400 },
	{ "P / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n"
	  "\r\n",
	    400 },
	{ "P / HTTP/1.1\r\n" HOST "Content-Length: 0x1\r\n\r\n", 400 },
	{ "P / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", 400 },
	{ "P / HTTP/1.1\r\n" HOST "Content-Length: 1,1\r\n\r\n", 400 },
	{ "P / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", 400 },
	{ "P / HTTP/1.1\r\n" HOST "Content-Length: 65537\r\n\r\n", 413 },
	{ "P / HTTP/1.1\r\n" HOST
	  "Content-Length: 18446744073709551617\r\n\r\n",
	    400 },
	{ "P / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nTransfer-Encoding: "
	  "chunked\r\n\r\n",
	    400 },
	{ "P / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
	  "Transfer-Encoding: chunked\r\n\r\n",
	    400 },
	{ "P / HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n", 501 },
	{ "P / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n",
	    501 },
	{ "P / HTTP/1.1\r\n" HOST "Expect: other\r\n\r\n", 417 },
};

START_TEST(heads_are_read_strictly)
{
	struct wd_http_refusal refusal = { 0, "" };
	struct wd_http_head head;
	bool good =
	    wd_http_read_head(wd_slice_text(heads[_i].head), &head, &refusal);

	ck_assert_msg(good == (heads[_i].status == 0) &&
		refusal.status == heads[_i].status,
	    "%s: %d %s", heads[_i].head, refusal.status, refusal.why);
}
END_TEST

START_TEST(a_head_says_what_it_says)
{
	struct wd_http_refusal refusal;
	struct wd_http_head head;

	ck_assert(wd_http_read_head(
	    wd_slice_text("POST /a/b?c HTTP/1.1\r\n" HOST
			  "Connection: x, Close\r\nExpect: 100-Continue\r\n"
			  "Content-Length: 7\r\nCONTENT-TYPE:  a/b \r\n\r\n"),
	    &head, &refusal));
	ck_assert_int_eq(head.method, WD_HTTP_POST);
	ck_assert_str_eq(head.path, "/a/b");
	ck_assert(head.has_query && !head.keep_alive && head.wants_continue);
	ck_assert(!head.is_chunked);
	ck_assert_uint_eq(head.content_length, 7);
	ck_assert_str_eq(wd_http_value(&head, WD_HTTP_CONTENT_TYPE), "a/b");
	ck_assert_ptr_null(wd_http_value(&head, WD_HTTP_CONNECT_TIMEOUT));
}
END_TEST

static const struct {
	const char *bytes, *body; /* NULL: refused */
	int status;
} chunked[] = {
	{ "0\r\n\r\n", "", 0 },
	{ "3\r\nabc\r\n0\r\n\r\n", "abc", 0 },
	{ "1\r\na\r\n2;x=\"y\"\r\nbc\r\n000\r\nT: x\r\nU: y\r\n\r\n", "abc",
	    0 },
	{ "A \r\n0123456789\r\n0\r\n\r\n", "0123456789", 0 },
	{ "8\r\nabcdefgh\r\n3\r\n", NULL, 413 },
	{ "b\r\n", NULL, 413 },
	{ "ffffffffffffffff\r\n", NULL, 413 },
	{ "10000000000000000\r\n", NULL, 400 },
	{ "00000000000000001\r\n", NULL, 400 },
	{ "\r\n", NULL, 400 },
	{ ";x\r\n", NULL, 400 },
	{ "-1\r\n", NULL, 400 },
	{ "0x1\r\n", NULL, 400 },
	{ " 1\r\n", NULL, 400 },
	{ "1\na", NULL, 400 },
	{ "1\r\r\n", NULL, 400 },
	{ "1\r\nab\r\n", NULL, 400 },
	{ "1\r\na\n0\r\n\r\n", NULL, 400 },
	{ "1;\x01\r\n", NULL, 400 },
	{ "0\r\nT: x\n\r\n", NULL, 400 },
};

/* All at once, and one byte at a time: the same. */
START_TEST(chunks_are_put_together)
{
	struct wd_slice all = wd_slice_text(chunked[_i].bytes);
	size_t step, at, used;

	for (step = all.len; step > 0; step = step > 1 ? 1 : 0) {
		struct wd_http_chunks chunks = { .state = WD_CHUNK_LINE };
		struct wd_http_refusal refusal = { 0, "" };
		enum wd_http_progress progress = WD_HTTP_MORE;
		struct wd_buf body;

		wd_buf_init(&body, 10);
		for (at = 0; at < all.len && progress == WD_HTTP_MORE;
		     at += used)
			progress = wd_http_take_chunks(&chunks,
			    (struct wd_slice){ all.data + at, step }, &used,
			    &body, &refusal);
		ck_assert_int_eq(refusal.status, chunked[_i].status);
		ck_assert_int_eq(progress,
		    chunked[_i].body != NULL ? WD_HTTP_DONE : WD_HTTP_REFUSED);
		if (chunked[_i].body != NULL)
			ck_assert_str_eq(
			    wd_buf_string(&body), chunked[_i].body);
		wd_buf_release(&body);
	}
}
END_TEST

START_TEST(lines_of_chunks_are_bounded)
{
	static const char *const starts[] = { "1;", "0\r\n" };
	uint8_t more[64];
	size_t i, used, sent;

	memset(more, 'e', sizeof(more));
	for (i = 0; i < 2; i++) {
		struct wd_http_chunks chunks = { .state = WD_CHUNK_LINE };
		enum wd_http_progress progress;
		struct wd_http_refusal refusal;
		struct wd_buf body;

		wd_buf_init(&body, 10);
		progress = wd_http_take_chunks(
		    &chunks, wd_slice_text(starts[i]), &used, &body, &refusal);
		for (sent = 0; progress == WD_HTTP_MORE; sent += used)
			progress = wd_http_take_chunks(&chunks,
			    (struct wd_slice){ more, sizeof(more) }, &used,
			    &body, &refusal);
		ck_assert_int_eq(progress, WD_HTTP_REFUSED);
		ck_assert_uint_le(
		    sent, i == 0 ? WD_MAX_CHUNK_LINE : WD_MAX_REQUEST_HEAD + 1);
		wd_buf_release(&body);
	}
}
END_TEST

WD_SUITE_BEGIN("server http")
WD_LOOP(heads_are_read_strictly, heads);
WD_TEST(a_head_says_what_it_says);
WD_LOOP(chunks_are_put_together, chunked);
WD_TEST(lines_of_chunks_are_bounded);
WD_SUITE_END
