#include "wire/connect.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "wire/json.h"

#define MAX_TIMEOUT_DIGITS 10
#define MAX_ERROR_MEMORY (1UL << 20)

/* ---- codes --------------------------------------------------------------- */

static const struct {
	const char *name;
	int http_status;
} codes[] = {
	[WD_CONNECT_OK] = { "ok", 200 },
	[WD_CONNECT_CANCELED] = { "canceled", 499 },
	[WD_CONNECT_UNKNOWN] = { "unknown", 500 },
	[WD_CONNECT_INVALID_ARGUMENT] = { "invalid_argument", 400 },
	[WD_CONNECT_DEADLINE_EXCEEDED] = { "deadline_exceeded", 504 },
	[WD_CONNECT_NOT_FOUND] = { "not_found", 404 },
	[WD_CONNECT_ALREADY_EXISTS] = { "already_exists", 409 },
	[WD_CONNECT_PERMISSION_DENIED] = { "permission_denied", 403 },
	[WD_CONNECT_RESOURCE_EXHAUSTED] = { "resource_exhausted", 429 },
	[WD_CONNECT_FAILED_PRECONDITION] = { "failed_precondition", 400 },
	[WD_CONNECT_ABORTED] = { "aborted", 409 },
	[WD_CONNECT_OUT_OF_RANGE] = { "out_of_range", 400 },
	[WD_CONNECT_UNIMPLEMENTED] = { "unimplemented", 501 },
	[WD_CONNECT_INTERNAL] = { "internal", 500 },
	[WD_CONNECT_UNAVAILABLE] = { "unavailable", 503 },
	[WD_CONNECT_DATA_LOSS] = { "data_loss", 500 },
	[WD_CONNECT_UNAUTHENTICATED] = { "unauthenticated", 401 },
};

#define CODE_COUNT (sizeof(codes) / sizeof(codes[0]))

static enum wd_connect_code
known(enum wd_connect_code code)
{
	return (size_t)code < CODE_COUNT ? code : WD_CONNECT_UNKNOWN;
}

const char *
wd_connect_code_name(enum wd_connect_code code)
{
	return codes[known(code)].name;
}

int
wd_connect_http_status(enum wd_connect_code code)
{
	return codes[known(code)].http_status;
}

enum wd_connect_code
wd_connect_code_of(const char *name)
{
	size_t i;

	/* "ok" is no code of a failure. */
	for (i = 1; i < CODE_COUNT; i++)
		if (strcmp(codes[i].name, name) == 0)
			return (enum wd_connect_code)i;
	return WD_CONNECT_UNKNOWN;
}

/* "HTTP to Error Code" of the protocol. */
enum wd_connect_code
wd_connect_code_of_http(int http_status)
{
	switch (http_status) {
	case 400:
		return WD_CONNECT_INTERNAL;
	case 401:
		return WD_CONNECT_UNAUTHENTICATED;
	case 403:
		return WD_CONNECT_PERMISSION_DENIED;
	case 404:
		return WD_CONNECT_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return WD_CONNECT_UNAVAILABLE;
	default:
		return WD_CONNECT_UNKNOWN;
	}
}

enum wd_connect_code
wd_connect_code_of_status(enum wd_status status)
{
	switch (status) {
	case WD_OK:
		return WD_CONNECT_OK;
	case WD_INVALID:
	case WD_MALFORMED:
	case WD_TRUNCATED:
		return WD_CONNECT_INVALID_ARGUMENT;
	case WD_UNSUPPORTED:
		return WD_CONNECT_UNIMPLEMENTED;
	case WD_NOMEM:
	case WD_LIMIT:
	case WD_BUSY:
		return WD_CONNECT_RESOURCE_EXHAUSTED;
	case WD_NOTFOUND:
		return WD_CONNECT_NOT_FOUND;
	case WD_DENIED:
		return WD_CONNECT_PERMISSION_DENIED;
	case WD_TIMEDOUT:
		return WD_CONNECT_DEADLINE_EXCEEDED;
	case WD_GONE:
		return WD_CONNECT_UNAVAILABLE;
	case WD_CHANGED:
		return WD_CONNECT_ABORTED;
	case WD_IO:
	case WD_CORRUPT:
	case WD_STALE:
	default:
		return WD_CONNECT_INTERNAL;
	}
}

/* ---- failures ------------------------------------------------------------ */

void
wd_connect_fail(struct wd_connect_failure *failure, enum wd_connect_code code,
    const char *format, ...)
{
	va_list args;

	failure->code = known(code);
	failure->http_status = wd_connect_http_status(code);
	va_start(args, format);
	(void)vsnprintf(
	    failure->message, sizeof(failure->message), format, args);
	va_end(args);
}

void
wd_connect_fail_of(
    struct wd_connect_failure *failure, const struct wd_error *err)
{
	enum wd_connect_code code = wd_connect_code_of_status(err->status);

	if (code == WD_CONNECT_OK)
		code = WD_CONNECT_INTERNAL;
	if (code == WD_CONNECT_INTERNAL)
		wd_connect_fail(
		    failure, code, "the agent failed; its log says how");
	else
		wd_connect_fail(failure, code, "%s", err->message);
}

enum wd_status
wd_connect_print(const struct wd_connect_failure *failure, struct wd_buf *out)
{
	(void)wd_buf_printf(out, "{\"code\":\"%s\",\"message\":",
	    wd_connect_code_name(failure->code));
	wd_json_print_text(failure->message, out);
	return wd_buf_text(out, "}");
}

enum wd_status
wd_connect_parse(struct wd_slice json, int http_status,
    struct wd_connect_failure *failure, struct wd_error *err)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	const char *code, *message;
	enum wd_status st = wd_json_parse(json, MAX_ERROR_MEMORY, &root, err);

	if (st != WD_OK)
		return st;
	code = json_string_value(json_object_get(root, "code"));
	message = json_string_value(json_object_get(root, "message"));
	if (code == NULL)
		return wd_fail(err, WD_MALFORMED,
		    "the error has no code; is this a Connect server?");
	wd_connect_fail(failure, wd_connect_code_of(code), "%s",
	    message != NULL ? message : "");
	failure->http_status = http_status;
	return WD_OK;
}

/* ---- headers ------------------------------------------------------------- */

const char *
wd_connect_content_type(enum wd_connect_codec codec)
{
	return codec == WD_CONNECT_JSON ? "application/json" :
					  "application/proto";
}

static const char *
skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* Behind a media type: nothing, or the one parameter that changes nothing. */
static bool
is_utf8_parameter(const char *text)
{
	static const char name[] = "charset=";

	text = skip_blanks(text);
	if (*text == '\0')
		return true;
	if (*text != ';')
		return false;
	text = skip_blanks(text + 1);
	if (strncasecmp(text, name, sizeof(name) - 1) != 0)
		return false;
	text += sizeof(name) - 1;
	if (strncasecmp(text, "utf-8", 5) == 0)
		text += 5;
	else if (strncasecmp(text, "\"utf-8\"", 7) == 0)
		text += 7;
	else
		return false;
	return *skip_blanks(text) == '\0';
}

static bool
read_codec(const char *text, enum wd_connect_codec *codec)
{
	static const enum wd_connect_codec all[] = { WD_CONNECT_PROTO,
		WD_CONNECT_JSON };
	size_t i, len;

	if (text == NULL)
		return false;
	text = skip_blanks(text);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		len = strlen(wd_connect_content_type(all[i]));
		if (strncasecmp(text, wd_connect_content_type(all[i]), len) !=
			0 ||
		    !is_utf8_parameter(text + len))
			continue;
		*codec = all[i];
		return true;
	}
	return false;
}

static bool
read_timeout(const char *text, struct wd_connect_call *call)
{
	struct wd_slice digits = wd_slice_text(text);
	uint64_t ms;

	if (digits.len > MAX_TIMEOUT_DIGITS ||
	    !wd_slice_number(digits, 10, &ms))
		return false;
	call->has_timeout = true;
	call->timeout_ms = (int64_t)ms;
	return true;
}

static void
quote(char *shown, size_t size, const char *text)
{
	wd_escape_short(shown, size, wd_slice_text(text));
}

bool
wd_connect_read(const struct wd_connect_headers *headers,
    struct wd_connect_call *call, struct wd_connect_failure *failure)
{
	char shown[96];

	*call = (struct wd_connect_call){ .codec = WD_CONNECT_PROTO };
	if (!read_codec(headers->content_type, &call->codec)) {
		wd_connect_fail(failure, WD_CONNECT_UNKNOWN,
		    "Content-Type must be application/proto or "
		    "application/json");
		failure->http_status = 415;
		return false;
	}
	if (headers->protocol_version != NULL &&
	    strcmp(headers->protocol_version, "1") != 0) {
		quote(shown, sizeof(shown), headers->protocol_version);
		wd_connect_fail(failure, WD_CONNECT_INVALID_ARGUMENT,
		    "Connect-Protocol-Version \"%s\" must be \"1\"", shown);
		return false;
	}
	if (headers->timeout_ms != NULL &&
	    !read_timeout(headers->timeout_ms, call)) {
		quote(shown, sizeof(shown), headers->timeout_ms);
		wd_connect_fail(failure, WD_CONNECT_INVALID_ARGUMENT,
		    "Connect-Timeout-Ms \"%s\" must be 1 to %d digits", shown,
		    MAX_TIMEOUT_DIGITS);
		return false;
	}
	if (headers->content_encoding != NULL &&
	    strcasecmp(headers->content_encoding, "identity") != 0) {
		quote(shown, sizeof(shown), headers->content_encoding);
		wd_connect_fail(failure, WD_CONNECT_UNIMPLEMENTED,
		    "Content-Encoding \"%s\" is not understood; send the body "
		    "as it is",
		    shown);
		return false;
	}
	return true;
}
