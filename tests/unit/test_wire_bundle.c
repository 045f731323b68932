/* wire/bundle.h: facts of a bundle as a message; which digests go in. */
#include "wire/bundle.h"

#include <string.h>

#include "base/mem.h"
#include "support/suite.h"
#include "wire/build.h"

#define STATE(name) WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_##name

static const struct {
	const char *path;
	const char *repository; /* NULL: none */
} paths[] = {
	{ "/h/models--Qwen--Qwen3-4B/snapshots/ab12/model.safetensors",
	    "Qwen/Qwen3-4B" },
	{ "/h/models--Qwen--Qwen3-4B/blobs/ab12", "Qwen/Qwen3-4B" },
	{ "/h/models--gpt2/snapshots/ab12/x", "gpt2" },
	{ "models--a--b/snapshots/c/d/models--e--f/snapshots/g", "a/b" },
	{ "/h/models--Qwen--Qwen3-4B/refs/main", NULL },
	{ "/h/models--Qwen--Qwen3-4B", NULL },
	{ "/h/datasets--a--b/snapshots/x", NULL },
	{ "/h/models--a--b\x1b/snapshots/x", NULL },
	{ "/h/models--/snapshots/x", NULL },
	{ "/srv/snapshots/x.gguf", NULL },
	{ "", NULL },
};

START_TEST(repository_of_a_hub_path)
{
	char repository[64] = "untouched";
	bool found = wd_hub_repository(
	    wd_slice_text(paths[_i].path), repository, sizeof(repository));

	if (paths[_i].repository == NULL) {
		ck_assert(!found);
		ck_assert_str_eq(repository, "untouched");
	} else {
		ck_assert(found);
		ck_assert_str_eq(repository, paths[_i].repository);
	}
}
END_TEST

START_TEST(a_repository_that_does_not_fit_is_none)
{
	char repository[8] = "before";

	ck_assert(!wd_hub_repository(wd_slice_text("/models--12345678/blobs/x"),
	    repository, sizeof(repository)));
	ck_assert_str_eq(repository, "before");
	ck_assert(wd_hub_repository(wd_slice_text("/models--1234567/blobs/x"),
	    repository, sizeof(repository)));
	ck_assert_str_eq(repository, "1234567");
}
END_TEST

/* Two weight files and one that is not counted. */
static struct wd_bundle_file files[3];
static struct wd_bundle bundle;

static void
make_bundle(void)
{
	static char names[3][8] = { "a\xff", "b", "readme" };
	size_t i;

	memset(&bundle, 0, sizeof(bundle));
	memset(files, 0, sizeof(files));
	for (i = 0; i < 3; i++) {
		files[i].name = names[i];
		files[i].name_len = strlen(names[i]);
		files[i].role = WD_ROLE_WEIGHTS;
		files[i].present = true;
		files[i].counted = i < 2;
		files[i].has_digest = true;
		memset(files[i].sha256.bytes, (int)i + 1, WD_SHA256_BYTES);
	}
	bundle.format = WD_FORMAT_GGUF;
	bundle.files = files;
	bundle.file_count = 3;
	bundle.has_content_digest = true;
}

static Weightd__V1__Bundle *
message_of(const struct wd_file_digest *digests, const char *path)
{
	Weightd__V1__Bundle *message = NULL;

	ck_assert_int_eq(wd_bundle_message(&bundle, digests,
			     wd_slice_text(path), &message, NULL),
	    WD_OK);
	return message;
}

/* The recipe by class, without the scales. */
START_TEST(classes_are_in_the_message)
{
	static struct wd_tensor tensors[] = {
		{ .name = "l.mlp.weight",
		    .name_len = 12,
		    .encoding = "mlx-affine-4bit-g64",
		    .elements = 8,
		    .parameters = 64,
		    .size_bytes = 32 },
		{ .name = "l.mlp.scales",
		    .name_len = 12,
		    .encoding = "F16",
		    .helper = true },
	};
	Weightd__V1__Bundle *message;

	make_bundle();
	bundle.tensors = tensors;
	bundle.tensor_count = 2;
	message = message_of(NULL, "/m/a");
	ck_assert_uint_eq(message->n_classes, 1);
	ck_assert_str_eq(message->classes[0]->tensor_class, "feed-forward");
	ck_assert_str_eq(
	    message->classes[0]->count->encoding, "mlx-affine-4bit-g64");
	ck_assert_uint_eq(message->classes[0]->count->tensor_count, 1);
	ck_assert_uint_eq(message->classes[0]->count->parameter_count, 64);
	ck_assert_uint_eq(message->classes[0]->count->stored_element_count, 8);
	ck_assert_uint_eq(message->classes[0]->count->size_bytes, 32);
	wd_message_free(message);
}
END_TEST

static const struct {
	Weightd__V1__DigestState first, second;
	Weightd__V1__DigestState content;
	bool has_content;
} states[] = {
	{ STATE(COMPUTED), STATE(COMPUTED), STATE(COMPUTED), true },
	{ STATE(COMPUTED), STATE(CACHED), STATE(CACHED), true },
	{ STATE(CACHED), STATE(COMPUTED), STATE(CACHED), true },
	{ STATE(KERNEL), STATE(COMPUTED), STATE(COMPUTED), true },
	{ STATE(COMPUTED), STATE(PENDING), STATE(PENDING), false },
	{ STATE(CACHED), STATE(NONE), STATE(NONE), false },
	{ STATE(PENDING), STATE(NONE), STATE(NONE), false },
	{ STATE(COMPUTED), STATE(NAMED), STATE(NONE), false },
	{ STATE(COMPUTED), STATE(UNSPECIFIED), STATE(NONE), false },
};

START_TEST(the_weakest_state_is_the_content_digests)
{
	struct wd_file_digest digests[3] = { { .state = states[_i].first },
		{ .state = states[_i].second }, { .state = STATE(NONE) } };
	Weightd__V1__Bundle *message;

	make_bundle();
	message = message_of(digests, "/m/a");
	ck_assert_int_eq(message->content_digest_state, states[_i].content);
	ck_assert_int_eq(
	    message->content_digest != NULL, states[_i].has_content);
	ck_assert_int_eq(message->files[1]->sha256 != NULL,
	    states[_i].second == STATE(COMPUTED) ||
		states[_i].second == STATE(CACHED));
	wd_message_free(message);
}
END_TEST

START_TEST(a_state_without_a_digest_is_none)
{
	struct wd_file_digest digests[3] = { { .state = STATE(COMPUTED) },
		{ .state = STATE(COMPUTED) }, { .state = STATE(COMPUTED) } };
	Weightd__V1__Bundle *message;

	make_bundle();
	files[1].has_digest = false;
	message = message_of(digests, "/m/a");
	ck_assert_int_eq(message->files[1]->digest_state, STATE(NONE));
	ck_assert_int_eq(message->content_digest_state, STATE(NONE));
	ck_assert_ptr_null(message->content_digest);
	wd_message_free(message);
}
END_TEST

START_TEST(without_digests_there_are_none)
{
	Weightd__V1__Bundle *message;

	make_bundle();
	message = message_of(NULL, "/h/models--a--b/blobs/\xff");
	ck_assert_ptr_null(message->files[0]->sha256);
	ck_assert_int_eq(message->files[0]->digest_state, STATE(NONE));
	ck_assert_ptr_null(message->content_digest);
	ck_assert_ptr_null(message->tokenizer_digest);
	ck_assert_str_eq(message->repository, "a/b");
	ck_assert_uint_eq(message->files[0]->name.len, 2);
	ck_assert_int_eq(message->files[0]->name.data[1], 0xff);
	ck_assert_int_eq(message->path.data[message->path.len - 1], 0xff);
	wd_message_free(message);
}
END_TEST

START_TEST(claims_and_kernel_digests_stand_apart)
{
	struct wd_file_digest digests[3] = { { .state = STATE(NAMED),
	    .has_named = true,
	    .named = { { 7 } },
	    .has_verity = true,
	    .verity = { { 8 } },
	    .digested_at_ns = 1500000000 } };
	Weightd__V1__Bundle *message;

	make_bundle();
	message = message_of(digests, "");
	ck_assert_ptr_null(message->files[0]->sha256);
	ck_assert_int_eq(message->files[0]->named_digest->value.data[0], 7);
	ck_assert_int_eq(message->files[0]->verity_digest->value.data[0], 8);
	ck_assert_int_eq(message->files[0]->digested_at->seconds, 1);
	ck_assert_ptr_null(message->files[1]->digested_at);
	wd_message_free(message);
}
END_TEST

START_TEST(a_failing_allocation_is_reported)
{
	uint64_t n;
	enum wd_status st;

	make_bundle();
	for (n = 0; n < 1000; n++) {
		Weightd__V1__Bundle *message = NULL;

		wd_mem_fail_after(n);
		st = wd_bundle_message(
		    &bundle, NULL, wd_slice_text("/m"), &message, NULL);
		wd_mem_fail_after(UINT64_MAX);
		if (st == WD_OK) {
			wd_message_free(message);
			break;
		}
		ck_assert_int_eq(st, WD_NOMEM);
		ck_assert_ptr_null(message);
	}
	ck_assert_uint_gt(n, 10);
	ck_assert_uint_lt(n, 1000);
}
END_TEST

WD_SUITE_BEGIN("wire bundle")
WD_LOOP(repository_of_a_hub_path, paths);
WD_TEST(a_repository_that_does_not_fit_is_none);
WD_LOOP(the_weakest_state_is_the_content_digests, states);
WD_TEST(a_state_without_a_digest_is_none);
WD_TEST(without_digests_there_are_none);
WD_TEST(claims_and_kernel_digests_stand_apart);
WD_TEST(a_failing_allocation_is_reported);
WD_TEST(classes_are_in_the_message);
WD_SUITE_END
