/* ONNX models: what is counted, where it lies, and files of external data. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/onnx_make.h"
#include "support/suite.h"

static struct memory_folder folder;
static struct wd_bundle *bundle;
static struct wd_error err;
static struct wd_buf graph, node, inner, file;

static void
start(void)
{
	memory_folder_init(&folder);
	wd_buf_init(&graph, MAKE_MAX_BYTES);
	wd_buf_init(&node, MAKE_MAX_BYTES);
	wd_buf_init(&inner, MAKE_MAX_BYTES);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	wd_error_init(&err);
}

static void
stop(void)
{
	ck_assert_uint_eq(folder.open_now, 0);
	ck_assert_uint_eq(folder.strange_names, 0);
	wd_bundle_free(&bundle);
	wd_buf_release(&file);
	memory_folder_release(&folder);
}

static enum wd_status
describe(void)
{
	make_onnx_model(&file, &graph);
	(void)memory_folder_add(&folder, "model.onnx", wd_buf_slice(&file));
	return memory_folder_describe(&folder, "model.onnx", &bundle, &err);
}

static void
initializer(
    const char *name, uint64_t type, uint64_t a, uint64_t b, uint64_t raw)
{
	uint64_t dims[2] = { a, b };

	make_onnx_tensor(&inner, name, type, dims, 2, raw);
	make_pb_message(&graph, 5, &inner);
}

static void
external(const char *name, uint64_t elements, const char *location,
    const char *offset, const char *length)
{
	make_onnx_external(
	    &inner, name, 1, &elements, 1, location, offset, length);
	make_pb_message(&graph, 5, &inner);
}

static const struct wd_tensor *
tensor(const char *name)
{
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++)
		if (strcmp(bundle->tensors[i].name, name) == 0)
			return &bundle->tensors[i];
	ck_abort_msg("no tensor %s", name);
	return NULL;
}

START_TEST(a_model_in_one_file_is_counted)
{
	start();
	initializer("w", 1, 4, 8, 128);
	initializer("b", 10, 1, 3, 6);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_int_eq(bundle->format, WD_FORMAT_ONNX);
	ck_assert(bundle->single_file);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->note_count, 0);
	ck_assert_uint_eq(bundle->parameter_count, 35);
	ck_assert_uint_eq(bundle->tensor_bytes, 134);
	ck_assert_str_eq(tensor("w")->encoding, "FLOAT");
	ck_assert_str_eq(tensor("b")->encoding, "FLOAT16");
	ck_assert_uint_eq(tensor("w")->shape[1], 8);
	ck_assert_uint_eq(file.data[tensor("w")->offset], 0xa5);
	ck_assert_uint_eq(file.data[tensor("w")->offset - 1], 0x01);
	ck_assert_uint_eq(bundle->files[0].needed_bytes, file.len);
	ck_assert_str_eq(setting_of(bundle, "bundle.ir_version"), "10");
	ck_assert_str_eq(setting_of(bundle, "bundle.producer_name"), "maker");
	ck_assert_str_eq(
	    setting_of(bundle, "bundle.opset_import.ai.onnx"), "21");
	stop();
}
END_TEST

static const struct {
	uint64_t type;
	const char *name;
	uint64_t bytes; /* of 5 elements */
} types[] = {
	{ 1, "FLOAT", 20 },
	{ 2, "UINT8", 5 },
	{ 3, "INT8", 5 },
	{ 4, "UINT16", 10 },
	{ 5, "INT16", 10 },
	{ 6, "INT32", 20 },
	{ 7, "INT64", 40 },
	{ 9, "BOOL", 5 },
	{ 10, "FLOAT16", 10 },
	{ 11, "DOUBLE", 40 },
	{ 12, "UINT32", 20 },
	{ 13, "UINT64", 40 },
	{ 14, "COMPLEX64", 40 },
	{ 15, "COMPLEX128", 80 },
	{ 16, "BFLOAT16", 10 },
	{ 17, "FLOAT8E4M3FN", 5 },
	{ 18, "FLOAT8E4M3FNUZ", 5 },
	{ 19, "FLOAT8E5M2", 5 },
	{ 20, "FLOAT8E5M2FNUZ", 5 },
	{ 21, "UINT4", 3 },
	{ 22, "INT4", 3 },
	{ 23, "FLOAT4E2M1", 3 },
	{ 24, "FLOAT8E8M0", 5 },
	{ 25, "UINT2", 2 },
	{ 26, "INT2", 2 },
};

START_TEST(every_type_has_its_size)
{
	start();
	initializer("w", types[_i].type, 5, 1, types[_i].bytes);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_str_eq(bundle->tensors[0].encoding, types[_i].name);
	ck_assert_uint_eq(bundle->tensors[0].size_bytes, types[_i].bytes);
	ck_assert_uint_eq(bundle->parameter_count, 5);
	ck_assert(bundle->parameters_known);
	stop();
}
END_TEST

START_TEST(a_size_that_is_not_the_types_is_refused)
{
	start();
	initializer("w", types[_i].type, 5, 1, types[_i].bytes + 1);
	ck_assert_int_eq(describe(), WD_MALFORMED);
	ck_assert_uint_ne(err.offset, WD_ERROR_NO_OFFSET);
	stop();
}
END_TEST

/* C18: a type that is not known is counted and named. */
START_TEST(an_unknown_type_is_named)
{
	start();
	initializer("w", 99, 5, 2, 7);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_str_eq(bundle->tensors[0].encoding, "unknown(99)");
	ck_assert_uint_eq(bundle->tensors[0].size_bytes, 7);
	ck_assert_uint_eq(bundle->parameter_count, 10);
	stop();
}
END_TEST

/* C10 */
START_TEST(scalars_and_zeros_are_valid)
{
	start();
	make_onnx_tensor(&inner, "s", 1, NULL, 0, 4);
	make_pb_message(&graph, 5, &inner);
	initializer("z", 1, 0, 4, 0);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 1);
	ck_assert_uint_eq(bundle->note_count, 0);
	stop();
}
END_TEST

START_TEST(numbers_in_typed_fields_are_not_read)
{
	uint64_t dims[1] = { 3 };

	start();
	make_onnx_tensor(&inner, "f", 1, dims, 1, 0);
	make_pb_bytes(&inner, 4, wd_slice_text("twelve bytes"));
	make_pb_message(&graph, 5, &inner);
	make_onnx_tensor(&inner, "i", 7, dims, 1, 0);
	make_pb_number(&inner, 7, 1);
	make_pb_number(&inner, 7, 300);
	make_pb_number(&inner, 7, 3);
	make_pb_message(&graph, 5, &inner);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(tensor("f")->size_bytes, 12);
	ck_assert_int_eq(file.data[tensor("f")->offset], 't');
	ck_assert_uint_eq(bundle->parameter_count, 6);
	ck_assert_uint_eq(bundle->note_count, 0);
	stop();
}
END_TEST

START_TEST(texts_are_no_parameters)
{
	uint64_t dims[1] = { 2 };

	start();
	make_onnx_tensor(&inner, "words", 8, dims, 1, 0);
	make_pb_text(&inner, 6, "one");
	make_pb_text(&inner, 6, "two");
	make_pb_message(&graph, 5, &inner);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 0);
	ck_assert_uint_eq(bundle->stored_elements, 2);
	ck_assert(bundle->parameters_known);
	stop();
}
END_TEST

START_TEST(packed_dimensions_are_read)
{
	start();
	make_pb_bytes(&inner, 1, wd_slice_text("\x03\x04"));
	make_pb_number(&inner, 2, 2);
	make_pb_text(&inner, 8, "w");
	make_pb_bytes(&inner, 9, wd_slice_text("abcdefghijkl"));
	make_pb_message(&graph, 5, &inner);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 12);
	ck_assert_uint_eq(bundle->tensors[0].dims, 2);
	stop();
}
END_TEST

/* A tensor in field `field` of an attribute of a new node. */
static void
in_attribute(uint32_t field, const char *name)
{
	uint64_t dims[1] = { 4 };
	struct wd_buf attribute;

	wd_buf_init(&attribute, MAKE_MAX_BYTES);
	make_onnx_tensor(&inner, name, 1, dims, 1, 16);
	make_pb_text(&attribute, 1, "value");
	make_pb_message(&attribute, field, &inner);
	make_onnx_node(&node, "Constant", NULL);
	make_pb_message(&node, 5, &attribute);
	make_pb_message(&graph, 1, &node);
}

/* An initializer in a graph, in `depth` graphs in nodes. */
static void
in_subgraph(unsigned depth)
{
	uint64_t dims[1] = { 4 };
	struct wd_buf sub, attribute;
	unsigned i;

	wd_buf_init(&sub, MAKE_MAX_BYTES);
	wd_buf_init(&attribute, MAKE_MAX_BYTES);
	make_onnx_tensor(&inner, "w", 1, dims, 1, 16);
	make_pb_message(&sub, 5, &inner);
	for (i = 0; i < depth; i++) {
		make_pb_message(&attribute, 6, &sub);
		make_onnx_node(&node, "If", NULL);
		make_pb_message(&node, 5, &attribute);
		make_pb_message(i + 1 < depth ? &sub : &graph, 1, &node);
	}
}

START_TEST(subgraphs_and_constants_are_counted_and_said)
{
	start();
	initializer("w", 1, 2, 2, 16);
	in_attribute(5, "");
	in_subgraph(1);
	in_subgraph(2);
	in_attribute(10, "w");
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 20);
	ck_assert_uint_eq(tensor("w")->elements, 4);
	ck_assert_uint_eq(tensor("node0.0/")->elements, 4);
	ck_assert_uint_eq(tensor("node1.0/w")->elements, 4);
	ck_assert_uint_eq(tensor("node2.0/node0.0/w")->elements, 4);
	ck_assert_uint_eq(tensor("node3.0.0/w")->elements, 4);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_DECLARED,
	    "4 tensors with 16 elements are constants"));
	stop();
}
END_TEST

START_TEST(functions_and_sparse_tensors_are_counted)
{
	uint64_t dims[1] = { 4 };
	struct wd_buf sparse;

	start();
	wd_buf_init(&sparse, MAKE_MAX_BYTES);
	make_onnx_tensor(&inner, "s", 1, dims, 1, 16);
	make_pb_message(&sparse, 1, &inner);
	make_onnx_tensor(&inner, "", 7, dims, 1, 32);
	make_pb_message(&sparse, 2, &inner);
	make_pb_message(&graph, 15, &sparse);
	make_onnx_model(&file, &graph);
	/* A function with one Constant. */
	in_attribute(5, "c");
	make_pb_bytes(
	    &inner, 7, (struct wd_slice){ graph.data + 2, graph.len - 2 });
	make_pb_message(&file, 25, &inner);
	wd_buf_release(&graph);
	(void)memory_folder_add(&folder, "model.onnx", wd_buf_slice(&file));
	ck_assert_int_eq(
	    memory_folder_describe(&folder, "model.onnx", &bundle, &err),
	    WD_OK);
	ck_assert_uint_eq(tensor("sparse0/s")->elements, 4);
	ck_assert_uint_eq(tensor("sparse0.indices/")->elements, 4);
	ck_assert_uint_eq(tensor("function0/node0.0/c")->elements, 4);
	stop();
}
END_TEST

START_TEST(training_is_not_part)
{
	start();
	initializer("w", 1, 2, 2, 16);
	make_onnx_model(&file, &graph);
	make_pb_text(&file, 20, "");
	(void)memory_folder_add(&folder, "model.onnx", wd_buf_slice(&file));
	ck_assert_int_eq(
	    memory_folder_describe(&folder, "model.onnx", &bundle, &err),
	    WD_OK);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_NOT_PART, "training information"));
	stop();
}
END_TEST

/* ---- packed ---------------------------------------------------------------
 */

static void
quantised(const char *op, const char *const *inputs, const char *name_1,
    uint64_t value_1, const char *name_2, uint64_t value_2)
{
	make_onnx_node(&node, op, inputs);
	if (name_1 != NULL)
		make_onnx_int(&node, name_1, value_1);
	if (name_2 != NULL)
		make_onnx_int(&node, name_2, value_2);
	make_pb_message(&graph, 1, &node);
}

/* C2: packed weights are unpacked by arithmetic, bookkeeping counts 0. */
START_TEST(matmulnbits_counts_what_it_unpacks)
{
	static const char *const inputs[] = { "x", "w_Q4", "w_scales", "w_zp",
		NULL };

	start();
	/* K 100 is no whole number of blocks of 32: 4 blocks of 16 bytes. */
	initializer("w_Q4", 2, 8, 64, 512);
	initializer("w_scales", 1, 8, 4, 128);
	initializer("w_zp", 2, 8, 2, 16);
	initializer("bias", 1, 8, 1, 32);
	quantised("MatMulNBits", inputs, "K", 100, "N", 8);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert(bundle->parameters_known);
	ck_assert_uint_eq(tensor("w_Q4")->parameters, 800);
	ck_assert_uint_eq(bundle->parameter_count, 808);
	ck_assert_uint_eq(bundle->stored_elements, 512 + 32 + 16 + 8);
	stop();
}
END_TEST

START_TEST(matmulnbits_that_promises_too_much_is_not_believed)
{
	static const char *const inputs[] = { "x", "w", "s", NULL };

	start();
	initializer("w", 2, 8, 64, 512);
	initializer("s", 1, 8, 4, 128);
	quantised("MatMulNBits", inputs, "K", 129, "N", 8);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert(!bundle->parameters_known);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_UNKNOWN, "w is smaller than"));
	stop();
}
END_TEST

START_TEST(a_product_that_overflows_is_not_believed)
{
	static const char *const inputs[] = { "x", "w", "s", NULL };

	start();
	initializer("w", 2, 8, 64, 512);
	quantised("MatMulNBits", inputs, "K", UINT64_C(1) << 32, "N",
	    (UINT64_C(1) << 32) + 1);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert(!bundle->parameters_known);
	stop();
}
END_TEST

START_TEST(bits_by_size_are_unpacked)
{
	static const char *const inputs[] = { "w", "i", "s", NULL };

	start();
	initializer("w", 2, 8, 64, 512);
	initializer("s", 1, 8, 4, 128);
	quantised("GatherBlockQuantized", inputs, "bits", 4, NULL, 0);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 1024);
	stop();
}
END_TEST

START_TEST(elements_of_four_bits_are_not_unpacked_twice)
{
	static const char *const inputs[] = { "w", "i", "s", NULL };

	start();
	initializer("w", 21, 8, 64, 256);
	quantised("GatherBlockQuantized", inputs, NULL, 0, NULL, 0);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 512);
	stop();
}
END_TEST

START_TEST(scales_and_zero_points_count_nothing)
{
	static const char *const inputs[] = { "w", "w_scale", "w_zero", NULL };

	start();
	initializer("w", 3, 8, 64, 512);
	initializer("w_scale", 1, 8, 1, 32);
	initializer("w_zero", 3, 8, 1, 8);
	quantised("DequantizeLinear", inputs, NULL, 0, NULL, 0);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 512);
	stop();
}
END_TEST

START_TEST(an_operator_that_packs_in_an_unknown_way_is_said)
{
	start();
	initializer("w", 2, 8, 64, 512);
	quantised("MatMulNBitsMlp", NULL, NULL, 0, NULL, 0);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert(!bundle->parameters_known);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_UNKNOWN, "MatMulNBitsMlp"));
	stop();
}
END_TEST

/* ---- external data --------------------------------------------------------
 */

static void
beside(const char *name, size_t len)
{
	static const uint8_t zeros[4096];

	(void)memory_folder_add(&folder, name, (struct wd_slice){ zeros, len });
}

START_TEST(external_data_lie_in_another_file)
{
	start();
	external("a", 4, "model.onnx_data", "64", "16");
	external("b", 8, "model.onnx_data", "128", NULL);
	external("c", 2, "./another", NULL, "8");
	beside("model.onnx_data", 160);
	beside("another", 8);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert(!bundle->single_file);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->note_count, 0);
	ck_assert_uint_eq(bundle->parameter_count, 14);
	ck_assert_uint_eq(bundle->file_count, 3);
	ck_assert_str_eq(bundle->files[0].name, "another");
	ck_assert_str_eq(bundle->files[1].name, "model.onnx");
	ck_assert_str_eq(bundle->files[2].name, "model.onnx_data");
	ck_assert_uint_eq(tensor("b")->file, 2);
	ck_assert_uint_eq(tensor("b")->offset, 128);
	ck_assert_uint_eq(tensor("b")->size_bytes, 32);
	ck_assert_uint_eq(tensor("c")->file, 0);
	ck_assert_uint_eq(bundle->files[2].data_offset, 64);
	ck_assert_uint_eq(bundle->files[2].needed_bytes, 160);
	stop();
}
END_TEST

/* docs/ExternalData.md has a checksum too; newer versions may have more. */
START_TEST(what_is_not_known_of_a_tensor_is_passed_over)
{
	uint64_t dims[1] = { 4 };
	struct wd_buf entry;

	start();
	wd_buf_init(&entry, 1024);
	make_onnx_external(&inner, "a", 1, dims, 1, "data", "0", "16");
	make_pb_text(&entry, 1, "checksum");
	make_pb_text(&entry, 2, "da39a3ee");
	make_pb_message(&inner, 13, &entry);
	make_pb_number(&inner, 13, 1);
	make_pb_text(&inner, 9, "");
	make_pb_text(&inner, 12, "a text about it");
	make_pb_number(&inner, 99, 1);
	make_pb_message(&graph, 5, &inner);
	beside("data", 16);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(bundle->note_count, 0);
	ck_assert_uint_eq(bundle->parameter_count, 4);
	stop();
}
END_TEST

/* C26 */
START_TEST(external_data_that_are_cut_are_incomplete)
{
	start();
	external("a", 4, "data", "64", "16");
	beside("data", 79);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert(bundle->incomplete);
	ck_assert_ptr_nonnull(note_with(
	    bundle, WD_NOTE_INCOMPLETE, "data is cut: need 80 bytes, have 79"));
	stop();
}
END_TEST

START_TEST(external_data_that_are_missing_are_incomplete)
{
	start();
	external("a", 4, "data", "64", "16");
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert(bundle->incomplete);
	ck_assert(!bundle->files[0].present);
	ck_assert_uint_eq(bundle->parameter_count, 4);
	stop();
}
END_TEST

static const struct {
	const char *location;
	enum wd_note_kind kind;
	const char *note;
} outside[] = {
	{ "../other", WD_NOTE_MALFORMED, "lead out of the model's folder" },
	{ "..", WD_NOTE_MALFORMED, "lead out of the model's folder" },
	{ "a/../../b", WD_NOTE_MALFORMED, "lead out of the model's folder" },
	{ "/etc/passwd", WD_NOTE_MALFORMED, "lead out of the model's folder" },
	{ "sub/data", WD_NOTE_INCOMPLETE, "do not lie beside the model" },
	{ ".", WD_NOTE_INCOMPLETE, "do not lie beside the model" },
};

START_TEST(external_data_elsewhere_are_never_opened)
{
	start();
	external("a", 4, outside[_i].location, "64", "16");
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert(bundle->incomplete);
	ck_assert_ptr_nonnull(
	    note_with(bundle, outside[_i].kind, outside[_i].note));
	ck_assert_ptr_nonnull(
	    note_with(bundle, outside[_i].kind, outside[_i].location));
	stop();
}
END_TEST

/* C7: tied tensors count once as stored. */
START_TEST(the_same_bytes_count_once)
{
	start();
	external("a", 4, "data", "0", "16");
	external("b", 4, "data", "0", "16");
	external("c", 4, "data", "16", "16");
	beside("data", 32);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 8);
	ck_assert_uint_eq(tensor("a")->parameters, 4);
	ck_assert_uint_eq(tensor("b")->parameters, 0);
	ck_assert_uint_eq(bundle->tensor_bytes, 32);
	ck_assert_ptr_nonnull(note_with(
	    bundle, WD_NOTE_DECLARED, "1 tensors lie on the bytes of another"));
	stop();
}
END_TEST

START_TEST(tensors_without_data_are_incomplete)
{
	start();
	initializer("w", 1, 4, 8, 0);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert(bundle->incomplete);
	ck_assert_ptr_nonnull(note_with(
	    bundle, WD_NOTE_INCOMPLETE, "1 tensors have no data, such as w"));
	stop();
}
END_TEST

/* A gigabyte of tensors costs the bytes around them. */
START_TEST(tensor_bytes_are_not_read)
{
	struct counting_source counting;
	struct wd_source source;
	unsigned i;
	char name[16];

	start();
	for (i = 0; i < 64; i++) {
		(void)snprintf(name, sizeof(name), "w%u", i);
		initializer(name, 1, 256, 256, 262144);
	}
	make_onnx_model(&file, &graph);
	counting = (struct counting_source){
		.inner =
		    wd_source_memory(&(struct wd_slice){ file.data, file.len })
	};
	source = counting_source_of(&counting);
	ck_assert_int_eq(wd_bundle_describe(&source, wd_slice_text("m.onnx"),
			     NULL, NULL, &bundle, &err),
	    WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 64 * 65536);
	/* Once to tell what it is, once to describe it. */
	ck_assert_uint_le(counting.reads, 140);
	stop();
}
END_TEST

/* ---- what it is told by ---------------------------------------------------
 */

static enum wd_bundle_format
sniff(struct wd_slice bytes)
{
	enum wd_bundle_format format = WD_FORMAT_GGUF;
	struct wd_source source = wd_source_memory(&bytes);

	ck_assert_int_eq(wd_bundle_sniff(&source, &format, &err), WD_OK);
	return format;
}

START_TEST(the_whole_file_must_be_a_model)
{
	struct wd_slice whole;

	start();
	initializer("w", 1, 2, 2, 16);
	make_onnx_model(&file, &graph);
	whole = wd_buf_slice(&file);
	ck_assert_int_eq(sniff(whole), WD_FORMAT_ONNX);
	whole.len--;
	ck_assert_int_eq(sniff(whole), WD_FORMAT_UNKNOWN);
	/* A field that no model has. */
	make_pb_text(&file, 9, "x");
	ck_assert_int_eq(sniff(wd_buf_slice(&file)), WD_FORMAT_UNKNOWN);
	file.data[1] = 0;
	ck_assert_int_eq(sniff(wd_buf_slice(&file)), WD_FORMAT_UNKNOWN);
	stop();
}
END_TEST

static const struct {
	const char *bytes;
	size_t len;
} others[] = {
	{ "\x08", 1 },
	{ "\x08\x08", 2 },
	{ "\x08\x08\x3a\x00", 4 },
	{ "\x08\x08\x3a\x02\x18\x01", 6 },
	{ "\x08\x08\x3a\x02\x12\x00\x3a\x02\x12\x00", 10 },
	{ "\x08\x00\x3a\x02\x12\x00", 6 },
	{ "\x08\x08\x3a\x7f\x12\x00", 6 },
	{ "\x08\x08\x3a\x02\x12\x00\x42", 7 },
	{ "\x08\x08\x3a\x02\x12\x00\x0b", 7 },
};

START_TEST(other_protobuf_files_are_no_models)
{
	start();
	ck_assert_int_eq(
	    sniff((struct wd_slice){
		(const uint8_t *)others[_i].bytes, others[_i].len }),
	    WD_FORMAT_UNKNOWN);
	ck_assert_int_eq(sniff((struct wd_slice){
			     (const uint8_t *)"\x08\x08\x3a\x02\x12\x00", 6 }),
	    WD_FORMAT_ONNX);
	stop();
}
END_TEST

START_TEST(a_folder_with_one_model_is_described)
{
	struct wd_folder vtable;

	start();
	external("a", 4, "data", "0", "16");
	beside("data", 16);
	make_onnx_model(&file, &graph);
	(void)memory_folder_add(&folder, "m.onnx", wd_buf_slice(&file));
	vtable = memory_folder_of(&folder);
	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, NULL, &bundle, &err), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 4);
	wd_bundle_free(&bundle);
	(void)memory_folder_add(&folder, "n.onnx", wd_buf_slice(&file));
	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, NULL, &bundle, &err),
	    WD_INVALID);
	stop();
}
END_TEST

WD_SUITE_BEGIN("bundle onnx")
WD_TEST(a_model_in_one_file_is_counted);
WD_LOOP(every_type_has_its_size, types);
WD_LOOP(a_size_that_is_not_the_types_is_refused, types);
WD_TEST(an_unknown_type_is_named);
WD_TEST(scalars_and_zeros_are_valid);
WD_TEST(numbers_in_typed_fields_are_not_read);
WD_TEST(texts_are_no_parameters);
WD_TEST(packed_dimensions_are_read);
WD_TEST(subgraphs_and_constants_are_counted_and_said);
WD_TEST(functions_and_sparse_tensors_are_counted);
WD_TEST(training_is_not_part);
WD_TEST(matmulnbits_counts_what_it_unpacks);
WD_TEST(matmulnbits_that_promises_too_much_is_not_believed);
WD_TEST(a_product_that_overflows_is_not_believed);
WD_TEST(bits_by_size_are_unpacked);
WD_TEST(elements_of_four_bits_are_not_unpacked_twice);
WD_TEST(scales_and_zero_points_count_nothing);
WD_TEST(an_operator_that_packs_in_an_unknown_way_is_said);
WD_TEST(external_data_lie_in_another_file);
WD_TEST(what_is_not_known_of_a_tensor_is_passed_over);
WD_TEST(external_data_that_are_cut_are_incomplete);
WD_TEST(external_data_that_are_missing_are_incomplete);
WD_LOOP(external_data_elsewhere_are_never_opened, outside);
WD_TEST(the_same_bytes_count_once);
WD_TEST(tensors_without_data_are_incomplete);
WD_TEST(tensor_bytes_are_not_read);
WD_TEST(the_whole_file_must_be_a_model);
WD_LOOP(other_protobuf_files_are_no_models, others);
WD_TEST(a_folder_with_one_model_is_described);
WD_SUITE_END
