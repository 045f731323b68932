/* Split GGUF sets: any shard finds the others, and what is missing is said. */
#include <stdio.h>
#include <string.h>

#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

static struct memory_folder folder;
static struct wd_bundle *bundle;
static struct wd_error err;

static void
shard_name(unsigned number, char name[32])
{
	(void)snprintf(name, 32, "m-%05u-of-00003.gguf", number);
}

/* As llama-gguf-split writes them: only the first carries metadata. */
static void
make_shard(struct make_gguf *gguf, unsigned number, const char *tensor)
{
	uint64_t dims[1] = { 100 };

	make_gguf_init(gguf);
	if (number == 1) {
		make_gguf_string(gguf, "general.name", "Split");
		make_gguf_string(gguf, "general.architecture", "llama");
		make_gguf_strings(gguf, "tokenizer.ggml.tokens", "t", 3);
	}
	make_gguf_number(gguf, "split.no", MAKE_U16, number - 1);
	make_gguf_number(gguf, "split.count", MAKE_U16, 3);
	make_gguf_number(gguf, "split.tensors.count", MAKE_I32, 3);
	ck_assert(make_gguf_tensor(gguf, tensor, "F32", dims, 1));
}

static void
put_shard(struct make_gguf *gguf, const char *name)
{
	struct wd_buf file;

	wd_buf_init(&file, MAKE_MAX_BYTES);
	ck_assert_int_eq(make_gguf_file(gguf, 1, &file), WD_OK);
	(void)memory_folder_add(&folder, name, wd_buf_slice(&file));
	wd_buf_release(&file);
	make_gguf_release(gguf);
}

static void
start(void)
{
	static const char *const tensors[] = { "c", "b", "a" };
	struct make_gguf gguf;
	char name[32];
	unsigned i;

	memory_folder_init(&folder);
	wd_error_init(&err);
	for (i = 1; i <= 3; i++) {
		shard_name(i, name);
		make_shard(&gguf, i, tensors[i - 1]);
		put_shard(&gguf, name);
	}
}

static void
stop(void)
{
	ck_assert_uint_eq(folder.open_now, 0);
	ck_assert_uint_eq(folder.strange_names, 0);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}

static void
describe_shard(unsigned number)
{
	char name[32];

	shard_name(number, name);
	ck_assert_int_eq(
	    memory_folder_describe(&folder, name, &bundle, &err), WD_OK);
}

static const unsigned shards[] = { 1, 2, 3 };

START_TEST(any_shard_finds_the_whole_set)
{
	size_t i;

	start();
	describe_shard(shards[_i]);
	ck_assert_uint_eq(bundle->file_count, 3);
	for (i = 0; i < 3; i++) {
		char name[32];

		shard_name((unsigned)i + 1, name);
		ck_assert_str_eq(bundle->files[i].name, name);
		ck_assert_uint_eq(bundle->files[i].shard, i + 1);
		ck_assert(bundle->files[i].present);
		ck_assert(bundle->files[i].counted);
	}
	ck_assert(!bundle->single_file);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->note_count, 0);
	ck_assert_str_eq(bundle->inner_name, "Split");
	ck_assert_uint_eq(bundle->parameter_count, 300);
	ck_assert_str_eq(bundle->tensors[0].name, "a");
	ck_assert_uint_eq(bundle->tensors[0].file, 2);
	ck_assert_uint_eq(bundle->setting_count, 2);
	ck_assert(bundle->has_tokenizer);
	/* The given shard is the object at hand, not the one in the folder. */
	ck_assert_uint_eq(folder.files[shards[_i] - 1].opened, 0);
	stop();
}
END_TEST

START_TEST(a_missing_shard_is_named)
{
	static const struct {
		unsigned missing, given;
		enum wd_status why;
	} cases[] = { { 2, 1, WD_NOTFOUND }, { 1, 3, WD_NOTFOUND },
		{ 3, 1, WD_DENIED } };
	const char *note;
	char name[32];
	size_t i;

	for (i = 0; i < WD_COUNT(cases); i++) {
		start();
		folder.files[cases[i].missing - 1].open_status = cases[i].why;
		describe_shard(cases[i].given);
		shard_name(cases[i].missing, name);
		note = note_with(bundle, WD_NOTE_INCOMPLETE, name);
		ck_assert_ptr_nonnull(note);
		ck_assert(bundle->incomplete);
		ck_assert(!bundle->files[cases[i].missing - 1].present);
		ck_assert_uint_eq(bundle->file_count, 3);
		ck_assert_uint_eq(bundle->parameter_count, 200);
		stop();
	}
}
END_TEST

/* Each makes shard 2 wrong in its own way. */
static void
of_another_set(struct make_gguf *gguf)
{
	make_gguf_number(gguf, "split.no", MAKE_U16, 1);
	make_gguf_number(gguf, "split.count", MAKE_U16, 4);
}

static void
another_number(struct make_gguf *gguf)
{
	make_gguf_number(gguf, "split.no", MAKE_U16, 2);
	make_gguf_number(gguf, "split.count", MAKE_U16, 3);
}

static void
no_shard_at_all(struct make_gguf *gguf)
{
	make_gguf_string(gguf, "general.name", "another model");
}

static void
broken(struct make_gguf *gguf)
{
	make_gguf_u32(gguf, "k", 1);
	make_gguf_u32(gguf, "k", 1);
}

static void
other_byte_order(struct make_gguf *gguf)
{
	gguf->big_endian = true;
	make_gguf_number(gguf, "split.no", MAKE_U16, 1);
	make_gguf_number(gguf, "split.count", MAKE_U16, 3);
}

static const struct {
	void (*make)(struct make_gguf *gguf);
	const char *note;
} wrong[] = {
	{ of_another_set, "another set" },
	{ another_number, "another shard" },
	{ no_shard_at_all, "another set" },
	{ broken, "stands twice" },
	{ other_byte_order, "byte order" },
};

START_TEST(a_wrong_shard_is_no_part_of_the_count)
{
	uint64_t dims[1] = { 1000 };
	struct make_gguf gguf;

	start();
	memory_file_rename(&folder.files[1], "elsewhere");
	make_gguf_init(&gguf);
	wrong[_i].make(&gguf);
	ck_assert(make_gguf_tensor(&gguf, "wrong", "F32", dims, 1));
	put_shard(&gguf, "m-00002-of-00003.gguf");
	describe_shard(1);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_INCOMPLETE, wrong[_i].note));
	ck_assert(bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 200);
	ck_assert_str_eq(bundle->inner_name, "Split");
	stop();
}
END_TEST

/* Only the first shard speaks for the model. */
START_TEST(metadata_of_later_shards_do_not_count)
{
	uint64_t dims[1] = { 100 };
	struct make_gguf gguf;

	start();
	memory_file_rename(&folder.files[2], "elsewhere");
	make_gguf_init(&gguf);
	make_gguf_string(&gguf, "general.name", "Later");
	make_gguf_strings(&gguf, "tokenizer.ggml.tokens", "other", 3);
	make_gguf_u32(&gguf, "llama.block_count", 7);
	make_gguf_number(&gguf, "split.no", MAKE_U16, 2);
	make_gguf_number(&gguf, "split.count", MAKE_U16, 3);
	ck_assert(make_gguf_tensor(&gguf, "a", "F32", dims, 1));
	put_shard(&gguf, "m-00003-of-00003.gguf");
	describe_shard(3);
	ck_assert_str_eq(bundle->inner_name, "Split");
	ck_assert_uint_eq(bundle->setting_count, 2);
	ck_assert_uint_eq(bundle->note_count, 0);
	stop();
}
END_TEST

START_TEST(a_broken_first_shard_gives_no_name)
{
	struct make_gguf gguf;

	start();
	memory_file_rename(&folder.files[0], "elsewhere");
	make_gguf_init(&gguf);
	make_gguf_string(&gguf, "general.name", "half read");
	broken(&gguf);
	put_shard(&gguf, "m-00001-of-00003.gguf");
	describe_shard(2);
	ck_assert_ptr_null(bundle->inner_name);
	ck_assert_uint_eq(bundle->setting_count, 0);
	ck_assert(bundle->incomplete);
	stop();
}
END_TEST

/* Renamed by a person, or a blob named by its digest. */
START_TEST(a_shard_under_another_name_is_incomplete)
{
	start();
	memory_file_rename(&folder.files[1], "sha256-0123");
	ck_assert_int_eq(
	    memory_folder_describe(&folder, "sha256-0123", &bundle, &err),
	    WD_OK);
	ck_assert(bundle->incomplete);
	ck_assert_uint_eq(bundle->file_count, 3);
	ck_assert_str_eq(bundle->files[1].name, "sha256-0123");
	ck_assert(bundle->files[1].present);
	ck_assert(!bundle->files[0].present);
	ck_assert_uint_eq(bundle->parameter_count, 100);
	stop();
}
END_TEST

START_TEST(without_a_folder_a_shard_is_incomplete)
{
	struct wd_slice bytes;

	start();
	bytes = wd_buf_slice(&folder.files[0].bytes);
	ck_assert_int_eq(
	    describe_bytes(bytes, "m-00001-of-00003.gguf", &bundle, &err),
	    WD_OK);
	ck_assert(bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 100);
	stop();
}
END_TEST

START_TEST(one_tensor_in_two_shards_is_refused)
{
	struct make_gguf gguf;

	start();
	memory_file_rename(&folder.files[1], "elsewhere");
	make_shard(&gguf, 2, "a");
	put_shard(&gguf, "m-00002-of-00003.gguf");
	ck_assert_int_eq(memory_folder_describe(
			     &folder, "m-00001-of-00003.gguf", &bundle, &err),
	    WD_MALFORMED);
	stop();
}
END_TEST

START_TEST(too_few_tensors_are_incomplete)
{
	struct make_gguf gguf;

	start();
	memory_file_rename(&folder.files[2], "elsewhere");
	make_gguf_init(&gguf);
	make_gguf_number(&gguf, "split.no", MAKE_U16, 2);
	make_gguf_number(&gguf, "split.count", MAKE_U16, 3);
	put_shard(&gguf, "m-00003-of-00003.gguf");
	describe_shard(1);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_INCOMPLETE, "should have 3"));
	stop();
}
END_TEST

/* The folder as such: the set is one bundle. */
START_TEST(a_folder_with_one_set_is_one_bundle)
{
	struct wd_folder vtable = memory_folder_of(&folder);

	start();
	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, NULL, &bundle, &err), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 300);
	ck_assert(!bundle->incomplete);
	wd_bundle_free(&bundle);
	(void)memory_folder_text(&folder, "other.gguf", "GGUF");
	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, NULL, &bundle, &err),
	    WD_INVALID);
	ck_assert_ptr_nonnull(strstr(err.message, "other.gguf"));
	stop();
}
END_TEST

WD_SUITE_BEGIN("bundle gguf set")
WD_LOOP(any_shard_finds_the_whole_set, shards);
WD_TEST(a_missing_shard_is_named);
WD_LOOP(a_wrong_shard_is_no_part_of_the_count, wrong);
WD_TEST(metadata_of_later_shards_do_not_count);
WD_TEST(a_broken_first_shard_gives_no_name);
WD_TEST(a_shard_under_another_name_is_incomplete);
WD_TEST(without_a_folder_a_shard_is_incomplete);
WD_TEST(one_tensor_in_two_shards_is_refused);
WD_TEST(too_few_tensors_are_incomplete);
WD_TEST(a_folder_with_one_set_is_one_bundle);
WD_SUITE_END
