/*
 * pb2json - messages in protobuf wire format to JSON, through proto/wire, for
 * the oracle tests/interop/json_oracle.py.
 *
 * Standard input holds records: the length of a message's full name (4 bytes,
 * little-endian), the name, the length of the bytes (4), the bytes. For each
 * a line with the compact JSON goes to standard output; with --indented the
 * indented one and a line "%". With --parse the bytes are JSON, and what goes
 * to standard output is again JSON, of the message that was read from it.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kinds.pb-c.h"
#include "weightd/v1/service.pb-c.h"
#include "wire/build.h"
#include "wire/json.h"
#include "wire/parse_json.h"
#include "wire/unpack.h"

static const ProtobufCMessageDescriptor *const types[] = {
	&google__protobuf__timestamp__descriptor,
	&weightd__v1__attest_port_request__descriptor,
	&weightd__v1__attest_port_response__descriptor,
	&weightd__v1__attestation__descriptor,
	&weightd__v1__bundle__descriptor,
	&weightd__v1__describe_bundle_request__descriptor,
	&weightd__v1__describe_bundle_response__descriptor,
	&weightd__v1__expectation__descriptor,
	&weightd__v1__get_host_request__descriptor,
	&weightd__v1__get_host_response__descriptor,
	&weightd__v1__list_servers_request__descriptor,
	&weightd__v1__list_servers_response__descriptor,
	&weightd__v1__verdict__descriptor,
	&weightd__testing__kinds__descriptor,
};

static const ProtobufCMessageDescriptor *
type_named(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i]->name, name) == 0)
			return types[i];
	return NULL;
}

/* One length and that many bytes, NUL-terminated; NULL at the end. */
static char *
read_part(uint32_t *len)
{
	uint8_t head[4];
	char *bytes;

	if (fread(head, 1, sizeof(head), stdin) != sizeof(head))
		return NULL;
	*len = (uint32_t)head[0] | (uint32_t)head[1] << 8 |
	    (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
	if (*len > WD_MAX_MESSAGE || (bytes = wd_calloc(*len + 1, 1)) == NULL)
		return NULL;
	if (fread(bytes, 1, *len, stdin) == *len)
		return bytes;
	wd_free(bytes);
	return NULL;
}

enum mode { COMPACT, INDENTED, PARSE };

static enum wd_status
read_record(const ProtobufCMessageDescriptor *type, struct wd_slice bytes,
    enum mode mode, ProtobufCMessage **message, struct wd_error *err)
{
	if (type == NULL)
		return wd_fail(err, WD_INVALID, "not a type of the schema");
	if (mode == PARSE)
		return wd_message_parse_json(
		    type, bytes, WD_MAX_MESSAGE, message, err);
	return wd_wire_unpack(
	    type, bytes, WD_WIRE_ALLOW_UNKNOWN, WD_MAX_MESSAGE, message, err);
}

static int
print_record(const char *name, const char *bytes, uint32_t len, enum mode mode)
{
	struct wd_slice slice = { (const uint8_t *)bytes, len };
	ProtobufCMessage *message WD_CLEANUP(wd_message_free_scoped) = NULL;
	struct wd_buf out WD_CLEANUP(wd_buf_release);
	struct wd_error err;
	enum wd_status st;

	wd_buf_init(&out, WD_MAX_MESSAGE);
	wd_error_init(&err);
	st = read_record(type_named(name), slice, mode, &message, &err);
	if (st == WD_OK)
		st = wd_message_print_json(message,
		    mode == INDENTED ? WD_JSON_INDENTED : WD_JSON_COMPACT, &out,
		    &err);
	if (st != WD_OK) {
		(void)fprintf(stderr, "pb2json: %s: %s\n", name, err.message);
		return 1;
	}
	return printf("%s%s\n", wd_buf_string(&out),
		   mode == INDENTED ? "%" : "") < 0;
}

static enum mode
mode_of(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--indented") == 0)
		return INDENTED;
	return argc > 1 && strcmp(argv[1], "--parse") == 0 ? PARSE : COMPACT;
}

int
main(int argc, char **argv)
{
	enum mode mode = mode_of(argc, argv);
	uint32_t len;
	char *name;

	while ((name = read_part(&len)) != NULL) {
		char *bytes = read_part(&len);
		int failed =
		    bytes == NULL || print_record(name, bytes, len, mode) != 0;

		wd_free(name);
		wd_free(bytes);
		if (failed)
			return 1;
	}
	return 0;
}
