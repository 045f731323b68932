/* reader.h over a socket: the same answers as in-process, and what happens
 * when the other side dies, hangs or lies. */
#include "seam/reader_line.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "seam/line.h"
#include "seam/pack.h"
#include "support/bundle_make.h"
#include "support/suite.h"
#include "support/tempdir.h"
#include "wire/build.h"
#include "wire/bundle.h"

static char dir[WD_TEMP_BYTES];
static struct wd_reader *local, *remote;

/* ---- lines --------------------------------------------------------------- */

/* What stands at the other end of each line that is opened. */
static struct {
	void *(*serve)(void *socket);
	pthread_t threads[8];
	unsigned opened, lost;
} other;

static void *
serve_well(void *socket)
{
	int fd = *(int *)socket;

	ck_assert_int_eq(
	    wd_reader_serve(fd, local, &wd_clock_system, NULL), WD_OK);
	(void)close(fd);
	free(socket);
	return NULL;
}

static enum wd_status
open_line(void *ctx, int *socket, struct wd_error *err)
{
	int pair[2], *end = malloc(sizeof(*end));
	enum wd_status st = wd_frame_pair(pair, err);

	(void)ctx;
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_lt(other.opened, WD_COUNT(other.threads));
	*end = pair[1];
	*socket = pair[0];
	ck_assert_int_eq(pthread_create(&other.threads[other.opened++], NULL,
			     other.serve, end),
	    0);
	return WD_OK;
}

static void
line_lost(void *ctx, int socket)
{
	(void)ctx;
	(void)shutdown(socket, SHUT_RDWR);
	other.lost++;
}

static void
set_up(void)
{
	static const struct wd_reader_lines lines = { open_line, line_lost,
		NULL };

	wd_temp_make(dir);
	memset(&other, 0, sizeof(other));
	other.serve = serve_well;
	ck_assert_int_eq(wd_reader_in_process(NULL, &local, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_reader_over_lines(&lines, &wd_clock_system, &remote, NULL),
	    WD_OK);
}

static void
tear_down(void)
{
	wd_reader_free(&remote);
	while (other.opened > 0)
		(void)pthread_join(other.threads[--other.opened], NULL);
	wd_reader_free(&local);
	wd_temp_remove(dir);
}

/* ---- files --------------------------------------------------------------- */

static int
make_shard(const char *name, unsigned number, unsigned of)
{
	static const uint64_t dims[] = { 32, 2 };
	struct make_gguf gguf;
	struct wd_buf file;
	char tensor[32];

	make_gguf_init(&gguf);
	wd_buf_init(&file, 1U << 20);
	make_gguf_string(&gguf, "general.architecture", "llama");
	make_gguf_string(&gguf, "general.name", "a\tname\\");
	make_gguf_strings(&gguf, "tokenizer.ggml.tokens", "t", 20);
	if (of > 0) {
		make_gguf_number(&gguf, "split.no", MAKE_U16, number - 1);
		make_gguf_number(&gguf, "split.count", MAKE_U16, of);
		make_gguf_number(
		    &gguf, "split.tensors.count", MAKE_I32, of * 2);
	}
	(void)snprintf(tensor, sizeof(tensor), "blk.%u.weight", number);
	ck_assert(make_gguf_tensor(&gguf, tensor, "F16", dims, 2));
	(void)snprintf(tensor, sizeof(tensor), "blk.%u.bias", number);
	ck_assert(make_gguf_tensor(&gguf, tensor, "Q8_0", dims, 1));
	ck_assert_int_eq(make_gguf_file(&gguf, number, &file), WD_OK);
	wd_temp_write(wd_temp_path(dir, name), file.data, file.len);
	wd_buf_release(&file);
	make_gguf_release(&gguf);
	return open(wd_temp_path(dir, name), O_RDONLY | O_CLOEXEC);
}

struct beside {
	int fds[16];
	size_t opens;
	enum wd_status answer;
};

static enum wd_status
open_sibling(void *ctx, struct wd_slice name, int *fd, struct wd_error *err)
{
	struct beside *beside = ctx;
	char text[300];

	if (beside->answer != WD_OK)
		return wd_fail(err, beside->answer, "as the test says");
	(void)snprintf(
	    text, sizeof(text), "%.*s", (int)name.len, (const char *)name.data);
	*fd = open(wd_temp_path(dir, text), O_RDONLY | O_NONBLOCK);
	if (*fd < 0)
		return wd_fail(err, WD_NOTFOUND, "not there");
	ck_assert_uint_lt(beside->opens, WD_COUNT(beside->fds));
	beside->fds[beside->opens++] = *fd;
	return WD_OK;
}

static enum wd_status
list_siblings(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	static const char *const names[] = { "m-00001-of-00002.gguf",
		"m-00002-of-00002.gguf" };
	struct beside *beside = ctx;
	size_t i;

	if (beside->answer != WD_OK)
		return wd_fail(err, beside->answer, "as the test says");
	for (i = 0; i < WD_COUNT(names); i++)
		if (!each(each_ctx, wd_slice_text(names[i])))
			break;
	return WD_OK;
}

static void
message_of(struct wd_reader *reader, int fd, struct wd_siblings *siblings,
    struct wd_buf *bytes)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	Weightd__V1__Bundle *message = NULL;
	uint8_t *room;
	size_t len;

	ck_assert_int_eq(wd_reader_describe(reader, fd,
			     wd_slice_text("m-00001-of-00002.gguf"), siblings,
			     NULL, &bundle, NULL),
	    WD_OK);
	ck_assert_int_eq(
	    wd_bundle_message(bundle, NULL,
		wd_slice_text("/m/m-00001-of-00002.gguf"), &message, NULL),
	    WD_OK);
	wd_buf_init(bytes, 1U << 24);
	len = weightd__v1__bundle__get_packed_size(message);
	ck_assert_int_eq(wd_buf_reserve(bytes, len, &room), WD_OK);
	(void)weightd__v1__bundle__pack(message, room);
	wd_buf_advance(bytes, len);
	wd_message_free(message);
}

/* ---- the same answers ---------------------------------------------------- */

START_TEST(the_facts_are_the_same)
{
	static const enum wd_status answers[] = { WD_OK, WD_DENIED };
	struct beside beside = { .answer = answers[_i] };
	struct wd_siblings siblings = { open_sibling, list_siblings, &beside };
	struct wd_buf here, there;
	int first = make_shard("m-00001-of-00002.gguf", 1, 2);

	(void)close(make_shard("m-00002-of-00002.gguf", 2, 2));
	message_of(local, first, &siblings, &here);
	message_of(remote, first, &siblings, &there);
	ck_assert_uint_gt(here.len, 100);
	ck_assert_uint_eq(here.len, there.len);
	ck_assert_int_eq(memcmp(here.data, there.data, here.len), 0);
	if (beside.answer == WD_OK)
		ck_assert_uint_ge(beside.opens, 2);
	while (beside.opens > 0)
		ck_assert_int_eq(close(beside.fds[--beside.opens]), 0);
	wd_buf_release(&here);
	wd_buf_release(&there);
	(void)close(first);
	ck_assert_uint_eq(other.opened, 1);
}
END_TEST

static int
make_packed(void)
{
	struct make_safetensors st;
	struct wd_buf file;

	make_safetensors_init(&st);
	wd_buf_init(&file, 1U << 20);
	make_safetensors_tensor(&st, "w", "F8_E4M3", "[4,4]", 16);
	make_safetensors_tensor(&st, "w_scale", "F32", "[1]", 4);
	ck_assert_int_eq(make_safetensors_file(&st, 1, &file), WD_OK);
	wd_temp_write(wd_temp_path(dir, "m.safetensors"), file.data, file.len);
	wd_buf_release(&file);
	make_safetensors_release(&st);
	return open(wd_temp_path(dir, "m.safetensors"), O_RDONLY | O_CLOEXEC);
}

START_TEST(packed_tensors_come_over_whole)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *b = NULL;
	struct wd_slice name = wd_slice_text("m.safetensors");
	int fd = make_packed();

	ck_assert_int_eq(
	    wd_reader_describe(remote, fd, name, NULL, NULL, &b, NULL), WD_OK);
	ck_assert_uint_eq(b->tensor_count, 2);
	ck_assert(!b->tensors[0].helper);
	ck_assert_str_eq(b->tensors[0].encoding, "fp8-e4m3-tensor");
	ck_assert(b->tensors[1].helper);
	(void)close(fd);
}
END_TEST

START_TEST(tensors_come_over_whole)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *a = NULL, *b = NULL;
	struct wd_slice name = wd_slice_text("m.gguf");
	int fd = make_shard("m.gguf", 1, 0);
	size_t i;

	ck_assert_int_eq(
	    wd_reader_describe(local, fd, name, NULL, NULL, &a, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_reader_describe(remote, fd, name, NULL, NULL, &b, NULL), WD_OK);
	ck_assert_uint_eq(a->tensor_count, 2);
	ck_assert_uint_eq(b->tensor_count, 2);
	ck_assert_str_eq(b->inner_name, "a\\tname\\\\");
	ck_assert_ptr_null(b->declared_recipe);
	ck_assert(b->has_tokenizer);
	ck_assert_str_eq(a->derived_recipe, b->derived_recipe);
	for (i = 0; i < 2; i++) {
		ck_assert_str_eq(a->tensors[i].name, b->tensors[i].name);
		ck_assert_str_eq(
		    a->tensors[i].encoding, b->tensors[i].encoding);
		ck_assert_uint_eq(a->tensors[i].dims, b->tensors[i].dims);
		ck_assert_int_eq(
		    memcmp(a->tensors[i].shape, b->tensors[i].shape,
			sizeof(a->tensors[i].shape)),
		    0);
		ck_assert_uint_eq(a->tensors[i].offset, b->tensors[i].offset);
		ck_assert_uint_eq(
		    a->tensors[i].size_bytes, b->tensors[i].size_bytes);
		ck_assert(b->tensors[i].sized);
		ck_assert_uint_eq(
		    a->tensors[i].parameters, b->tensors[i].parameters);
	}
	ck_assert_uint_eq(a->files[0].data_offset, b->files[0].data_offset);
	ck_assert_uint_eq(a->files[0].size_bytes, b->files[0].size_bytes);
	(void)close(fd);
}
END_TEST

START_TEST(a_list_comes_over)
{
	static const char text[] = "[a]\nmodel = /m/\xff\n[b]\n";
	WD_CLEANUP(wd_listing_release) struct wd_listing list;
	int fd;

	wd_temp_write(wd_temp_path(dir, "ini"), text, sizeof(text) - 1);
	fd = open(wd_temp_path(dir, "ini"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(
	    wd_reader_names(remote, fd, WD_LISTING_MANIFEST, &list, NULL),
	    WD_MALFORMED);
	ck_assert_uint_eq(list.count, 0);
	ck_assert_int_eq(
	    wd_reader_names(remote, fd, WD_LISTING_PRESET, &list, NULL), WD_OK);
	ck_assert_uint_eq(list.count, 2);
	ck_assert_uint_eq(list.entries, 2);
	ck_assert(list.complete);
	ck_assert_str_eq(list.items[0].entry, "a");
	ck_assert_str_eq(list.items[0].key, "model");
	ck_assert(
	    wd_slice_equal(list.items[0].value, wd_slice_text("/m/\xff")));
	(void)close(fd);
}
END_TEST

START_TEST(failures_are_the_same)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	enum wd_bundle_format format;
	struct wd_error here, there;
	int fd, ends[2];

	wd_temp_write(wd_temp_path(dir, "x"), "GGUF\3\0\0\0\xff\xff\xff", 11);
	fd = open(wd_temp_path(dir, "x"), O_RDONLY);
	ck_assert_int_ne(wd_reader_describe(local, fd, wd_slice_text("x"), NULL,
			     NULL, &bundle, &here),
	    WD_OK);
	ck_assert_int_eq(wd_reader_describe(remote, fd, wd_slice_text("x"),
			     NULL, NULL, &bundle, &there),
	    here.status);
	ck_assert_str_eq(here.message, there.message);
	ck_assert_uint_eq(here.offset, there.offset);
	(void)close(fd);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(
	    wd_reader_sniff(remote, ends[0], &format, NULL), WD_INVALID);
	ck_assert_int_eq(wd_reader_sniff(remote, -1, &format, NULL), WD_IO);
	fd = make_shard("m.gguf", 1, 0);
	ck_assert_int_eq(wd_reader_sniff(remote, fd, &format, NULL), WD_OK);
	ck_assert_int_eq(format, WD_FORMAT_GGUF);
	ck_assert_uint_eq(other.opened, 1);
}
END_TEST

START_TEST(a_digest)
{
	struct wd_sha256 digest, want;
	int fd;

	wd_temp_write(wd_temp_path(dir, "f"), "abc", 3);
	fd = open(wd_temp_path(dir, "f"), O_RDONLY);
	ck_assert_int_eq(wd_sha256(wd_slice_text("abc"), &want, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_reader_digest(remote, fd, NULL, &digest, NULL), WD_OK);
	ck_assert(wd_sha256_equal(&digest, &want));
	(void)close(fd);
}
END_TEST

static uint64_t heard_bytes;

static bool
stop_at_once(void *ctx, uint64_t done_bytes)
{
	(void)ctx;
	heard_bytes = done_bytes;
	return false;
}

/* 20 MiB at 10 MiB a second: there is time for a word. */
START_TEST(a_digest_that_is_stopped)
{
	struct wd_digest_manner manner = { .max_bytes_per_second = 10U << 20,
		.go_on = stop_at_once };
	struct wd_sha256 digest;
	int fd = open(wd_temp_path(dir, "f"), O_RDWR | O_CREAT, 0600);

	ck_assert_int_eq(ftruncate(fd, 20 << 20), 0);
	ck_assert_int_eq(
	    wd_reader_digest(remote, fd, &manner, &digest, NULL), WD_TIMEDOUT);
	ck_assert_uint_gt(heard_bytes, 0);
	/* The line is as good as before. */
	ck_assert_int_eq(ftruncate(fd, 3), 0);
	ck_assert_int_eq(
	    wd_reader_digest(remote, fd, NULL, &digest, NULL), WD_OK);
	ck_assert_uint_eq(other.opened, 1);
	ck_assert_uint_eq(other.lost, 0);
	(void)close(fd);
}
END_TEST

/* ---- the other side dies, hangs, lies ------------------------------------ */

/* How many more readers die on their first call; then all is well. */
static unsigned dying;

static void *
die(void *socket)
{
	struct wd_frame frame;
	int fd = *(int *)socket;

	if (wd_frame_receive(fd, 1U << 20, NULL, &frame, NULL) == WD_OK)
		wd_frame_release(&frame);
	if (--dying == 0)
		other.serve = serve_well;
	(void)close(fd);
	free(socket);
	return NULL;
}

START_TEST(a_dead_reader_is_asked_anew)
{
	enum wd_bundle_format format = WD_FORMAT_UNKNOWN;
	int fd = make_shard("m.gguf", 1, 0);

	dying = 1;
	other.serve = die;
	ck_assert_int_eq(wd_reader_sniff(remote, fd, &format, NULL), WD_OK);
	ck_assert_int_eq(format, WD_FORMAT_GGUF);
	ck_assert_uint_eq(other.opened, 2);
	(void)close(fd);
}
END_TEST

START_TEST(a_file_that_kills_readers)
{
	enum wd_bundle_format format;
	struct wd_error err;
	int fd = make_shard("m.gguf", 1, 0);

	dying = 3;
	other.serve = die;
	ck_assert_int_eq(wd_reader_sniff(remote, fd, &format, &err), WD_IO);
	ck_assert_ptr_nonnull(strstr(err.message, "crash"));
	ck_assert_uint_eq(other.opened, 2);
	(void)close(fd);
}
END_TEST

static void *
hang(void *socket)
{
	char byte;

	/* Until the line is shut. */
	while (recv(*(int *)socket, &byte, 1, 0) > 0)
		;
	(void)close(*(int *)socket);
	free(socket);
	return NULL;
}

START_TEST(a_reader_that_hangs_is_given_up)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	struct wd_deadline deadline = wd_deadline_in(&wd_clock_system, 1);
	struct wd_error err;
	int fd = make_shard("m.gguf", 1, 0);

	other.serve = hang;
	ck_assert_int_eq(wd_reader_describe(remote, fd, wd_slice_text("m"),
			     NULL, &deadline, &bundle, &err),
	    WD_TIMEDOUT);
	ck_assert_uint_eq(other.lost, 1);
	ck_assert_ptr_nonnull(strstr(err.message, "hangs"));
	(void)close(fd);
}
END_TEST

/* Lies: each is one frame instead of an answer. */
static int lie;

/* The other side may have hung up already. */
static void
say(int fd, enum wd_line_kind kind, const ProtobufCMessage *message)
{
	if (wd_line_send(fd, kind, message, -1, NULL, NULL) != WD_OK)
		return;
}

static void *
serve_lie(void *socket)
{
	static const uint8_t half[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
		29, 30, 31, 32 };
	Weightd__Seam__V1__Done done = WEIGHTD__SEAM__V1__DONE__INIT;
	Weightd__Seam__V1__Ask ask = WEIGHTD__SEAM__V1__ASK__INIT;
	Weightd__Seam__V1__Facts facts = WEIGHTD__SEAM__V1__FACTS__INIT;
	Weightd__Seam__V1__Tensor tensor = WEIGHTD__SEAM__V1__TENSOR__INIT;
	Weightd__Seam__V1__Tensor *tensors[] = { &tensor };
	Weightd__Seam__V1__Progress progress =
	    WEIGHTD__SEAM__V1__PROGRESS__INIT;
	Weightd__Seam__V1__Failure failure = WEIGHTD__SEAM__V1__FAILURE__INIT;
	uint8_t up[] = "../../etc/shadow";
	struct wd_frame frame;
	int fd = *(int *)socket;

	ck_assert_int_eq(
	    wd_frame_receive(fd, 1U << 20, NULL, &frame, NULL), WD_OK);
	wd_frame_release(&frame);
	done.facts = &facts;
	memcpy(&facts.encoding_digest.data, &(const uint8_t *){ half },
	    sizeof(uint8_t *));
	facts.encoding_digest.len = sizeof(half);
	facts.settings_digest = facts.encoding_digest;
	if (lie == 0) { /* a tensor in a file that is not there */
		facts.n_tensors = 1;
		facts.tensors = tensors;
	} else if (lie == 1) { /* a digest that is too short */
		facts.encoding_digest.len = 31;
	} else if (lie == 2) { /* facts that are no facts */
		done.facts = NULL;
	} else if (lie == 3) { /* a path instead of a name */
		ask.name.data = up;
		ask.name.len = sizeof(up) - 1;
		say(fd, WD_LINE_ASK, &ask.base);
	} else if (lie == 4) { /* progress of a hash that nobody asked for */
		say(fd, WD_LINE_PROGRESS, &progress.base);
	} else if (lie == 5) { /* garbage */
		frame = wd_frame_init(WD_LINE_DONE, 0);
		frame.len = sizeof(half);
		memcpy(
		    &frame.data, &(const uint8_t *){ half }, sizeof(uint8_t *));
		ck_assert_int_eq(wd_frame_send(fd, &frame, NULL, NULL), WD_OK);
	} else if (lie == 6) { /* a frame of 4 GiB */
		uint8_t header[WD_FRAME_HEADER_BYTES];
		struct wd_frame_header big = { UINT32_MAX, WD_LINE_DONE, 0, 0 };

		wd_frame_header_write(&big, header);
		ck_assert_int_eq(
		    send(fd, header, sizeof(header), 0), sizeof(header));
	} else if (lie == 8) { /* a status that there is not */
		failure.status = 5;
		done.failure = &failure;
	} else if (lie == 7) { /* an unknown kind */
		say(fd, (enum wd_line_kind)99, &progress.base);
	}
	say(fd, WD_LINE_DONE, &done.base);
	return hang(socket);
}

static const int lies[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

START_TEST(lies_are_refused)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	struct beside beside = { .opens = 0 };
	struct wd_siblings siblings = { open_sibling, list_siblings, &beside };
	int fd = make_shard("m.gguf", 1, 0);

	lie = lies[_i];
	other.serve = serve_lie;
	ck_assert_int_eq(wd_reader_describe(remote, fd, wd_slice_text("m"),
			     &siblings, NULL, &bundle, NULL),
	    WD_MALFORMED);
	ck_assert_ptr_null(bundle);
	ck_assert_uint_eq(beside.opens, 0);
	(void)close(fd);
}
END_TEST

/* ---- facts --------------------------------------------------------------- */

struct bad {
	const char *what;
	void (*spoil)(Weightd__Seam__V1__Facts *facts);
};

static void
spoil_encoding(Weightd__Seam__V1__Facts *facts)
{
	facts->tensors[0]->encoding = 77;
}
static void
spoil_file(Weightd__Seam__V1__Facts *facts)
{
	facts->tensors[0]->file = 1;
}
static void
spoil_shape(Weightd__Seam__V1__Facts *facts)
{
	facts->tensors[0]->n_shape = 9;
}
static void
spoil_name(Weightd__Seam__V1__Facts *facts)
{
	facts->tensors[0]->name =
	    (ProtobufCBinaryData){ 2, (uint8_t[]){ 'a', 0 } };
}
static void
spoil_count(Weightd__Seam__V1__Facts *facts)
{
	facts->encodings[0]->name = 2;
}
static void
spoil_names(Weightd__Seam__V1__Facts *facts)
{
	facts->n_encoding_names = 1;
}
static void
spoil_role(Weightd__Seam__V1__Facts *facts)
{
	facts->files[0]->role = 4;
}
static void
spoil_kind(Weightd__Seam__V1__Facts *facts)
{
	facts->kind = 4;
}
static void
spoil_format(Weightd__Seam__V1__Facts *facts)
{
	facts->format = 1000;
}
static void
spoil_tokenizer(Weightd__Seam__V1__Facts *facts)
{
	facts->tokenizer_digest.len = 5;
}
static void
spoil_recipe(Weightd__Seam__V1__Facts *facts)
{
	static uint8_t text[128] = "derived:";

	facts->derived_recipe = (ProtobufCBinaryData){ sizeof(text), text };
}

static const struct bad bad[] = {
	{ "encoding", spoil_encoding },
	{ "file", spoil_file },
	{ "shape", spoil_shape },
	{ "name", spoil_name },
	{ "count", spoil_count },
	{ "names", spoil_names },
	{ "role", spoil_role },
	{ "kind", spoil_kind },
	{ "format", spoil_format },
	{ "tokenizer", spoil_tokenizer },
	{ "recipe", spoil_recipe },
};

START_TEST(bad_facts_are_refused)
{
	WD_CLEANUP(wd_bundle_free)
	struct wd_bundle *bundle = NULL, *back = NULL;
	Weightd__Seam__V1__Facts *facts = NULL;
	struct wd_error err;
	int fd = make_shard("m.gguf", 1, 0);

	ck_assert_int_eq(wd_reader_describe(local, fd, wd_slice_text("m.gguf"),
			     NULL, NULL, &bundle, NULL),
	    WD_OK);
	ck_assert_int_eq(wd_facts_of(bundle, &facts, NULL), WD_OK);
	ck_assert_int_eq(wd_facts_bundle(facts, &back, NULL), WD_OK);
	wd_bundle_free(&back);
	bad[_i].spoil(facts);
	ck_assert_msg(wd_facts_bundle(facts, &back, &err) == WD_MALFORMED, "%s",
	    bad[_i].what);
	ck_assert_ptr_null(back);
	ck_assert_ptr_nonnull(strstr(err.message, "taken over"));
	wd_facts_free(&facts);
	(void)close(fd);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	enum wd_status st = WD_NOMEM;
	int fd = make_shard("m.gguf", 1, 0);
	uint64_t n;

	ck_assert_int_eq(wd_reader_describe(local, fd, wd_slice_text("m.gguf"),
			     NULL, NULL, &bundle, NULL),
	    WD_OK);
	for (n = 0; st == WD_NOMEM && n < 1000; n++) {
		WD_CLEANUP(wd_bundle_free) struct wd_bundle *back = NULL;
		Weightd__Seam__V1__Facts *facts = NULL;

		wd_mem_fail_after(n);
		st = wd_facts_of(bundle, &facts, NULL);
		if (st == WD_OK)
			st = wd_facts_bundle(facts, &back, NULL);
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_int_eq(st == WD_OK, back != NULL);
		wd_facts_free(&facts);
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(n, 15);
	(void)close(fd);
}
END_TEST

/* ---- what cannot be a message -------------------------------------------- */

static const struct {
	const char *bytes;
	size_t len;
	bool is_message;
} said[] = {
	{ "\x10\x03", 2, true }, /* Done: format 3 */
	{ "\x0a\x02\x08\x00", 4, true },
	/* A submessage that stands twice would be merged again and again. */
	{ "\x0a\x02\x08\x00\x0a\x02\x08\x00", 8, false },
	{ "\x98\x06\x01", 3, false }, /* field 99 */
	{ "\x0a\x05\x08", 3, false },
};

START_TEST(a_message_is_checked_before_it_is_made)
{
	struct wd_frame frame = wd_frame_init(WD_LINE_DONE, 0);
	void *message;

	frame.data = (uint8_t *)wd_memdup0(said[_i].bytes, said[_i].len);
	frame.len = said[_i].len;
	message = wd_line_message(&frame, &weightd__seam__v1__done__descriptor);
	ck_assert_int_eq(message != NULL, said[_i].is_message);
	wd_message_free(message);
	wd_frame_release(&frame);
}
END_TEST

WD_SUITE_BEGIN("seam line")
tcase_add_checked_fixture(tcase, set_up, tear_down);
tcase_add_loop_test(tcase, the_facts_are_the_same, 0, 2);
WD_TEST(tensors_come_over_whole);
WD_TEST(a_list_comes_over);
WD_TEST(packed_tensors_come_over_whole);
WD_TEST(failures_are_the_same);
WD_TEST(a_digest);
WD_TEST(a_digest_that_is_stopped);
WD_TEST(a_dead_reader_is_asked_anew);
WD_TEST(a_file_that_kills_readers);
WD_TEST(a_reader_that_hangs_is_given_up);
WD_LOOP(lies_are_refused, lies);
WD_LOOP(bad_facts_are_refused, bad);
WD_TEST(every_allocation_may_fail);
WD_LOOP(a_message_is_checked_before_it_is_made, said);
WD_SUITE_END
