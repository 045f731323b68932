/* The bytes of a request behind its HTTP framing: the first byte chooses the
 * call, four lines are the headers that Connect reads ("-": not there), the
 * rest is the body. What passes must say the same when it is packed and
 * printed and read back. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "weightd/v1/service.pb-c.h"
#include "wire/build.h"
#include "wire/connect.h"
#include "wire/json.h"
#include "wire/parse_json.h"
#include "wire/unpack.h"

#define MEMORY (1U << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ProtobufCMessageDescriptor *const types[] = {
	&weightd__v1__attest_port_request__descriptor,
	&weightd__v1__describe_bundle_request__descriptor,
	&weightd__v1__list_servers_request__descriptor,
	&weightd__v1__get_host_request__descriptor,
};

static void
must(int holds)
{
	if (!holds)
		abort();
}

/* Packed, it is a message again and packs to the same bytes. */
static void
check_again(const ProtobufCMessage *message, struct wd_slice packed)
{
	ProtobufCMessage *again = NULL;
	struct wd_buf bytes;

	must(wd_wire_unpack(message->descriptor, packed, WD_WIRE_REFUSE_UNKNOWN,
		 8 * MEMORY, &again, NULL) == WD_OK);
	wd_buf_init(&bytes, MEMORY);
	must(wd_wire_pack(again, &bytes, NULL) == WD_OK);
	must(wd_slice_equal(wd_buf_slice(&bytes), packed));
	wd_buf_release(&bytes);
	wd_message_free(again);
}

/* Printed as JSON and read, it packs to the same bytes. */
static void
check_json(const ProtobufCMessage *message, struct wd_slice packed)
{
	ProtobufCMessage *again = NULL;
	struct wd_buf json, bytes;

	wd_buf_init(&json, 8 * MEMORY);
	wd_buf_init(&bytes, MEMORY);
	must(wd_message_print_json(message, WD_JSON_COMPACT, &json, NULL) ==
	    WD_OK);
	must(wd_message_parse_json(message->descriptor, wd_buf_slice(&json),
		 64 * MEMORY, &again, NULL) == WD_OK);
	must(wd_wire_pack(again, &bytes, NULL) == WD_OK);
	must(wd_slice_equal(wd_buf_slice(&bytes), packed));
	wd_buf_release(&json);
	wd_buf_release(&bytes);
	wd_message_free(again);
}

static void
run_body(const ProtobufCMessageDescriptor *type, enum wd_connect_codec codec,
    struct wd_slice body)
{
	ProtobufCMessage *message = NULL;
	struct wd_buf packed;
	enum wd_status st;

	if (codec == WD_CONNECT_JSON)
		st = wd_message_parse_json(type, body, MEMORY, &message, NULL);
	else
		st = wd_wire_unpack(
		    type, body, WD_WIRE_REFUSE_UNKNOWN, MEMORY, &message, NULL);
	must((st == WD_OK) == (message != NULL));
	if (message == NULL)
		return;
	wd_buf_init(&packed, MEMORY);
	if (wd_wire_pack(message, &packed, NULL) == WD_OK) {
		check_again(message, wd_buf_slice(&packed));
		check_json(message, wd_buf_slice(&packed));
	}
	wd_buf_release(&packed);
	wd_message_free(message);
}

/* One header line as a string of its own; NULL for "-". */
static char *
take_header(struct wd_slice *rest)
{
	struct wd_slice line = { NULL, 0 };

	if (!wd_slice_cut(rest, '\n', &line) ||
	    wd_slice_equal(line, wd_slice_text("-")))
		return NULL;
	return wd_memdup0(line.data, line.len);
}

static void
run_failure(const struct wd_connect_failure *failure)
{
	struct wd_connect_failure again;
	struct wd_buf json;

	wd_buf_init(&json, MEMORY);
	must(wd_connect_print(failure, &json) == WD_OK);
	must(wd_connect_parse(wd_buf_slice(&json), failure->http_status, &again,
		 NULL) == WD_OK);
	must(again.code == failure->code);
	wd_buf_release(&json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice rest = { data, size };
	struct wd_connect_failure failure;
	struct wd_connect_call call;
	char *headers[4];
	size_t i;

	/* Whatever a server may send as an error. */
	(void)!wd_connect_parse(rest, 500, &failure, NULL);
	if (size == 0)
		return 0;
	rest.data++;
	rest.len--;
	for (i = 0; i < 4; i++)
		headers[i] = take_header(&rest);
	if (wd_connect_read(&(struct wd_connect_headers){ headers[0],
				headers[1], headers[2], headers[3] },
		&call, &failure))
		run_body(types[data[0] % 4], call.codec, rest);
	else
		run_failure(&failure);
	for (i = 0; i < 4; i++)
		wd_free(headers[i]);
	return 0;
}
