/*
 * connect.h - the Connect protocol for unary calls, without a connection:
 * headers to a codec and a deadline, a failure to a code, a status and JSON.
 *
 * Follows connectrpc.com/docs/protocol, "Unary-Request" and "Error end
 * stream". Client and agent use the same tables. Everything is pure.
 */
#ifndef WD_WIRE_CONNECT_H
#define WD_WIRE_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* The protocol's codes, with gRPC's numbers. */
enum wd_connect_code {
	WD_CONNECT_OK = 0, /* no failure; never on the wire */
	WD_CONNECT_CANCELED = 1,
	WD_CONNECT_UNKNOWN = 2,
	WD_CONNECT_INVALID_ARGUMENT = 3,
	WD_CONNECT_DEADLINE_EXCEEDED = 4,
	WD_CONNECT_NOT_FOUND = 5,
	WD_CONNECT_ALREADY_EXISTS = 6,
	WD_CONNECT_PERMISSION_DENIED = 7,
	WD_CONNECT_RESOURCE_EXHAUSTED = 8,
	WD_CONNECT_FAILED_PRECONDITION = 9,
	WD_CONNECT_ABORTED = 10,
	WD_CONNECT_OUT_OF_RANGE = 11,
	WD_CONNECT_UNIMPLEMENTED = 12,
	WD_CONNECT_INTERNAL = 13,
	WD_CONNECT_UNAVAILABLE = 14,
	WD_CONNECT_DATA_LOSS = 15,
	WD_CONNECT_UNAUTHENTICATED = 16,
};

enum wd_connect_codec {
	WD_CONNECT_PROTO, /* application/proto */
	WD_CONNECT_JSON,  /* application/json */
};

/* The headers that the protocol reads; NULL: not there. */
struct wd_connect_headers {
	const char *content_type;
	const char *content_encoding;
	const char *protocol_version; /* Connect-Protocol-Version */
	const char *timeout_ms;       /* Connect-Timeout-Ms */
};

struct wd_connect_call {
	enum wd_connect_codec codec;
	bool has_timeout;
	int64_t timeout_ms; /* 0: it has already passed */
};

/* A failure as it goes over the wire. The message is the caller's. */
struct wd_connect_failure {
	enum wd_connect_code code;
	int http_status;
	char message[WD_ERROR_MESSAGE_BYTES];
};

/* Reads the headers of a call. False, and `*failure` filled, when
 *
 *	the content type is neither codec (or names another character set)
 *			HTTP 415, unknown, and say Accept-Post
 *	Connect-Protocol-Version is there and not "1"
 *			invalid_argument
 *	Connect-Timeout-Ms is not 1 to 10 decimal digits
 *			invalid_argument
 *	the body is compressed
 *			unimplemented, and say Accept-Encoding
 *
 * A call without Connect-Protocol-Version passes, so that curl needs one
 * header less. */
bool wd_connect_read(const struct wd_connect_headers *headers,
    struct wd_connect_call *call,
    struct wd_connect_failure *failure) WD_MUST_CHECK;

/* The content type of an answer in that codec. */
const char *wd_connect_content_type(enum wd_connect_codec codec);

/* The code's name on the wire: "invalid_argument". Never NULL; a number that
 * is no code gives "unknown". */
const char *wd_connect_code_name(enum wd_connect_code code);

/* The code with that name; WD_CONNECT_UNKNOWN when there is none. */
enum wd_connect_code wd_connect_code_of(const char *name);

/* The HTTP status of a code (200 for WD_CONNECT_OK). */
int wd_connect_http_status(enum wd_connect_code code);

/* For clients: the code of an answer that is not 200 and has no error JSON,
 * as from a proxy. */
enum wd_connect_code wd_connect_code_of_http(int http_status);

/* The code that tells a remote caller what a status tells a local one. */
enum wd_connect_code wd_connect_code_of_status(enum wd_status status);

/* Fills a failure. The message is cut where it is too long. */
void wd_connect_fail(struct wd_connect_failure *failure,
    enum wd_connect_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A failure from an error; WD_IO, WD_CORRUPT and the like are ours, so their
 * message stays here and the caller is told to look into the agent's log. */
void wd_connect_fail_of(
    struct wd_connect_failure *failure, const struct wd_error *err);

/* Appends {"code":"...","message":"..."}; control characters and bytes that
 * are not UTF-8 are escaped. Errors: those of the buffer. */
enum wd_status wd_connect_print(
    const struct wd_connect_failure *failure, struct wd_buf *out);

/* For clients: reads such JSON; `details` and what else is there are passed
 * over. Errors: WD_MALFORMED, WD_LIMIT, WD_NOMEM. */
enum wd_status wd_connect_parse(struct wd_slice json, int http_status,
    struct wd_connect_failure *failure, struct wd_error *err) WD_MUST_CHECK;

#endif
