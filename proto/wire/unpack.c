#include "wire/unpack.h"

#include "base/mem.h"

struct budget {
	size_t left;
	enum wd_status status;
};

static void *
budget_alloc(void *ctx, size_t size)
{
	struct budget *budget = ctx;
	void *memory;

	if (size > budget->left) {
		budget->status = WD_LIMIT;
		return NULL;
	}
	budget->left -= size;
	memory = wd_calloc(size, 1);
	if (memory == NULL)
		budget->status = WD_NOMEM;
	return memory;
}

static void
budget_free(void *ctx, void *memory)
{
	(void)ctx;
	wd_free(memory);
}

enum wd_status
wd_wire_unpack(const ProtobufCMessageDescriptor *type, struct wd_slice bytes,
    enum wd_wire_unknown unknown, size_t max_memory, ProtobufCMessage **message,
    struct wd_error *err)
{
	struct budget budget = { max_memory, WD_OK };
	ProtobufCAllocator allocator = { budget_alloc, budget_free, &budget };
	ProtobufCMessage *unpacked;
	enum wd_status st = wd_wire_check(type, bytes, unknown, err);

	if (st != WD_OK)
		return st;
	unpacked =
	    protobuf_c_message_unpack(type, &allocator, bytes.len, bytes.data);
	if (unpacked != NULL) {
		*message = unpacked;
		return WD_OK;
	}
	if (budget.status == WD_LIMIT)
		return wd_fail(err, WD_LIMIT,
		    "%s: needs more than the %zu bytes of memory that it is "
		    "allowed",
		    type->short_name, max_memory);
	if (budget.status == WD_NOMEM)
		return wd_fail(err, WD_NOMEM, "out of memory");
	return wd_fail(
	    err, WD_MALFORMED, "not a message of type %s", type->short_name);
}

enum wd_status
wd_wire_pack(
    const ProtobufCMessage *message, struct wd_buf *out, struct wd_error *err)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *space;
	enum wd_status st = wd_buf_reserve(out, size, &space);

	if (st != WD_OK)
		return wd_fail(err, st, "%s: %s",
		    message->descriptor->short_name,
		    st == WD_LIMIT ? "larger than allowed" : "out of memory");
	wd_buf_advance(out, protobuf_c_message_pack(message, space));
	return WD_OK;
}
