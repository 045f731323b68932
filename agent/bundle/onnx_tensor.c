#include "bundle/onnx_model.h"

#include <stdio.h>

#include "base/checked.h"
#include "base/limits.h"
#include "base/mem.h"

/* TensorProto.DataType by number. Names are those of the enum. */
static const struct wd_encoding types[] = {
	[1] = { "FLOAT", 1, 32 },
	[2] = { "UINT8", 1, 8 },
	[3] = { "INT8", 1, 8 },
	[4] = { "UINT16", 1, 16 },
	[5] = { "INT16", 1, 16 },
	[6] = { "INT32", 1, 32 },
	[7] = { "INT64", 1, 64 },
	[8] = { "STRING", 0, 0 },
	[9] = { "BOOL", 1, 8 },
	[10] = { "FLOAT16", 1, 16 },
	[11] = { "DOUBLE", 1, 64 },
	[12] = { "UINT32", 1, 32 },
	[13] = { "UINT64", 1, 64 },
	[14] = { "COMPLEX64", 1, 64 },
	[15] = { "COMPLEX128", 1, 128 },
	[16] = { "BFLOAT16", 1, 16 },
	[17] = { "FLOAT8E4M3FN", 1, 8 },
	[18] = { "FLOAT8E4M3FNUZ", 1, 8 },
	[19] = { "FLOAT8E5M2", 1, 8 },
	[20] = { "FLOAT8E5M2FNUZ", 1, 8 },
	[21] = { "UINT4", 1, 4 },
	[22] = { "INT4", 1, 4 },
	[23] = { "FLOAT4E2M1", 1, 4 },
	[24] = { "FLOAT8E8M0", 1, 8 },
	[25] = { "UINT2", 1, 2 },
	[26] = { "INT2", 1, 2 },
};
#define TYPE_STRING 8
#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

/* Field numbers of TensorProto. */
enum {
	F_DIMS = 1,
	F_DATA_TYPE = 2,
	F_SEGMENT = 3,
	F_FLOAT_DATA = 4,
	F_INT32_DATA = 5,
	F_STRING_DATA = 6,
	F_INT64_DATA = 7,
	F_NAME = 8,
	F_RAW_DATA = 9,
	F_DOUBLE_DATA = 10,
	F_UINT64_DATA = 11,
	F_EXTERNAL_DATA = 13,
	F_DATA_LOCATION = 14,
};

/* What a TensorProto says. */
struct facts {
	struct wd_tensor tensor;
	struct wd_slice name;
	uint64_t type;
	uint64_t start, end; /* of the fields that hold data */
	uint64_t data_bytes; /* their sum */
	unsigned kinds;      /* of such fields: a bit for each number */
	bool external;
	bool has_raw;
	bool has_offset;
	bool has_length;
	uint64_t offset;
	uint64_t length;
	struct wd_slice location;
};

static enum wd_status
fail(struct wd_onnx_model *model, enum wd_status status, uint64_t at,
    const char *why)
{
	return wd_wire_fail(&model->wire, status, at, why);
}

static enum wd_status
add_dim(struct wd_onnx_model *model, struct facts *facts, uint64_t dim)
{
	struct wd_tensor *tensor = &facts->tensor;
	uint64_t at = wd_wire_at(&model->wire);

	if (model->wire.status != WD_OK)
		return model->wire.status;
	if (tensor->dims == WD_MAX_TENSOR_DIMS)
		return fail(model, WD_LIMIT, at,
		    "a tensor has more than 8 dimensions, more than any "
		    "model's");
	if (dim > INT64_MAX)
		return fail(model, WD_MALFORMED, at,
		    "a dimension is no number from 0 to 2^63");
	tensor->shape[tensor->dims++] = dim;
	if (!wd_mul_u64(tensor->elements, dim, &tensor->elements) ||
	    tensor->elements > INT64_MAX)
		return fail(model, WD_MALFORMED, at,
		    "the dimensions of a tensor multiply beyond 2^63");
	return WD_OK;
}

/* One by one, or packed. */
static enum wd_status
read_dims(struct wd_onnx_model *model, struct facts *facts,
    const struct wd_wire_field *field)
{
	enum wd_status st = WD_OK;

	if (field->type == WD_WIRE_VARINT)
		return add_dim(model, facts, field->value);
	if (field->type != WD_WIRE_BYTES)
		return fail(model, WD_MALFORMED, field->start,
		    "the dimensions of a tensor are no numbers");
	while (st == WD_OK && wd_wire_at(&model->wire) < field->end)
		st = add_dim(
		    model, facts, wd_wire_varint(&model->wire, field->end));
	return st;
}

/* Remembers where data stand, and reads none. */
static enum wd_status
take_data(struct wd_onnx_model *model, struct facts *facts,
    const struct wd_wire_field *field)
{
	if (field->number == F_RAW_DATA) {
		if (field->type != WD_WIRE_BYTES || facts->has_raw)
			return fail(model, WD_MALFORMED, field->start,
			    "raw_data stand twice, or are no bytes");
		facts->has_raw = true;
	}
	wd_wire_skip(&model->wire, field);
	if (field->end == field->start)
		return WD_OK;
	if (facts->kinds == 0)
		facts->start = field->start;
	facts->kinds |= 1U << field->number;
	facts->end = field->end;
	facts->data_bytes += field->end - field->start;
	return WD_OK;
}

static enum wd_status
take_number(struct wd_onnx_model *model, const struct wd_buf *text, bool *has,
    uint64_t *number)
{
	if (*has || !wd_slice_number(wd_buf_slice(text), 10, number) ||
	    *number > INT64_MAX)
		return fail(model, WD_MALFORMED, wd_wire_at(&model->wire),
		    "offset or length of external data stand twice, or are no "
		    "number from 0 to 2^63");
	*has = true;
	return WD_OK;
}

/* One entry of external_data; docs/ExternalData.md. */
static enum wd_status
take_external(struct wd_onnx_model *model, struct facts *facts, uint64_t end)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf value;
	struct wd_slice key;
	enum wd_status st;
	char *copy;

	wd_buf_init(&value, WD_MAX_ONNX_NAME);
	st = wd_onnx_entry(model, end, &model->text, &value);
	if (st != WD_OK)
		return st;
	key = wd_buf_slice(&model->text);
	if (wd_slice_equal(key, wd_slice_text("offset")))
		return take_number(
		    model, &value, &facts->has_offset, &facts->offset);
	if (wd_slice_equal(key, wd_slice_text("length")))
		return take_number(
		    model, &value, &facts->has_length, &facts->length);
	if (!wd_slice_equal(key, wd_slice_text("location")))
		return WD_OK;
	if (facts->location.data != NULL)
		return fail(model, WD_MALFORMED, wd_wire_at(&model->wire),
		    "a tensor's external data have two locations");
	st = wd_draft_copy(
	    model->build, wd_buf_slice(&value), &copy, model->err);
	if (st == WD_OK)
		facts->location =
		    (struct wd_slice){ (const uint8_t *)copy, value.len };
	return st;
}

static enum wd_status
take_field(struct wd_onnx_model *model, struct facts *facts,
    const struct wd_wire_field *field)
{
	switch (field->number) {
	case F_DIMS:
		return read_dims(model, facts, field);
	case F_DATA_TYPE:
		facts->type = field->type == WD_WIRE_VARINT ? field->value : 0;
		return WD_OK;
	case F_SEGMENT:
		return fail(model, WD_UNSUPPORTED, field->start,
		    "a tensor is cut into segments, which no tool writes");
	case F_NAME:
		return wd_onnx_text(model, field, &facts->name);
	case F_FLOAT_DATA:
	case F_INT32_DATA:
	case F_STRING_DATA:
	case F_INT64_DATA:
	case F_RAW_DATA:
	case F_DOUBLE_DATA:
	case F_UINT64_DATA:
		return take_data(model, facts, field);
	case F_EXTERNAL_DATA:
		if (field->type != WD_WIRE_BYTES)
			break;
		return take_external(model, facts, field->end);
	case F_DATA_LOCATION:
		facts->external = field->value == 1;
		return WD_OK;
	default:
		break;
	}
	wd_wire_skip(&model->wire, field);
	return WD_OK;
}

/* Types below a byte fill whole bytes at the end of the tensor. */
static bool
size_of(const struct wd_encoding *type, uint64_t elements, uint64_t *size)
{
	uint64_t bits;

	if (!wd_mul_u64(elements, type->bits, &bits) || bits > INT64_MAX)
		return false;
	*size = (bits + 7) / 8;
	return true;
}

static enum wd_status
name_type(struct wd_onnx_model *model, struct facts *facts,
    const struct wd_encoding **type)
{
	char text[32], *copy;
	enum wd_status st;

	*type = facts->type < TYPE_COUNT ? &types[facts->type] : NULL;
	if (*type != NULL && (*type)->name != NULL) {
		facts->tensor.encoding = (*type)->name;
		return WD_OK;
	}
	*type = NULL;
	(void)snprintf(text, sizeof(text), "unknown(%llu)",
	    (unsigned long long)facts->type);
	st =
	    wd_draft_copy(model->build, wd_slice_text(text), &copy, model->err);
	if (st == WD_OK)
		facts->tensor.encoding = copy;
	return st;
}

static enum wd_status
place_external(struct wd_onnx_model *model, struct facts *facts, uint64_t need,
    bool is_known, uint64_t at)
{
	struct wd_tensor *tensor = &facts->tensor;

	if (facts->kinds != 0 || facts->location.len == 0)
		return fail(model, WD_MALFORMED, at,
		    "a tensor with external data has data of its own, or no "
		    "location");
	if (is_known && facts->has_length && facts->length != need)
		return fail(model, WD_MALFORMED, at,
		    "a tensor's external data are not as long as its type and "
		    "dimensions say");
	tensor->offset = facts->offset;
	tensor->sized = is_known || facts->has_length;
	tensor->size_bytes = facts->has_length ? facts->length :
	    is_known                           ? need :
						 0;
	if (tensor->size_bytes > INT64_MAX - tensor->offset)
		return fail(model, WD_MALFORMED, at,
		    "a tensor's external data end beyond any file");
	return wd_onnx_location(model, facts->location, &tensor->file);
}

/* Data in the file itself; what stands in typed fields may be written shorter
 * than it is, so only raw bytes can be held against the type. */
static enum wd_status
place_inline(struct wd_onnx_model *model, struct facts *facts, uint64_t need,
    bool is_known, uint64_t at)
{
	struct wd_tensor *tensor = &facts->tensor;

	if ((facts->kinds & (facts->kinds - 1)) != 0)
		return fail(model, WD_MALFORMED, at,
		    "a tensor's data stand in two kinds of fields");
	if (is_known && (facts->kinds & 1U << F_RAW_DATA) != 0 &&
	    facts->data_bytes != need)
		return fail(model, WD_MALFORMED, at,
		    "a tensor's data are not as long as its type and "
		    "dimensions say");
	tensor->offset = facts->start;
	tensor->size_bytes = facts->end - facts->start;
	tensor->sized = true;
	return WD_OK;
}

static enum wd_status
place_data(struct wd_onnx_model *model, struct facts *facts, uint64_t at)
{
	const struct wd_encoding *type = NULL;
	struct wd_tensor *tensor = &facts->tensor;
	enum wd_status st = name_type(model, facts, &type);
	bool is_known = type != NULL && type->bits > 0;
	uint64_t need = 0;

	if (st != WD_OK)
		return st;
	if (is_known && !size_of(type, tensor->elements, &need))
		return fail(model, WD_MALFORMED, at,
		    "a tensor is larger than any file");
	/* Texts are no parameters. */
	tensor->parameters = facts->type == TYPE_STRING ? 0 : tensor->elements;
	return facts->external ?
	    place_external(model, facts, need, is_known, at) :
	    place_inline(model, facts, need, is_known, at);
}

static enum wd_status
note_no_data(struct wd_onnx_model *model, const struct facts *facts)
{
	if (facts->external || facts->kinds != 0 || facts->tensor.elements == 0)
		return WD_OK;
	if (model->without_data++ > 0)
		return WD_OK;
	return wd_draft_copy(model->build, wd_slice_text(facts->tensor.name),
	    &model->first_without_data, model->err);
}

static enum wd_status
keep_name(struct wd_onnx_model *model, struct facts *facts, uint64_t at)
{
	enum wd_status st;
	char *copy;

	if (facts->name.len > WD_MAX_TENSOR_NAME)
		return fail(model, WD_LIMIT, at,
		    "a tensor's name is longer than 1024 bytes");
	st = wd_grow((void **)&model->names, model->name_count,
	    &model->name_capacity, sizeof(*model->names), WD_MAX_TENSORS);
	if (st == WD_LIMIT)
		return fail(model, st, at,
		    "there are more than 1,000,000 tensors, which no model "
		    "has");
	if (st != WD_OK)
		return wd_fail(model->err, st, "no memory for the tensors");
	model->names[model->name_count++] = facts->name;
	if (wd_buf_append(&model->place, facts->name.data, facts->name.len) !=
	    WD_OK)
		return wd_fail(model->err, model->place.status,
		    "the name of a tensor and its place are too long");
	st = wd_draft_escaped(
	    model->build, wd_buf_slice(&model->place), &copy, model->err);
	if (st != WD_OK)
		return st;
	facts->tensor.name = copy;
	facts->tensor.name_len = wd_slice_text(copy).len;
	return WD_OK;
}

enum wd_status
wd_onnx_tensor(struct wd_onnx_model *model, uint64_t end)
{
	struct facts facts = { .tensor = { .elements = 1 } };
	uint64_t at = wd_wire_at(&model->wire);
	struct wd_wire_field field;
	enum wd_status st = WD_OK;

	while (st == WD_OK && wd_wire_next(&model->wire, end, &field))
		st = take_field(model, &facts, &field);
	if (st == WD_OK)
		st = model->wire.status;
	if (st == WD_OK)
		st = keep_name(model, &facts, at);
	if (st == WD_OK)
		st = place_data(model, &facts, at);
	if (st == WD_OK)
		st = note_no_data(model, &facts);
	if (st == WD_OK)
		st = wd_draft_tensor(model->build, &facts.tensor, model->err);
	return st;
}
