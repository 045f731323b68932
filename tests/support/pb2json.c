/*
 * pb2json - messages in protobuf wire format to JSON, through proto/wire, for
 * the oracle tests/interop/json_oracle.py.
 *
 * Standard input holds records: the length of a message's full name (4 bytes,
 * little-endian), the name, the length of the bytes (4), the bytes. For each
 * a line with the compact JSON goes to standard output; with --indented the
 * indented one and a line "%".
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kinds.pb-c.h"
#include "weightd/v1/service.pb-c.h"
#include "wire/build.h"
#include "wire/json.h"

static const ProtobufCMessageDescriptor *const types[] = {
	&google__protobuf__timestamp__descriptor,
	&weightd__v1__attest_port_request__descriptor,
	&weightd__v1__attest_port_response__descriptor,
	&weightd__v1__attestation__descriptor,
	&weightd__v1__bundle__descriptor,
	&weightd__v1__describe_bundle_request__descriptor,
	&weightd__v1__describe_bundle_response__descriptor,
	&weightd__v1__expectation__descriptor,
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

static int
print_record(const char *name, const char *bytes, uint32_t len, bool indented)
{
	const ProtobufCMessageDescriptor *type = type_named(name);
	ProtobufCMessage *message WD_CLEANUP(wd_message_free_scoped) = NULL;
	struct wd_buf out WD_CLEANUP(wd_buf_release);
	struct wd_error err;

	wd_buf_init(&out, WD_MAX_MESSAGE);
	wd_error_init(&err);
	if (type != NULL)
		message = protobuf_c_message_unpack(
		    type, NULL, len, (const uint8_t *)bytes);
	if (message == NULL) {
		(void)fprintf(stderr, "pb2json: %s: not read\n", name);
		return 1;
	}
	if (wd_message_print_json(message,
		indented ? WD_JSON_INDENTED : WD_JSON_COMPACT, &out,
		&err) != WD_OK) {
		(void)fprintf(stderr, "pb2json: %s\n", err.message);
		return 1;
	}
	return printf("%s%s\n", wd_buf_string(&out), indented ? "%" : "") < 0;
}

int
main(int argc, char **argv)
{
	bool indented = argc > 1 && strcmp(argv[1], "--indented") == 0;
	uint32_t len;
	char *name;

	while ((name = read_part(&len)) != NULL) {
		char *bytes = read_part(&len);
		int failed = bytes == NULL ||
		    print_record(name, bytes, len, indented) != 0;

		wd_free(name);
		wd_free(bytes);
		if (failed)
			return 1;
	}
	return 0;
}
