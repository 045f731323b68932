/* client/api/response.h: answers, byte by byte, right and wrong. */
#include "api/response.h"

#include <string.h>

#include "base/limits.h"
#include "support/suite.h"

#define OK "HTTP/1.1 200 OK\r\n"
#define MAX_BODY 64

static const struct {
	const char *text;
	const char *body; /* NULL: refused; "...": more is wanted */
} cases[] = {
	{ OK "Content-Length: 3\r\n\r\nabc", "abc" },
	{ OK "content-length:0\r\n\r\n", "" },
	{ OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc" },
	{ OK "Transfer-Encoding: Chunked\r\n\r\n1;x=y\r\na\r\n2\r\nbc\r\n"
	     "0\r\nTrailer: x\r\n\r\n",
	    "abc" },
	{ "HTTP/1.1 404 \r\nContent-Length: 1\r\n\r\nx", "x" },
	{ "HTTP/1.1 204 No Content\r\n\r\n", "" },
	{ "HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 1\r\n\r\nx",
	    "x" },
	{ OK "Content-Encoding: identity\r\nContent-Length: 1\r\n\r\nx", "x" },
	{ OK "Content-Length: 3\r\n\r\nab", "..." },
	{ OK "Content-Length: 3\r\n", "..." },
	{ "HTTP", "..." },
	{ OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", "..." },
	{ "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ "HTTP/1.1  200 OK\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ "HTTP/1.1 2000 OK\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ "HTTP/1.1 099 OK\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ "HTTP/1.1 600 OK\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ "HTTP/1.1 -20 OK\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ "HTTP/1.1 101 Switching\r\n\r\n", NULL },
	{ "SSH-2.0-OpenSSH_9.2\r\n", NULL },
	{ "<html>", NULL },
	{ "\r\n" OK "Content-Length: 1\r\n\r\nx", NULL },
	{ "HTTP/1.1 200 OK\nContent-Length: 1\n\nx\r\n\r\n", NULL },
	{ OK "\r\n", NULL },
	{ OK "Connection: close\r\n\r\nabc", NULL },
	{ OK "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ OK "Content-Length: 1, 1\r\n\r\nx", NULL },
	{ OK "Content-Length: -1\r\n\r\nx", NULL },
	{ OK "Content-Length: 0x1\r\n\r\nx", NULL },
	{ OK "Content-Length:\r\n\r\n", NULL },
	{ OK "Content-Length: 65\r\n\r\n", NULL },
	{ OK "Content-Length: 18446744073709551617\r\n\r\n", NULL },
	{ OK "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", NULL },
	{ OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
	    NULL },
	{ OK "Transfer-Encoding: gzip, chunked\r\n\r\n", NULL },
	{ OK "Transfer-Encoding: chunked\r\n\r\n41\r\n", NULL },
	{ OK "Transfer-Encoding: chunked\r\n\r\nx\r\n", NULL },
	{ OK "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", NULL },
	{ OK "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ OK "Content-Type: a\r\nContent-Type: b\r\nContent-Length: 1\r\n\r\nx",
	    NULL },
	{ OK " folded\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ OK "X : y\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ OK "no colon\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ OK "X: a\x01\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ OK "X: a\nb\r\nContent-Length: 1\r\n\r\nx", NULL },
	{ "HTTP/1.1 204 No\r\nContent-Length: 1\r\n\r\nx", NULL },
};

static enum wd_http_progress
feed(struct wd_response *response, const char *text, size_t step, size_t *taken)
{
	struct wd_slice all = wd_slice_text(text);
	enum wd_http_progress progress = WD_HTTP_MORE;
	const char *why = NULL;
	size_t used = 0;

	*taken = 0;
	while (progress == WD_HTTP_MORE && *taken < all.len) {
		struct wd_slice part = { all.data + *taken, all.len - *taken };

		if (part.len > step)
			part.len = step;
		progress = wd_response_take(response, part, &used, &why);
		*taken += used;
	}
	ck_assert((progress == WD_HTTP_REFUSED) == (why != NULL));
	return progress;
}

START_TEST(answers_are_read_strictly)
{
	static const size_t steps[] = { 1, 2, 7, 100000 };
	struct wd_response response;
	enum wd_http_progress progress;
	const char *body = cases[_i].body;
	size_t i, taken;

	for (i = 0; i < WD_COUNT(steps); i++) {
		wd_response_init(&response, MAX_BODY);
		progress = feed(&response, cases[_i].text, steps[i], &taken);
		if (body == NULL) {
			ck_assert_msg(
			    progress == WD_HTTP_REFUSED, "%s", cases[_i].text);
		} else if (strcmp(body, "...") == 0) {
			ck_assert_int_eq(progress, WD_HTTP_MORE);
		} else {
			ck_assert_msg(
			    progress == WD_HTTP_DONE, "%s", cases[_i].text);
			ck_assert_str_eq(wd_buf_string(&response.body), body);
			ck_assert_uint_eq(taken, strlen(cases[_i].text));
		}
		wd_response_release(&response);
	}
}
END_TEST

START_TEST(what_follows_is_left)
{
	struct wd_response response;
	size_t taken;

	wd_response_init(&response, MAX_BODY);
	ck_assert(!wd_response_has_begun(&response));
	ck_assert_int_eq(
	    feed(&response, OK "Content-Length: 1\r\n\r\nxHTTP/1.1", 1000,
		&taken),
	    WD_HTTP_DONE);
	ck_assert_uint_eq(taken, strlen(OK "Content-Length: 1\r\n\r\nx"));
	ck_assert(wd_response_has_begun(&response));
	wd_response_release(&response);
}
END_TEST

START_TEST(headers_are_kept)
{
	struct wd_response response;
	size_t taken;

	wd_response_init(&response, MAX_BODY);
	ck_assert_int_eq(feed(&response,
			     "HTTP/1.1 429 Too Many\r\nContent-Type: "
			     "Application/JSON; charset=utf-8\r\nRetry-After: "
			     "17\r\nConnection: keep-alive, Close\r\n"
			     "Content-Length: 0\r\n\r\n",
			     1, &taken),
	    WD_HTTP_DONE);
	ck_assert_int_eq(response.status, 429);
	ck_assert_int_eq(response.type, WD_RESPONSE_JSON);
	ck_assert_uint_eq(response.retry_after_s, 17);
	ck_assert(!response.keep_alive);
	wd_response_release(&response);
	wd_response_init(&response, MAX_BODY);
	ck_assert_int_eq(feed(&response,
			     OK "Content-Type: application/proto\r\n"
				"Content-Length: 0\r\n\r\n",
			     1, &taken),
	    WD_HTTP_DONE);
	ck_assert_int_eq(response.type, WD_RESPONSE_PROTO);
	ck_assert(response.keep_alive);
	wd_response_release(&response);
}
END_TEST

START_TEST(heads_have_an_end)
{
	struct wd_response response;
	enum wd_http_progress progress;
	size_t taken, i;

	wd_response_init(&response, MAX_BODY);
	ck_assert_int_eq(feed(&response, OK "X: ", 1000, &taken), WD_HTTP_MORE);
	progress = WD_HTTP_MORE;
	for (i = 0; i < 2 * WD_MAX_ANSWER_HEAD && progress == WD_HTTP_MORE; i++)
		progress = feed(&response, "x", 1, &taken);
	ck_assert_int_eq(progress, WD_HTTP_REFUSED);
	ck_assert_uint_le(i, WD_MAX_ANSWER_HEAD);
	wd_response_release(&response);
	wd_response_init(&response, MAX_BODY);
	progress = WD_HTTP_MORE;
	for (i = 0; i < 100 && progress == WD_HTTP_MORE; i++)
		progress = feed(
		    &response, "HTTP/1.1 100 Continue\r\n\r\n", 100, &taken);
	ck_assert_int_eq(progress, WD_HTTP_REFUSED);
	wd_response_release(&response);
}
END_TEST

WD_SUITE_BEGIN("client response")
WD_LOOP(answers_are_read_strictly, cases);
WD_TEST(what_follows_is_left);
WD_TEST(headers_are_kept);
WD_TEST(heads_have_an_end);
WD_SUITE_END
