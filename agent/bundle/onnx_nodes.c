/* What operators say of their inputs: which initializers are scales and zero
 * points, and which hold several parameters in one element. ONNX operators:
 * docs/Operators.md; the others: ONNX Runtime, docs/ContribOperators.md. */
#include "bundle/onnx_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/limits.h"
#include "base/mem.h"

#define MOST_INPUTS 16
#define OPERATOR_BYTES 64
#define IN(i) (1U << (i))

/* `zero` and `packed` have a bit for each input. */
static const struct op {
	const char *name;
	unsigned zero;   /* scales, zero points, indices */
	unsigned packed; /* `bits` apart */
	enum { BY_SHAPE, BY_K_N, BY_BITS } count;
	const char *bits_attribute; /* its default is 4 */
} ops[] = {
	{ "ConvInteger", IN(2) | IN(3), 0, BY_SHAPE, NULL },
	{ "DequantizeLinear", IN(1) | IN(2), 0, BY_SHAPE, NULL },
	{ "DynamicQuantizeLinear", 0, 0, BY_SHAPE, NULL },
	{ "DynamicQuantizeMatMul", IN(2) | IN(3), 0, BY_SHAPE, NULL },
	{ "GatherBlockQuantized", IN(1) | IN(2) | IN(3), IN(0), BY_BITS,
	    "bits" },
	{ "MatMulBnb4", IN(2), IN(1), BY_K_N, NULL },
	{ "MatMulInteger", IN(2) | IN(3), 0, BY_SHAPE, NULL },
	{ "MatMulIntegerToFloat", IN(2) | IN(3) | IN(4) | IN(5), 0, BY_SHAPE,
	    NULL },
	{ "MatMulNBits", IN(2) | IN(3) | IN(4), IN(1), BY_K_N, "bits" },
	{ "QAttention", IN(3) | IN(4) | IN(6) | IN(7), 0, BY_SHAPE, NULL },
	{ "QGemm", IN(1) | IN(2) | IN(4) | IN(5) | IN(7) | IN(8), 0, BY_SHAPE,
	    NULL },
	{ "QLinearConv", IN(1) | IN(2) | IN(4) | IN(5) | IN(6) | IN(7), 0,
	    BY_SHAPE, NULL },
	{ "QLinearMatMul", IN(1) | IN(2) | IN(4) | IN(5) | IN(6) | IN(7), 0,
	    BY_SHAPE, NULL },
	{ "QMoE", IN(3) | IN(6) | IN(9) | IN(11) | IN(12) | IN(13),
	    IN(2) | IN(5) | IN(8), BY_BITS, "expert_weight_bits" },
	{ "QuantizeLinear", IN(1) | IN(2), 0, BY_SHAPE, NULL },
};

struct node {
	const struct op *op;
	struct wd_slice inputs[MOST_INPUTS];
	unsigned input_count;
	uint64_t k, n, bits;
};

static const struct op *
find_op(struct wd_slice name)
{
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (wd_slice_equal(name, wd_slice_text(ops[i].name)))
			return &ops[i];
	return NULL;
}

/* Operators that are not in the table and whose names say that they work on
 * packed weights. */
static bool
seems_packed(struct wd_slice name)
{
	static const char *const signs[] = { "NBits", "Bnb4", "BlockQuantized",
		"Fp4", "Fp8" };
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (memmem(name.data, name.len, signs[i], strlen(signs[i])) !=
		    NULL)
			return true;
	return false;
}

static enum wd_status
note_unknown(struct wd_onnx_model *model)
{
	if (model->not_understood++ > 0)
		return WD_OK;
	return wd_draft_escaped(model->build, wd_buf_slice(&model->text),
	    &model->first_not_understood, model->err);
}

/* NodeProto.op_type (4), wherever in the node it stands. */
static enum wd_status
read_op(struct wd_onnx_model *model, uint64_t end, const struct op **op)
{
	struct wd_wire_field field;

	*op = NULL;
	while (wd_wire_next(&model->wire, end, &field)) {
		if (field.number != 4 || field.type != WD_WIRE_BYTES) {
			wd_wire_skip(&model->wire, &field);
			continue;
		}
		wd_buf_reset(&model->text);
		if (wd_wire_copy(&model->wire, &field, &model->text) != WD_OK)
			break;
		*op = find_op(wd_buf_slice(&model->text));
		if (*op == NULL && seems_packed(wd_buf_slice(&model->text)))
			return note_unknown(model);
	}
	return model->wire.status;
}

/* AttributeProto: name (1) and i (3). */
static enum wd_status
read_attribute(struct wd_onnx_model *model, uint64_t end, struct node *node)
{
	struct wd_wire_field field;
	struct wd_slice name;
	uint64_t value = 0;

	wd_buf_reset(&model->text);
	while (wd_wire_next(&model->wire, end, &field)) {
		if (field.number == 3 && field.type == WD_WIRE_VARINT)
			value = field.value;
		if (field.number == 1 && field.type == WD_WIRE_BYTES &&
		    wd_wire_copy(&model->wire, &field, &model->text) != WD_OK)
			break;
		wd_wire_skip(&model->wire, &field);
	}
	name = wd_buf_slice(&model->text);
	if (wd_slice_equal(name, wd_slice_text("K")))
		node->k = value;
	else if (wd_slice_equal(name, wd_slice_text("N")))
		node->n = value;
	else if (node->op->bits_attribute != NULL &&
	    wd_slice_equal(name, wd_slice_text(node->op->bits_attribute)))
		node->bits = value;
	return model->wire.status;
}

static enum wd_status
read_node(struct wd_onnx_model *model, uint64_t end, struct node *node)
{
	enum wd_status st = WD_OK;
	struct wd_wire_field field;

	while (st == WD_OK && wd_wire_next(&model->wire, end, &field)) {
		if (field.number == 1 && node->input_count < MOST_INPUTS)
			st = wd_onnx_text(
			    model, &field, &node->inputs[node->input_count++]);
		else if (field.number == 5 && field.type == WD_WIRE_BYTES)
			st = read_attribute(model, field.end, node);
		else
			wd_wire_skip(&model->wire, &field);
	}
	return st == WD_OK ? model->wire.status : st;
}

static enum wd_status
add_role(struct wd_onnx_model *model, const struct wd_onnx_role *role)
{
	enum wd_status st;

	/* An input that is left out has no name. */
	if (role->name.len == 0)
		return WD_OK;
	st = wd_grow((void **)&model->roles, model->role_count,
	    &model->role_capacity, sizeof(*model->roles), WD_MAX_TENSORS);
	if (st != WD_OK)
		return wd_fail(model->err, st,
		    st == WD_LIMIT ? "the graph has too many operators" :
				     "no memory for the graph");
	model->roles[model->role_count++] = *role;
	return WD_OK;
}

static enum wd_status
add_roles(struct wd_onnx_model *model, const struct node *node)
{
	enum wd_status st = WD_OK;
	uint64_t product = 0;
	unsigned i;

	/* A product that overflows fits no tensor; 0 bits are no packing. */
	if (node->op->count == BY_K_N &&
	    !wd_mul_u64(node->k, node->n, &product))
		product = UINT64_MAX;
	for (i = 0; i < node->input_count && st == WD_OK; i++) {
		struct wd_onnx_role role = { .name = node->inputs[i] };

		if ((node->op->packed & IN(i)) != 0) {
			role.parameters = product;
			role.by_size = node->op->count == BY_BITS;
			role.bits = node->bits >= 1 && node->bits <= 8 ?
			    (unsigned)node->bits :
			    64;
		} else if ((node->op->zero & IN(i)) == 0) {
			continue;
		}
		st = add_role(model, &role);
	}
	return st;
}

enum wd_status
wd_onnx_node(struct wd_onnx_model *model, uint64_t end)
{
	uint64_t start = wd_wire_at(&model->wire);
	struct node node = { .bits = 4 };
	enum wd_status st = read_op(model, end, &node.op);

	if (st == WD_OK && node.op != NULL) {
		wd_wire_seek(&model->wire, start);
		st = read_node(model, end, &node);
		if (st == WD_OK)
			st = add_roles(model, &node);
	}
	wd_wire_seek(&model->wire, start);
	return st;
}

static int
compare_roles(const void *a, const void *b)
{
	const struct wd_onnx_role *left = a, *right = b;
	int order = wd_slice_compare(left->name, right->name);

	if (order != 0)
		return order;
	if (left->bits != right->bits)
		return left->bits < right->bits ? -1 : 1;
	return left->parameters < right->parameters ?
	    -1 :
	    left->parameters > right->parameters;
}

static const struct wd_onnx_role *
find_role(const struct wd_onnx_model *model, struct wd_slice name)
{
	size_t low = 0, high = model->role_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (wd_slice_compare(model->roles[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == model->role_count ||
	    !wd_slice_equal(model->roles[low].name, name))
		return NULL;
	return &model->roles[low];
}

/* A tensor whose element is as small as the operator's is not packed. */
static uint64_t
unpacked(const struct wd_onnx_role *role, const struct wd_tensor *tensor)
{
	uint64_t most = tensor->size_bytes > UINT64_MAX / 8 ?
	    0 :
	    tensor->size_bytes * 8 / role->bits;

	if (!role->by_size)
		return role->parameters <= most ? role->parameters : UINT64_MAX;
	return strcmp(tensor->encoding, "UINT8") == 0 ||
		strcmp(tensor->encoding, "INT8") == 0 ?
	    most :
	    tensor->elements;
}

static enum wd_status
apply(struct wd_onnx_model *model, struct wd_tensor *tensor,
    const struct wd_onnx_role *role)
{
	char shown[WD_SHORT_BYTES];
	uint64_t count;

	/* Tied to another one: counted there. */
	if (tensor->parameters == 0)
		return WD_OK;
	if (role->bits == 0) {
		tensor->parameters = 0;
		return WD_OK;
	}
	count = unpacked(role, tensor);
	if (count != UINT64_MAX) {
		tensor->parameters = count;
		return WD_OK;
	}
	model->build->bundle->parameters_known = false;
	return wd_draft_note(model->build, WD_NOTE_UNKNOWN, model->err,
	    "tensor %s is smaller than the operator that unpacks it says",
	    wd_draft_short(shown, tensor->name));
}

enum wd_status
wd_onnx_apply_roles(struct wd_onnx_model *model)
{
	struct wd_bundle *bundle = model->build->bundle;
	enum wd_status st = WD_OK;
	size_t i;

	if (model->role_count == 0)
		return WD_OK;
	qsort(model->roles, model->role_count, sizeof(*model->roles),
	    compare_roles);
	for (i = 0; i < bundle->tensor_count && st == WD_OK; i++) {
		const struct wd_onnx_role *role =
		    find_role(model, model->names[i]);

		if (role != NULL)
			st = apply(model, &bundle->tensors[i], role);
	}
	return st;
}
