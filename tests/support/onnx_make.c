#include "support/onnx_make.h"

#include <string.h>

#define INNER_MAX (1UL << 26)

void
make_pb_varint(struct wd_buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		(void)wd_buf_byte(out, (uint8_t)(value | 0x80));
	(void)wd_buf_byte(out, (uint8_t)value);
}

void
make_pb_number(struct wd_buf *out, uint32_t field, uint64_t value)
{
	make_pb_varint(out, (uint64_t)field << 3);
	make_pb_varint(out, value);
}

void
make_pb_bytes(struct wd_buf *out, uint32_t field, struct wd_slice bytes)
{
	make_pb_varint(out, (uint64_t)field << 3 | 2);
	make_pb_varint(out, bytes.len);
	(void)wd_buf_append(out, bytes.data, bytes.len);
}

void
make_pb_text(struct wd_buf *out, uint32_t field, const char *text)
{
	make_pb_bytes(out, field, wd_slice_text(text));
}

void
make_pb_message(struct wd_buf *out, uint32_t field, struct wd_buf *inner)
{
	make_pb_bytes(out, field, wd_buf_slice(inner));
	if (inner->status != WD_OK)
		out->status = inner->status;
	wd_buf_release(inner);
}

static void
put_shape(
    struct wd_buf *out, uint64_t type, const uint64_t *dims, unsigned dim_count)
{
	unsigned i;

	for (i = 0; i < dim_count; i++)
		make_pb_number(out, 1, dims[i]);
	make_pb_number(out, 2, type);
}

void
make_onnx_tensor(struct wd_buf *out, const char *name, uint64_t type,
    const uint64_t *dims, unsigned dim_count, uint64_t raw)
{
	uint8_t *space;

	put_shape(out, type, dims, dim_count);
	make_pb_text(out, 8, name);
	if (raw == 0)
		return;
	make_pb_varint(out, 9 << 3 | 2);
	make_pb_varint(out, raw);
	if (wd_buf_reserve(out, (size_t)raw, &space) != WD_OK)
		return;
	memset(space, 0xa5, (size_t)raw);
	wd_buf_advance(out, (size_t)raw);
}

static void
put_entry(struct wd_buf *out, const char *key, const char *value)
{
	struct wd_buf entry;

	if (value == NULL)
		return;
	wd_buf_init(&entry, INNER_MAX);
	make_pb_text(&entry, 1, key);
	make_pb_text(&entry, 2, value);
	make_pb_message(out, 13, &entry);
}

void
make_onnx_external(struct wd_buf *out, const char *name, uint64_t type,
    const uint64_t *dims, unsigned dim_count, const char *location,
    const char *offset, const char *length)
{
	put_shape(out, type, dims, dim_count);
	make_pb_text(out, 8, name);
	put_entry(out, "location", location);
	put_entry(out, "offset", offset);
	put_entry(out, "length", length);
	make_pb_number(out, 14, 1);
}

void
make_onnx_node(struct wd_buf *out, const char *op, const char *const *inputs)
{
	for (; inputs != NULL && *inputs != NULL; inputs++)
		make_pb_text(out, 1, *inputs);
	make_pb_text(out, 2, "out");
	make_pb_text(out, 4, op);
}

void
make_onnx_int(struct wd_buf *node, const char *name, uint64_t value)
{
	struct wd_buf attribute;

	wd_buf_init(&attribute, INNER_MAX);
	make_pb_text(&attribute, 1, name);
	make_pb_number(&attribute, 3, value);
	make_pb_number(&attribute, 20, 2);
	make_pb_message(node, 5, &attribute);
}

void
make_onnx_model(struct wd_buf *out, struct wd_buf *graph)
{
	struct wd_buf opset;

	make_pb_number(out, 1, 10);
	make_pb_text(out, 2, "maker");
	make_pb_message(out, 7, graph);
	wd_buf_init(&opset, INNER_MAX);
	make_pb_text(&opset, 1, "");
	make_pb_number(&opset, 2, 21);
	make_pb_message(out, 8, &opset);
}
