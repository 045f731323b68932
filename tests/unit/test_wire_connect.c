/* wire/connect.h: headers, codes and error JSON of the Connect protocol. */
#include "wire/connect.h"

#include <stdio.h>
#include <string.h>

#include "support/suite.h"

#define PROTO "application/proto"
#define JSON "application/json"

/* Content-Type, Content-Encoding, version, timeout. */
static const struct {
	struct wd_connect_headers headers;
	enum wd_connect_codec codec;
	bool has_timeout;
	int64_t timeout_ms;
} good[] = {
	{ { PROTO, NULL, NULL, NULL }, WD_CONNECT_PROTO, false, 0 },
	{ { JSON, NULL, NULL, NULL }, WD_CONNECT_JSON, false, 0 },
	{ { "Application/JSON", NULL, "1", NULL }, WD_CONNECT_JSON, false, 0 },
	{ { JSON "; charset=utf-8", NULL, "1", NULL }, WD_CONNECT_JSON, false,
	    0 },
	{ { JSON ";charset=\"UTF-8\" ", NULL, "1", NULL }, WD_CONNECT_JSON,
	    false, 0 },
	{ { PROTO, "identity", "1", "1" }, WD_CONNECT_PROTO, true, 1 },
	{ { PROTO, "Identity", "1", "0" }, WD_CONNECT_PROTO, true, 0 },
	{ { PROTO, NULL, "1", "9999999999" }, WD_CONNECT_PROTO, true,
	    INT64_C(9999999999) },
	{ { PROTO, NULL, "1", "0000000005" }, WD_CONNECT_PROTO, true, 5 },
};

START_TEST(good_headers_are_read)
{
	struct wd_connect_failure failure;
	struct wd_connect_call call;

	ck_assert(wd_connect_read(&good[_i].headers, &call, &failure));
	ck_assert_int_eq(call.codec, good[_i].codec);
	ck_assert_int_eq(call.has_timeout, good[_i].has_timeout);
	ck_assert_int_eq(call.timeout_ms, good[_i].timeout_ms);
}
END_TEST

static const struct {
	struct wd_connect_headers headers;
	int http_status;
	enum wd_connect_code code;
} bad[] = {
	{ { NULL, NULL, NULL, NULL }, 415, WD_CONNECT_UNKNOWN },
	{ { "", NULL, NULL, NULL }, 415, WD_CONNECT_UNKNOWN },
	{ { "text/plain", NULL, NULL, NULL }, 415, WD_CONNECT_UNKNOWN },
	{ { "application/protobuf", NULL, NULL, NULL }, 415,
	    WD_CONNECT_UNKNOWN },
	{ { "application/jsonx", NULL, NULL, NULL }, 415, WD_CONNECT_UNKNOWN },
	{ { "application/connect+proto", NULL, NULL, NULL }, 415,
	    WD_CONNECT_UNKNOWN },
	{ { "application/grpc", NULL, NULL, NULL }, 415, WD_CONNECT_UNKNOWN },
	{ { JSON "; charset=latin-1", NULL, NULL, NULL }, 415,
	    WD_CONNECT_UNKNOWN },
	{ { JSON "; charset=utf-8; x=y", NULL, NULL, NULL }, 415,
	    WD_CONNECT_UNKNOWN },
	{ { JSON "; boundary=x", NULL, NULL, NULL }, 415, WD_CONNECT_UNKNOWN },
	{ { JSON ",", NULL, NULL, NULL }, 415, WD_CONNECT_UNKNOWN },
	{ { JSON, NULL, "2", NULL }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "", NULL }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1 ", NULL }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1", "" }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1", "-1" }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1", "+1" }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1", "1s" }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1", "1.5" }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1", " 1" }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1", "0x10" }, 400, WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1", "10000000000" }, 400,
	    WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, NULL, "1", "00000000001" }, 400,
	    WD_CONNECT_INVALID_ARGUMENT },
	{ { JSON, "gzip", "1", NULL }, 501, WD_CONNECT_UNIMPLEMENTED },
	{ { JSON, "", "1", NULL }, 501, WD_CONNECT_UNIMPLEMENTED },
	{ { JSON, "identity, gzip", "1", NULL }, 501,
	    WD_CONNECT_UNIMPLEMENTED },
};

START_TEST(bad_headers_are_refused)
{
	struct wd_connect_failure failure;
	struct wd_connect_call call;

	ck_assert(!wd_connect_read(&bad[_i].headers, &call, &failure));
	ck_assert_int_eq(failure.http_status, bad[_i].http_status);
	ck_assert_int_eq(failure.code, bad[_i].code);
	ck_assert_uint_gt(strlen(failure.message), 10);
}
END_TEST

/* The table of the protocol, "Error codes". */
static const struct {
	enum wd_connect_code code;
	const char *name;
	int http_status;
} codes[] = {
	{ WD_CONNECT_CANCELED, "canceled", 499 },
	{ WD_CONNECT_UNKNOWN, "unknown", 500 },
	{ WD_CONNECT_INVALID_ARGUMENT, "invalid_argument", 400 },
	{ WD_CONNECT_DEADLINE_EXCEEDED, "deadline_exceeded", 504 },
	{ WD_CONNECT_NOT_FOUND, "not_found", 404 },
	{ WD_CONNECT_ALREADY_EXISTS, "already_exists", 409 },
	{ WD_CONNECT_PERMISSION_DENIED, "permission_denied", 403 },
	{ WD_CONNECT_RESOURCE_EXHAUSTED, "resource_exhausted", 429 },
	{ WD_CONNECT_FAILED_PRECONDITION, "failed_precondition", 400 },
	{ WD_CONNECT_ABORTED, "aborted", 409 },
	{ WD_CONNECT_OUT_OF_RANGE, "out_of_range", 400 },
	{ WD_CONNECT_UNIMPLEMENTED, "unimplemented", 501 },
	{ WD_CONNECT_INTERNAL, "internal", 500 },
	{ WD_CONNECT_UNAVAILABLE, "unavailable", 503 },
	{ WD_CONNECT_DATA_LOSS, "data_loss", 500 },
	{ WD_CONNECT_UNAUTHENTICATED, "unauthenticated", 401 },
};

START_TEST(codes_have_names_and_statuses)
{
	ck_assert_str_eq(wd_connect_code_name(codes[_i].code), codes[_i].name);
	ck_assert_int_eq(
	    wd_connect_http_status(codes[_i].code), codes[_i].http_status);
	ck_assert_int_eq(wd_connect_code_of(codes[_i].name), codes[_i].code);
}
END_TEST

START_TEST(what_is_no_code_is_unknown)
{
	ck_assert_int_eq(wd_connect_code_of("ok"), WD_CONNECT_UNKNOWN);
	ck_assert_int_eq(wd_connect_code_of("nonsense"), WD_CONNECT_UNKNOWN);
	ck_assert_str_eq(
	    wd_connect_code_name((enum wd_connect_code)99), "unknown");
	ck_assert_int_eq(
	    wd_connect_http_status((enum wd_connect_code)(-1)), 500);
	ck_assert_int_eq(wd_connect_http_status(WD_CONNECT_OK), 200);
}
END_TEST

static const struct {
	int http_status;
	enum wd_connect_code code;
} of_http[] = {
	{ 400, WD_CONNECT_INTERNAL },
	{ 401, WD_CONNECT_UNAUTHENTICATED },
	{ 403, WD_CONNECT_PERMISSION_DENIED },
	{ 404, WD_CONNECT_UNIMPLEMENTED },
	{ 429, WD_CONNECT_UNAVAILABLE },
	{ 502, WD_CONNECT_UNAVAILABLE },
	{ 503, WD_CONNECT_UNAVAILABLE },
	{ 504, WD_CONNECT_UNAVAILABLE },
	{ 418, WD_CONNECT_UNKNOWN },
	{ 200, WD_CONNECT_UNKNOWN },
};

START_TEST(a_bare_http_status_has_a_code)
{
	ck_assert_int_eq(
	    wd_connect_code_of_http(of_http[_i].http_status), of_http[_i].code);
}
END_TEST

static const struct {
	enum wd_status status;
	enum wd_connect_code code;
} of_status[] = {
	{ WD_OK, WD_CONNECT_OK },
	{ WD_INVALID, WD_CONNECT_INVALID_ARGUMENT },
	{ WD_MALFORMED, WD_CONNECT_INVALID_ARGUMENT },
	{ WD_TRUNCATED, WD_CONNECT_INVALID_ARGUMENT },
	{ WD_UNSUPPORTED, WD_CONNECT_UNIMPLEMENTED },
	{ WD_LIMIT, WD_CONNECT_RESOURCE_EXHAUSTED },
	{ WD_NOMEM, WD_CONNECT_RESOURCE_EXHAUSTED },
	{ WD_BUSY, WD_CONNECT_RESOURCE_EXHAUSTED },
	{ WD_NOTFOUND, WD_CONNECT_NOT_FOUND },
	{ WD_DENIED, WD_CONNECT_PERMISSION_DENIED },
	{ WD_TIMEDOUT, WD_CONNECT_DEADLINE_EXCEEDED },
	{ WD_GONE, WD_CONNECT_UNAVAILABLE },
	{ WD_CHANGED, WD_CONNECT_ABORTED },
	{ WD_IO, WD_CONNECT_INTERNAL },
	{ WD_CORRUPT, WD_CONNECT_INTERNAL },
};

START_TEST(a_status_has_a_code)
{
	ck_assert_int_eq(wd_connect_code_of_status(of_status[_i].status),
	    of_status[_i].code);
}
END_TEST

static void
check_json(const char *message, const char *wanted)
{
	struct wd_connect_failure failure;
	struct wd_buf out;

	wd_buf_init(&out, 4096);
	wd_connect_fail(&failure, WD_CONNECT_NOT_FOUND, "%s", message);
	ck_assert_int_eq(wd_connect_print(&failure, &out), WD_OK);
	ck_assert_str_eq(wd_buf_string(&out), wanted);
	wd_buf_release(&out);
}

START_TEST(errors_are_json)
{
	check_json("gone", "{\"code\":\"not_found\",\"message\":\"gone\"}");
	check_json("a \"b\"\n\x1b[2J\xff",
	    "{\"code\":\"not_found\",\"message\":"
	    "\"a \\\"b\\\"\\n\\u001b[2J\xef\xbf\xbd\"}");
}
END_TEST

START_TEST(our_own_failures_stay_here)
{
	struct wd_connect_failure failure;
	struct wd_error err;

	wd_error_init(&err);
	(void)wd_fail(&err, WD_IO, "/var/lib/weightd/secret: I/O error");
	wd_connect_fail_of(&failure, &err);
	ck_assert_int_eq(failure.code, WD_CONNECT_INTERNAL);
	ck_assert_ptr_null(strstr(failure.message, "secret"));
	(void)wd_fail(&err, WD_NOTFOUND, "port 1");
	wd_connect_fail_of(&failure, &err);
	ck_assert_int_eq(failure.code, WD_CONNECT_NOT_FOUND);
	ck_assert_str_eq(failure.message, "port 1");
	err.status = WD_OK;
	wd_connect_fail_of(&failure, &err);
	ck_assert_int_eq(failure.code, WD_CONNECT_INTERNAL);
}
END_TEST

START_TEST(errors_are_read_back)
{
	struct wd_connect_failure failure;
	struct wd_slice json = wd_slice_text(
	    "{\"message\":\"no \\\"x\\\"\",\"details\":[{\"type\":\"t\"}],"
	    "\"code\":\"unavailable\"}");

	ck_assert_int_eq(wd_connect_parse(json, 503, &failure, NULL), WD_OK);
	ck_assert_int_eq(failure.code, WD_CONNECT_UNAVAILABLE);
	ck_assert_int_eq(failure.http_status, 503);
	ck_assert_str_eq(failure.message, "no \"x\"");
	json = wd_slice_text("{\"code\":\"new_one\"}");
	ck_assert_int_eq(wd_connect_parse(json, 500, &failure, NULL), WD_OK);
	ck_assert_int_eq(failure.code, WD_CONNECT_UNKNOWN);
	ck_assert_str_eq(failure.message, "");
}
END_TEST

static const char *const no_errors[] = { "", "<html>", "[]", "{}",
	"{\"code\":5}", "{\"code\":null,\"message\":\"x\"}" };

START_TEST(other_bodies_are_no_errors)
{
	struct wd_connect_failure failure;

	ck_assert_int_eq(
	    wd_connect_parse(wd_slice_text(no_errors[_i]), 500, &failure, NULL),
	    WD_MALFORMED);
}
END_TEST

WD_SUITE_BEGIN("wire connect")
WD_LOOP(good_headers_are_read, good);
WD_LOOP(bad_headers_are_refused, bad);
WD_LOOP(codes_have_names_and_statuses, codes);
WD_TEST(what_is_no_code_is_unknown);
WD_LOOP(a_bare_http_status_has_a_code, of_http);
WD_LOOP(a_status_has_a_code, of_status);
WD_TEST(errors_are_json);
WD_TEST(our_own_failures_stay_here);
WD_TEST(errors_are_read_back);
WD_LOOP(other_bodies_are_no_errors, no_errors);
WD_SUITE_END
