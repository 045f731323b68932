#include "bundle/onnx_model.h"

#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"

/* The messages of onnx.proto that can hold tensors, and those with facts. */
enum kind {
	OTHER,
	MODEL,
	GRAPH,
	NODE,
	ATTRIBUTE,
	FUNCTION,
	SPARSE,
	TENSOR,
	OPSET,
	PROPERTY,
};

/* Which field of which message is entered, and as what. */
static const struct {
	enum kind in;
	uint32_t number;
	enum kind kind;
	bool is_list; /* of its parent; the place says which one */
} fields[] = {
	{ MODEL, 7, GRAPH, false },         /* graph */
	{ MODEL, 8, OPSET, false },         /* opset_import */
	{ MODEL, 14, PROPERTY, false },     /* metadata_props */
	{ MODEL, 25, FUNCTION, false },     /* functions */
	{ GRAPH, 1, NODE, false },          /* node */
	{ GRAPH, 5, TENSOR, false },        /* initializer */
	{ GRAPH, 15, SPARSE, true },        /* sparse_initializer */
	{ NODE, 5, ATTRIBUTE, false },      /* attribute */
	{ ATTRIBUTE, 5, TENSOR, false },    /* t */
	{ ATTRIBUTE, 6, GRAPH, false },     /* g */
	{ ATTRIBUTE, 10, TENSOR, true },    /* tensors */
	{ ATTRIBUTE, 11, GRAPH, true },     /* graphs */
	{ ATTRIBUTE, 22, SPARSE, false },   /* sparse_tensor */
	{ ATTRIBUTE, 23, SPARSE, true },    /* sparse_tensors */
	{ SPARSE, 1, TENSOR, false },       /* values */
	{ SPARSE, 2, TENSOR, true },        /* indices */
	{ FUNCTION, 7, NODE, false },       /* node */
	{ FUNCTION, 11, ATTRIBUTE, false }, /* attribute_proto */
};

/* A message that is being read. */
struct frame {
	enum kind kind;
	uint64_t end;
	uint32_t nodes;   /* seen in it */
	uint32_t members; /* of any other kind */
	size_t place_len; /* of the place of what stands in it */
	bool in_main_graph;
};

struct walk {
	struct wd_onnx_model *model;
	struct frame frames[WD_MAX_ONNX_DEPTH];
	size_t depth;
	bool has_graph;
	bool has_version;
};

/* ---- small texts ----------------------------------------------------------
 */

enum wd_status
wd_onnx_text(struct wd_onnx_model *model, const struct wd_wire_field *field,
    struct wd_slice *text)
{
	enum wd_status st;
	char *copy;

	if (field->type != WD_WIRE_BYTES)
		return wd_wire_fail(&model->wire, WD_MALFORMED, field->start,
		    "a name is no text");
	wd_buf_reset(&model->text);
	st = wd_wire_copy(&model->wire, field, &model->text);
	if (st == WD_OK)
		st = wd_draft_copy(model->build, wd_buf_slice(&model->text),
		    &copy, model->err);
	if (st == WD_OK)
		*text =
		    (struct wd_slice){ (const uint8_t *)copy, model->text.len };
	return st;
}

enum wd_status
wd_onnx_entry(struct wd_onnx_model *model, uint64_t end, struct wd_buf *key,
    struct wd_buf *value)
{
	struct wd_wire_field field;

	wd_buf_reset(key);
	wd_buf_reset(value);
	while (wd_wire_next(&model->wire, end, &field)) {
		struct wd_buf *out = field.number == 1 ? key :
		    field.number == 2                  ? value :
							 NULL;

		if (out == NULL || field.type != WD_WIRE_BYTES) {
			wd_wire_skip(&model->wire, &field);
			continue;
		}
		/* As protobuf has it, the last one counts. */
		wd_buf_reset(out);
		if (wd_wire_copy(&model->wire, &field, out) != WD_OK)
			break;
	}
	return model->wire.status;
}

/* ---- settings -------------------------------------------------------------
 */

static enum wd_status
put_setting(
    struct wd_onnx_model *model, const char *prefix, struct wd_slice name)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf key;

	wd_buf_init(&key, 256 + 4 * WD_MAX_ONNX_NAME);
	(void)wd_buf_printf(&key, "bundle.%s", prefix);
	if (wd_buf_append(&key, name.data, name.len) != WD_OK)
		return wd_fail(model->err, key.status,
		    "the name of a setting is too long");
	return wd_draft_setting(
	    model->build, wd_buf_slice(&key), NULL, model->err);
}

static enum wd_status
put_number(struct wd_onnx_model *model, const char *prefix,
    struct wd_slice name, uint64_t number)
{
	wd_canon_reset(&model->build->canon);
	wd_canon_signed(&model->build->canon, (int64_t)number);
	return put_setting(model, prefix, name);
}

static enum wd_status
put_text(struct wd_onnx_model *model, const char *prefix, struct wd_slice name,
    struct wd_slice text)
{
	wd_canon_reset(&model->build->canon);
	wd_canon_bytes(&model->build->canon, text.data, text.len);
	return put_setting(model, prefix, name);
}

/* A ModelProto's own numbers and texts. */
static const struct {
	uint32_t number;
	enum wd_wire_type type;
	const char *name;
} facts[] = {
	{ 1, WD_WIRE_VARINT, "ir_version" },
	{ 2, WD_WIRE_BYTES, "producer_name" },
	{ 3, WD_WIRE_BYTES, "producer_version" },
	{ 4, WD_WIRE_BYTES, "domain" },
	{ 5, WD_WIRE_VARINT, "model_version" },
};

static enum wd_status
read_fact(struct wd_onnx_model *model, const struct wd_wire_field *field)
{
	struct wd_slice none = { NULL, 0 };
	enum wd_status st;
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (facts[i].number != field->number ||
		    facts[i].type != field->type)
			continue;
		if (field->type == WD_WIRE_VARINT)
			return put_number(
			    model, facts[i].name, none, field->value);
		wd_buf_reset(&model->text);
		st = wd_wire_copy(&model->wire, field, &model->text);
		return st != WD_OK ? st :
				     put_text(model, facts[i].name, none,
					 wd_buf_slice(&model->text));
	}
	wd_wire_skip(&model->wire, field);
	return WD_OK;
}

/* OperatorSetIdProto: domain (1), version (2). */
static enum wd_status
read_opset(struct wd_onnx_model *model, uint64_t end)
{
	struct wd_wire_field field;
	uint64_t version = 0;

	wd_buf_reset(&model->text);
	while (wd_wire_next(&model->wire, end, &field)) {
		if (field.number == 2 && field.type == WD_WIRE_VARINT)
			version = field.value;
		if (field.number == 1 && field.type == WD_WIRE_BYTES) {
			wd_buf_reset(&model->text);
			if (wd_wire_copy(&model->wire, &field, &model->text) !=
			    WD_OK)
				break;
		}
		wd_wire_skip(&model->wire, &field);
	}
	if (model->wire.status != WD_OK)
		return model->wire.status;
	return put_number(model, "opset_import.",
	    model->text.len > 0 ? wd_buf_slice(&model->text) :
				  wd_slice_text("ai.onnx"),
	    version);
}

static enum wd_status
read_property(struct wd_onnx_model *model, uint64_t end)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf value;
	enum wd_status st;

	wd_buf_init(&value, WD_MAX_ONNX_TEXT);
	st = wd_onnx_entry(model, end, &model->text, &value);
	return st != WD_OK ?
	    st :
	    put_text(model, "metadata_props.", wd_buf_slice(&model->text),
		wd_buf_slice(&value));
}

/* ---- the walk -------------------------------------------------------------
 */

static size_t
field_row(enum kind in, const struct wd_wire_field *field)
{
	size_t i, count = sizeof(fields) / sizeof(fields[0]);

	for (i = 0; i < count; i++)
		if (fields[i].in == in && fields[i].number == field->number)
			break;
	return i;
}

static void
cut_place(struct wd_buf *place, size_t len)
{
	if (place->data != NULL && len <= place->len) {
		place->len = len;
		place->data[len] = '\0';
	}
}

/* Appends where the new member stands within its parent. */
static void
add_place(struct wd_buf *place, struct frame *parent, size_t row)
{
	uint32_t at =
	    fields[row].kind == NODE ? parent->nodes++ : parent->members++;

	if (fields[row].kind == NODE)
		(void)wd_buf_printf(place, "node%u", at);
	else if (fields[row].kind == FUNCTION)
		(void)wd_buf_printf(place, "function%u/", at);
	else if (fields[row].kind == ATTRIBUTE)
		(void)wd_buf_printf(place, ".%u", at);
	else if (parent->kind == GRAPH && fields[row].kind == SPARSE)
		(void)wd_buf_printf(place, "sparse%u", at);
	else if (parent->kind == SPARSE)
		(void)wd_buf_text(
		    place, fields[row].is_list ? ".indices/" : "/");
	else if (parent->kind == ATTRIBUTE && fields[row].is_list)
		(void)wd_buf_printf(
		    place, ".%u%s", at, fields[row].kind == SPARSE ? "" : "/");
	else if (parent->kind == ATTRIBUTE && fields[row].kind != SPARSE)
		(void)wd_buf_text(place, "/");
}

static enum wd_status
enter(struct walk *walk, const struct wd_wire_field *field, size_t row)
{
	struct frame *parent = &walk->frames[walk->depth - 1];
	struct wd_onnx_model *model = walk->model;

	if (walk->depth == WD_MAX_ONNX_DEPTH)
		return wd_wire_fail(&model->wire, WD_LIMIT, field->start,
		    "graphs are nested deeper than in any known model");
	if (model->place.status != WD_OK)
		return wd_fail(model->err, model->place.status,
		    "no memory for the name of a tensor");
	walk->frames[walk->depth++] = (struct frame){ .kind = fields[row].kind,
		.end = field->end,
		.place_len = model->place.len,
		.in_main_graph = parent->kind == MODEL };
	if (fields[row].kind != NODE)
		return WD_OK;
	return wd_onnx_node(model, field->end);
}

static enum wd_status
read_tensor(struct walk *walk, const struct frame *parent, uint64_t end)
{
	struct wd_onnx_model *model = walk->model;
	const struct wd_bundle *bundle = model->build->bundle;
	enum wd_status st = wd_onnx_tensor(model, end);
	uint64_t elements;

	if (st != WD_OK || parent->in_main_graph)
		return st;
	elements = bundle->tensors[bundle->tensor_count - 1].elements;
	model->elsewhere++;
	/* The sum over all tensors is checked at the end. */
	if (model->elsewhere_elements <= UINT64_MAX - elements)
		model->elsewhere_elements += elements;
	return WD_OK;
}

static enum wd_status
take_field(struct walk *walk, const struct wd_wire_field *field)
{
	struct frame *frame = &walk->frames[walk->depth - 1];
	struct wd_onnx_model *model = walk->model;
	size_t row = field_row(frame->kind, field);

	if (frame->kind == MODEL && field->number == 20)
		model->has_training = true;
	if (row == sizeof(fields) / sizeof(fields[0]) ||
	    field->type != WD_WIRE_BYTES) {
		if (frame->kind == MODEL)
			return read_fact(model, field);
		wd_wire_skip(&model->wire, field);
		return WD_OK;
	}
	if (frame->kind == MODEL && fields[row].kind == GRAPH) {
		/* Of two, readers take one or both. */
		if (walk->has_graph)
			return wd_wire_fail(&model->wire, WD_MALFORMED,
			    field->start, "the model has two graphs");
		walk->has_graph = true;
	}
	cut_place(&model->place, frame->place_len);
	if (frame->kind != MODEL || fields[row].kind == FUNCTION)
		add_place(&model->place, frame, row);
	if (fields[row].kind == OPSET)
		return read_opset(model, field->end);
	if (fields[row].kind == PROPERTY)
		return read_property(model, field->end);
	if (fields[row].kind == TENSOR)
		return read_tensor(walk, frame, field->end);
	return enter(walk, field, row);
}

/* From field to field; a message that was entered is left at its end. */
static enum wd_status
walk_fields(struct walk *walk)
{
	struct wd_onnx_model *model = walk->model;
	enum wd_status st = WD_OK;

	while (walk->depth > 0 && st == WD_OK) {
		struct frame *frame = &walk->frames[walk->depth - 1];
		struct wd_wire_field field;

		if (wd_wire_next(&model->wire, frame->end, &field))
			st = take_field(walk, &field);
		else if (model->wire.status == WD_OK)
			walk->depth--;
		else
			st = model->wire.status;
	}
	if (st == WD_OK && !walk->has_graph)
		st = wd_fail(model->err, WD_MALFORMED,
		    "it is no ONNX model: there is no graph in it");
	return st;
}

/* ---- what is worth knowing ------------------------------------------------
 */

static enum wd_status
note_elsewhere(struct wd_onnx_model *model)
{
	if (model->elsewhere == 0)
		return WD_OK;
	return wd_draft_note(model->build, WD_NOTE_DECLARED, model->err,
	    "%llu tensors with %llu elements are constants of nodes, or "
	    "stand in subgraphs and functions; they were counted",
	    (unsigned long long)model->elsewhere,
	    (unsigned long long)model->elsewhere_elements);
}

static enum wd_status
add_notes(struct wd_onnx_model *model)
{
	struct wd_draft *build = model->build;
	char shown[WD_SHORT_BYTES];
	enum wd_status st = note_elsewhere(model);

	if (st == WD_OK && model->without_data > 0)
		st = wd_draft_note(build, WD_NOTE_INCOMPLETE, model->err,
		    "%llu tensors have no data, such as %s",
		    (unsigned long long)model->without_data,
		    wd_draft_short(shown, model->first_without_data));
	if (st == WD_OK && model->not_understood > 0) {
		build->bundle->parameters_known = false;
		st = wd_draft_note(build, WD_NOTE_UNKNOWN, model->err,
		    "%llu operators pack weights in a way that is not known, "
		    "such as %s",
		    (unsigned long long)model->not_understood,
		    wd_draft_short(shown, model->first_not_understood));
	}
	if (st == WD_OK && model->has_training)
		st = wd_draft_note(build, WD_NOTE_NOT_PART, model->err,
		    "the model carries training information, which is not "
		    "served and was not counted");
	return st;
}

static void
release(struct wd_onnx_model *model)
{
	wd_wire_release(&model->wire);
	wd_buf_release(&model->text);
	wd_buf_release(&model->place);
	wd_free(model->files);
	wd_free(model->names);
	wd_free(model->roles);
}

enum wd_status
wd_onnx_describe(struct wd_draft *build, struct wd_error *err)
{
	WD_CLEANUP(release)
	struct wd_onnx_model model = { .build = build, .err = err };
	struct walk walk = { .model = &model, .depth = 1 };
	enum wd_status st;

	build->bundle->format = WD_FORMAT_ONNX;
	wd_buf_init(&model.text, WD_MAX_ONNX_NAME);
	wd_buf_init(&model.place, 2 * WD_MAX_ONNX_NAME);
	st = wd_wire_init(&model.wire, build->given, WD_MAX_ONNX_HEADER, err);
	walk.frames[0] =
	    (struct frame){ .kind = MODEL, .end = build->given->size_bytes };
	if (st == WD_OK)
		st = walk_fields(&walk);
	if (st == WD_OK)
		st = wd_onnx_files(&model);
	if (st == WD_OK)
		st = wd_onnx_apply_roles(&model);
	if (st == WD_OK)
		st = add_notes(&model);
	build->bundle->single_file = build->bundle->file_count == 1;
	return st == WD_OK ? wd_draft_finish(build, err) : st;
}

/* ---- what it looks like ---------------------------------------------------
 */

/* The fields of a ModelProto and their wire types. */
static bool
is_model_field(const struct wd_wire_field *field)
{
	static const uint32_t texts = 1U << 2 | 1U << 3 | 1U << 4 | 1U << 6 |
	    1U << 7 | 1U << 8 | 1U << 14 | 1U << 20 | 1U << 25 | 1U << 26;

	if (field->number == 1 || field->number == 5)
		return field->type == WD_WIRE_VARINT;
	return field->number < 32 && (texts >> field->number & 1) != 0 &&
	    field->type == WD_WIRE_BYTES;
}

/* Whether what is entered begins with a field that a graph can have. */
static bool
begins_as_graph(struct wd_wire *wire, const struct wd_wire_field *graph)
{
	static const uint32_t known = 1U << 1 | 1U << 2 | 1U << 5 | 1U << 10 |
	    1U << 11 | 1U << 12 | 1U << 13 | 1U << 14 | 1U << 15 | 1U << 16;
	struct wd_wire_field field;

	return wd_wire_next(wire, graph->end, &field) && field.number < 32 &&
	    (known >> field.number & 1) != 0 && field.type == WD_WIRE_BYTES;
}

static bool
is_all_model(struct wd_wire *wire, uint64_t size)
{
	struct wd_wire_field field;
	unsigned graphs = 0, count = 0;

	while (wd_wire_next(wire, size, &field)) {
		/* Writers keep the order of numbers: the version is first. */
		if (!is_model_field(&field) || ++count > WD_MAX_ONNX_FIELDS ||
		    (count == 1 &&
			(field.number != 1 || field.value == 0 ||
			    field.value > 1000)))
			return false;
		if (field.number == 7 &&
		    (++graphs > 1 || !begins_as_graph(wire, &field)))
			return false;
		wd_wire_skip(wire, &field);
	}
	return wire->status == WD_OK && graphs == 1;
}

enum wd_status
wd_onnx_looks_like(
    const struct wd_source *source, bool *is, struct wd_error *err)
{
	WD_CLEANUP(wd_wire_release) struct wd_wire wire;
	enum wd_status st;

	*is = false;
	st = wd_wire_init(&wire, source, WD_MAX_ONNX_SNIFF, err);
	if (st != WD_OK)
		return st;
	*is = is_all_model(&wire, source->size_bytes);
	/* What is wrong with the bytes is the answer, not an error. */
	if (wire.status != WD_MALFORMED && wire.status != WD_TRUNCATED &&
	    wire.status != WD_LIMIT)
		return wire.status;
	if (err != NULL)
		wd_error_init(err);
	return WD_OK;
}
