/* GGUF files that are right, and those that are cut or odd but readable. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

static struct make_gguf gguf;
static struct wd_buf file;
static struct wd_bundle *bundle;
static struct wd_error err;

static void
start(void)
{
	make_gguf_init(&gguf);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	wd_error_init(&err);
}

static void
add(const char *name, const char *encoding, uint64_t a, uint64_t b)
{
	uint64_t dims[2] = { a, b };

	ck_assert(make_gguf_tensor(&gguf, name, encoding, dims, 2));
}

static enum wd_status
describe(const char *name)
{
	return describe_bytes(wd_buf_slice(&file), name, &bundle, &err);
}

static void
make_and_describe(void)
{
	ck_assert_int_eq(make_gguf_file(&gguf, 1, &file), WD_OK);
	ck_assert_int_eq(describe("m.gguf"), WD_OK);
}

static void
stop(void)
{
	wd_bundle_free(&bundle);
	wd_buf_release(&file);
	make_gguf_release(&gguf);
}

static void
small_model(void)
{
	make_gguf_string(&gguf, "general.architecture", "llama");
	make_gguf_string(&gguf, "general.name", "Tiny");
	make_gguf_u32(&gguf, "llama.block_count", 2);
	make_gguf_f32(&gguf, "llama.rope.freq_base", 10000.0F);
	make_gguf_bool(&gguf, "llama.attention.causal", true);
	make_gguf_number(&gguf, "a.i8", MAKE_I8, 0x80);
	make_gguf_number(&gguf, "a.i64", MAKE_I64, UINT64_MAX);
	make_gguf_number(&gguf, "a.u64", MAKE_U64, UINT64_MAX);
	make_gguf_f64(&gguf, "a.f64", 0.1);
	make_gguf_strings(&gguf, "a.names", "n\"", 2);
	make_gguf_strings(&gguf, "tokenizer.ggml.tokens", "t", 3);
	add("token_embd.weight", "Q4_K", 256, 3);
	add("output_norm.weight", "F32", 4, 1);
	add("blk.0.ffn.weight", "Q4_K", 256, 2);
}

static void
check_small_model(void)
{
	ck_assert_int_eq(bundle->format, WD_FORMAT_GGUF);
	ck_assert_int_eq(bundle->kind, WD_KIND_MODEL);
	ck_assert_str_eq(bundle->inner_name, "Tiny");
	ck_assert_str_eq(bundle->architecture, "llama");
	ck_assert_uint_eq(bundle->tensor_count, 3);
	ck_assert(bundle->parameters_known);
	ck_assert_uint_eq(bundle->parameter_count, 5 * 256 + 4);
	ck_assert_uint_eq(bundle->stored_elements, 5 * 256 + 4);
	ck_assert_uint_eq(bundle->tensor_bytes, 5 * 144 + 16);
	ck_assert_str_eq(bundle->tensors[0].name, "blk.0.ffn.weight");
	ck_assert_str_eq(bundle->tensors[2].name, "token_embd.weight");
	ck_assert_uint_eq(
	    bundle->tensors[2].offset, bundle->files[0].data_offset);
	ck_assert_uint_eq(bundle->tensors[2].shape[0], 256);
	ck_assert_uint_eq(bundle->encoding_count, 2);
	ck_assert_str_eq(bundle->encodings[0].encoding, "F32");
	ck_assert_uint_eq(bundle->encodings[1].tensors, 2);
	ck_assert_uint_eq(bundle->encodings[1].size_bytes, 5 * 144);
	ck_assert(!bundle->incomplete);
	ck_assert(bundle->single_file);
	ck_assert(bundle->has_tokenizer);
	ck_assert_uint_eq(bundle->note_count, 0);
}

static const struct {
	uint32_t version;
	bool big_endian;
} kinds[] = { { 2, false }, { 3, false }, { 3, true }, { 2, true } };

/* C17: the same facts, whatever the version and the byte order. */
START_TEST(c17_both_versions_and_byte_orders)
{
	start();
	gguf.version = kinds[_i].version;
	gguf.big_endian = kinds[_i].big_endian;
	small_model();
	make_and_describe();
	check_small_model();
	ck_assert_uint_eq(bundle->format_version, kinds[_i].version);
	ck_assert_int_eq(bundle->big_endian, kinds[_i].big_endian);
	stop();
}
END_TEST

/* The fingerprint is of the model, not of the byte order. */
START_TEST(digests_do_not_depend_on_the_byte_order)
{
	struct wd_sha256 encodings, settings, tokenizer;

	start();
	small_model();
	make_and_describe();
	encodings = bundle->encoding_digest;
	settings = bundle->settings_digest;
	tokenizer = bundle->tokenizer_digest;
	stop();
	start();
	gguf.big_endian = true;
	small_model();
	make_and_describe();
	ck_assert(wd_sha256_equal(&encodings, &bundle->encoding_digest));
	ck_assert(wd_sha256_equal(&settings, &bundle->settings_digest));
	ck_assert(wd_sha256_equal(&tokenizer, &bundle->tokenizer_digest));
	stop();
}
END_TEST

static const struct {
	const char *key;
	const char *value; /* NULL: it is no setting */
} small_settings[] = {
	{ "bundle.general.name", "Tiny" },
	{ "bundle.llama.block_count", "2" },
	{ "bundle.llama.rope.freq_base", "10000" },
	{ "bundle.llama.attention.causal", "true" },
	{ "bundle.a.i8", "-128" },
	{ "bundle.a.i64", "-1" },
	{ "bundle.a.u64", "18446744073709551615" },
	{ "bundle.a.f64", "0.1" },
	/* the JSON text ["n\"0","n\"1"], escaped */
	{ "bundle.a.names", "[\"n\\\\\"0\",\"n\\\\\"1\"]" },
	{ "bundle.tokenizer.ggml.tokens", NULL },
	{ "tokenizer.ggml.tokens", NULL },
};

START_TEST(settings_are_canonical_text)
{
	const char *value;

	start();
	small_model();
	make_and_describe();
	ck_assert_uint_eq(bundle->setting_count, 10);
	value = setting_of(bundle, small_settings[_i].key);
	if (small_settings[_i].value == NULL)
		ck_assert_ptr_null(value);
	else
		ck_assert_str_eq(value, small_settings[_i].value);
	stop();
}
END_TEST

/* bundle.h: texts are escaped, so that none is cut and none is ambiguous. */
START_TEST(strange_bytes_are_escaped)
{
	static const uint8_t value[] = { 'a', 0, 'b', 0xff, '\\', '\n' };

	start();
	make_gguf_bytes(
	    &gguf, "general.name", (struct wd_slice){ value, sizeof(value) });
	make_gguf_string(&gguf, "k\033[31m", "v");
	add("t\xff\\", "F32", 1, 1);
	make_and_describe();
	ck_assert_str_eq(bundle->inner_name, "a\\x00b\\xff\\\\\\n");
	ck_assert_str_eq(setting_of(bundle, "bundle.k\\x1b[31m"), "v");
	ck_assert_str_eq(bundle->tensors[0].name, "t\\xff\\\\");
	ck_assert_uint_eq(bundle->tensors[0].name_len, 7);
	stop();
}
END_TEST

/* Values above 64 KiB count by their digest, across the reader's window. */
START_TEST(long_values_count_by_digest)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	char shown[WD_SHA256_TEXT_BYTES];
	struct wd_sha256 digest;

	start();
	wd_buf_init(&text, 1 << 20);
	while (text.len < 200000)
		ck_assert_int_eq(wd_buf_text(&text, "long text "), WD_OK);
	make_gguf_bytes(&gguf, "a.long", wd_buf_slice(&text));
	make_gguf_string(&gguf, "a.short", "x");
	make_and_describe();
	ck_assert_int_eq(wd_sha256(wd_buf_slice(&text), &digest, NULL), WD_OK);
	ck_assert_str_eq(setting_of(bundle, "bundle.a.long"),
	    wd_sha256_text(&digest, shown));
	ck_assert_str_eq(setting_of(bundle, "bundle.a.short"), "x");
	stop();
}
END_TEST

/* C5: a number in a name is no parameter count. */
START_TEST(c05_counts_come_from_tensors_not_from_names)
{
	start();
	make_gguf_string(&gguf, "general.name", "model-70B");
	add("w", "F16", 64, 10);
	ck_assert_int_eq(make_gguf_file(&gguf, 1, &file), WD_OK);
	ck_assert_int_eq(describe("sha256-8061b15b0ea3a1f2"), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 640);
	stop();
}
END_TEST

/* C6: the size label is a label. The tensors are dimensions only; the file is
 * said to be as long as they need. */
START_TEST(c06_the_size_label_is_only_shown)
{
	struct wd_slice header;
	struct wd_source source;

	start();
	make_gguf_string(&gguf, "general.size_label", "8B");
	add("experts", "F16", 70000, 100000);
	ck_assert_int_eq(make_gguf_header(&gguf, &file), WD_OK);
	header = wd_buf_slice(&file);
	source = wd_source_memory(&header);
	source.size_bytes = file.len + gguf.data_size;
	ck_assert_int_eq(wd_bundle_describe(&source, wd_slice_text("m.gguf"),
			     NULL, NULL, &bundle, &err),
	    WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, UINT64_C(7000000000));
	ck_assert_str_eq(setting_of(bundle, "bundle.general.size_label"), "8B");
	ck_assert(!bundle->incomplete);
	stop();
}
END_TEST

/* C10: a dimension of zero is a tensor without elements, no dimension at all
 * is a scalar. */
START_TEST(c10_zero_dimensions_are_valid)
{
	uint64_t none = 0;

	start();
	add("empty", "F32", 0, 4);
	add("empty_blocks", "Q4_K", 0, 4);
	ck_assert(make_gguf_tensor(&gguf, "scalar", "F32", &none, 0));
	make_and_describe();
	ck_assert_uint_eq(bundle->parameter_count, 1);
	ck_assert_uint_eq(bundle->tensor_count, 3);
	ck_assert_uint_eq(bundle->tensor_bytes, 4);
	ck_assert_uint_eq(bundle->tensors[2].dims, 0);
	ck_assert(!bundle->incomplete);
	stop();
}
END_TEST

static const struct {
	uint32_t id;
	const char *encoding;
} types[] = {
	{ 39, "MXFP4" },
	{ 40, "NVFP4" },
	{ 41, "Q1_0" },
	{ 42, "Q2_0" },
	{ 4, "Q4_2" },
	{ 31, "Q4_0_4_4" },
	{ 43, "unknown(43)" },
	{ 137, "unknown(137)" },
	{ 9999, "unknown(9999)" },
	{ UINT32_MAX, "unknown(4294967295)" },
};

/* C18: a type nobody knows costs the size, not the count. */
START_TEST(c18_unknown_types_are_counted)
{
	uint64_t dims[2] = { 128, 5 };
	bool known = strncmp(types[_i].encoding, "unknown", 7) != 0;

	start();
	make_gguf_raw_tensor(&gguf, wd_slice_text("w"), 2, dims, 2,
	    types[_i].id, gguf.data_size);
	gguf.data_size += 4096;
	make_and_describe();
	ck_assert_uint_eq(bundle->parameter_count, 640);
	ck_assert(bundle->parameters_known);
	ck_assert_str_eq(bundle->tensors[0].encoding, types[_i].encoding);
	ck_assert_int_eq(bundle->tensors[0].sized, known && types[_i].id != 4);
	ck_assert_int_eq(
	    note_with(bundle, WD_NOTE_UNKNOWN, types[_i].encoding) != NULL,
	    !known);
	stop();
}
END_TEST

static const uint64_t alignments[] = { 32, 64, 1, 8, 4096 };

/* C18: no extra block of padding when the header ends on the alignment. */
START_TEST(c18_data_begin_at_the_next_aligned_byte)
{
	uint64_t alignment = alignments[_i], pad;
	bool exact = false;

	for (pad = 0; pad < 64; pad++) {
		char text[65];
		uint64_t header;

		start();
		gguf.alignment = alignment;
		memset(text, 'p', sizeof(text));
		text[pad] = '\0';
		make_gguf_u32(&gguf, "general.alignment", (uint32_t)alignment);
		make_gguf_string(&gguf, "pad", text);
		add("w", "F32", 4, 4);
		header = 24 + gguf.keys.len + gguf.infos.len;
		exact |= header % alignment == 0;
		make_and_describe();
		ck_assert_uint_eq(bundle->files[0].data_offset,
		    (header + alignment - 1) / alignment * alignment);
		ck_assert(!bundle->incomplete);
		stop();
	}
	ck_assert(exact || alignment > 64);
}
END_TEST

/* C23: 300,000 tokens, in few reads and none of them large. */
START_TEST(c23_large_arrays_cost_few_reads)
{
	struct counting_source counting = { .reads = 0 };
	struct wd_source source;
	struct wd_slice bytes;

	start();
	make_gguf_strings(
	    &gguf, "tokenizer.ggml.tokens", "a token of some length ", 300000);
	make_gguf_strings(&gguf, "other.strings", "x", 300000);
	make_gguf_string(&gguf, "general.name", "after the arrays");
	add("w", "F32", 4, 4);
	ck_assert_int_eq(make_gguf_file(&gguf, 1, &file), WD_OK);
	ck_assert_uint_ge(file.len, 12 << 20);
	bytes = wd_buf_slice(&file);
	counting.inner = wd_source_memory(&bytes);
	source = counting_source_of(&counting);
	ck_assert_int_eq(wd_bundle_describe(&source, wd_slice_text("m.gguf"),
			     NULL, NULL, &bundle, &err),
	    WD_OK);
	ck_assert_str_eq(bundle->inner_name, "after the arrays");
	ck_assert_uint_le(counting.reads, file.len / 65536 + 8);
	ck_assert_uint_le(counting.largest, 65536);
	stop();
}
END_TEST

static const struct {
	bool declared;
	uint32_t file_type;
	const char *note; /* NULL: none */
} labels[] = {
	{ true, 15,
	    "general.file_type is 15 (Q4_K_M), but most bytes are Q6_K" },
	{ true, 18, NULL }, /* Q6_K, as it is */
	{ true, 38, "MXFP4_MOE" },
	{ true, 22, NULL },   /* a mixture that promises nothing */
	{ true, 9999, NULL }, /* a label from the future */
	{ false, 0, NULL },
};

/* C24: the encodings by bytes are the truth, file_type is a label. */
START_TEST(c24_the_file_type_is_held_against_the_tensors)
{
	start();
	if (labels[_i].declared)
		make_gguf_u32(&gguf, "general.file_type", labels[_i].file_type);
	add("big", "Q6_K", 256, 8);
	add("small", "Q4_K", 256, 2);
	add("norm", "F32", 4, 1);
	make_and_describe();
	if (labels[_i].note == NULL)
		ck_assert_uint_eq(bundle->note_count, 0);
	else
		ck_assert_ptr_nonnull(
		    note_with(bundle, WD_NOTE_DECLARED, labels[_i].note));
	ck_assert(strncmp(bundle->derived_recipe, "derived:Q6_K-", 13) == 0);
	ck_assert_uint_eq(strlen(bundle->derived_recipe), 13 + 32);
	stop();
}
END_TEST

/* C26: a download that stopped early; padding after the last tensor is not
 * needed by any engine. */
START_TEST(c26_a_cut_file_is_incomplete)
{
	char text[96];
	size_t need;

	start();
	add("w", "F32", 5, 1); /* 20 bytes, padded to 32 */
	ck_assert_int_eq(make_gguf_file(&gguf, 1, &file), WD_OK);
	need = file.len - 12;
	file.len = need;
	ck_assert_int_eq(describe("m.gguf"), WD_OK);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->files[0].needed_bytes, need);
	wd_bundle_free(&bundle);
	file.len = need - 1;
	ck_assert_int_eq(describe("m.gguf"), WD_OK);
	(void)snprintf(text, sizeof(text),
	    "m.gguf is cut: need %zu bytes, have %zu", need, need - 1);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_INCOMPLETE, text));
	ck_assert(bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 5);
	stop();
}
END_TEST

/* C26: cut anywhere within the header: refused as cut, never as anything
 * else, and never read past the end. */
START_TEST(c26_a_file_cut_in_its_header_is_truncated)
{
	size_t whole, len;

	start();
	small_model();
	ck_assert_int_eq(make_gguf_header(&gguf, &file), WD_OK);
	whole = 24 + gguf.keys.len + gguf.infos.len;
	for (len = 0; len < whole; len++) {
		WD_CLEANUP(wd_free_scoped)
		char *exact = wd_memdup0(file.data, len);
		struct wd_slice bytes = { (const uint8_t *)exact, len };

		ck_assert_int_eq(describe_bytes(bytes, "m.gguf", &bundle, &err),
		    WD_TRUNCATED);
		ck_assert_uint_le(err.offset, len);
		ck_assert_ptr_null(bundle);
	}
	stop();
}
END_TEST

/* Vocabulary files have no tensors, and no padding after the header. */
START_TEST(a_file_without_tensors_is_whole)
{
	start();
	make_gguf_strings(&gguf, "tokenizer.ggml.tokens", "t", 3);
	ck_assert_int_eq(make_gguf_header(&gguf, &file), WD_OK);
	file.len = 24 + gguf.keys.len;
	ck_assert_int_eq(describe("vocab.gguf"), WD_OK);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 0);
	ck_assert_uint_eq(bundle->files[0].needed_bytes, file.len);
	stop();
}
END_TEST

static const struct {
	const char *key, *value;
	enum wd_bundle_kind kind;
} purposes[] = {
	{ "general.type", "model", WD_KIND_MODEL },
	{ "general.type", "adapter", WD_KIND_ADAPTER },
	{ "general.type", "mmproj", WD_KIND_PROJECTOR },
	{ "general.architecture", "clip", WD_KIND_PROJECTOR },
	{ "general.architecture", "llama", WD_KIND_MODEL },
};

START_TEST(the_kind_is_what_the_metadata_say)
{
	start();
	make_gguf_string(&gguf, purposes[_i].key, purposes[_i].value);
	make_and_describe();
	ck_assert_int_eq(bundle->kind, purposes[_i].kind);
	stop();
}
END_TEST

/* Known by content, whatever the name. */
START_TEST(files_are_known_by_their_content)
{
	static const struct wd_slice other = { (const uint8_t *)"#!/bin/sh\n",
		10 };
	enum wd_bundle_format format = WD_FORMAT_SAFETENSORS;
	struct wd_source source = wd_source_memory(&other);

	start();
	small_model();
	ck_assert_int_eq(make_gguf_file(&gguf, 1, &file), WD_OK);
	ck_assert_int_eq(describe("model.safetensors"), WD_OK);
	check_small_model();
	ck_assert_int_eq(wd_bundle_sniff(&source, &format, NULL), WD_OK);
	ck_assert_int_eq(format, WD_FORMAT_UNKNOWN);
	wd_bundle_free(&bundle);
	ck_assert_int_eq(
	    describe_bytes(other, "run.sh", &bundle, &err), WD_UNSUPPORTED);
	ck_assert_ptr_null(bundle);
	stop();
}
END_TEST

WD_SUITE_BEGIN("bundle gguf")
WD_LOOP(c17_both_versions_and_byte_orders, kinds);
WD_TEST(digests_do_not_depend_on_the_byte_order);
WD_LOOP(settings_are_canonical_text, small_settings);
WD_TEST(strange_bytes_are_escaped);
WD_TEST(long_values_count_by_digest);
WD_TEST(c05_counts_come_from_tensors_not_from_names);
WD_TEST(c06_the_size_label_is_only_shown);
WD_TEST(c10_zero_dimensions_are_valid);
WD_LOOP(c18_unknown_types_are_counted, types);
WD_LOOP(c18_data_begin_at_the_next_aligned_byte, alignments);
WD_TEST(c23_large_arrays_cost_few_reads);
WD_LOOP(c24_the_file_type_is_held_against_the_tensors, labels);
WD_TEST(c26_a_cut_file_is_incomplete);
WD_TEST(c26_a_file_cut_in_its_header_is_truncated);
WD_TEST(a_file_without_tensors_is_whole);
WD_LOOP(the_kind_is_what_the_metadata_say, purposes);
WD_TEST(files_are_known_by_their_content);
WD_SUITE_END
