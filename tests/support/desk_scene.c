#include "support/desk_scene.h"

#include <check.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "wire/build.h"
#include "wire/unpack.h"

/* ---- the reader ---------------------------------------------------------- */

struct held_reader {
	struct wd_reader reader;
	struct wd_reader *real;
	struct desk_scene *d;
};

static bool
must_end(struct desk_scene *d)
{
	int left = atomic_load(&d->ends);

	while (left > 0 &&
	    !atomic_compare_exchange_weak(&d->ends, &left, left - 1))
		;
	return left > 0;
}

static enum wd_status
ended(struct wd_error *err)
{
	return wd_fail(err, WD_GONE, "the other process has ended");
}

static enum wd_status
held_sniff(struct wd_reader *reader, int fd, enum wd_bundle_format *format,
    struct wd_error *err)
{
	struct held_reader *held = (struct held_reader *)reader;

	return must_end(held->d) ? ended(err) :
				   wd_reader_sniff(held->real, fd, format, err);
}

static enum wd_status
held_describe(struct wd_reader *reader, int fd, struct wd_slice name,
    const struct wd_siblings *siblings, const struct wd_deadline *deadline,
    struct wd_bundle **bundle, struct wd_error *err)
{
	struct held_reader *held = (struct held_reader *)reader;

	atomic_fetch_add(&held->d->describes, 1);
	atomic_fetch_add(&held->d->describing, 1);
	while (atomic_load(&held->d->shut) && !wd_deadline_passed(deadline))
		(void)usleep(500);
	atomic_fetch_sub(&held->d->describing, 1);
	return must_end(held->d) ? ended(err) :
				   wd_reader_describe(held->real, fd, name,
				       siblings, deadline, bundle, err);
}

static enum wd_status
held_names(struct wd_reader *reader, int fd, enum wd_listing_kind kind,
    struct wd_listing *listing, struct wd_error *err)
{
	struct held_reader *held = (struct held_reader *)reader;

	return wd_reader_names(held->real, fd, kind, listing, err);
}

static enum wd_status
held_digest(struct wd_reader *reader, int fd,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err)
{
	struct held_reader *held = (struct held_reader *)reader;

	atomic_fetch_add(&held->d->hashes, 1);
	atomic_fetch_add(&held->d->hashing, 1);
	while (atomic_load(&held->d->hash_shut) &&
	    manner->go_on(manner->go_on_ctx, 7))
		(void)usleep(500);
	atomic_fetch_sub(&held->d->hashing, 1);
	return must_end(held->d) ?
	    ended(err) :
	    wd_reader_digest(held->real, fd, manner, sha256, err);
}

static void
held_free(struct wd_reader *reader)
{
	struct held_reader *held = (struct held_reader *)reader;

	wd_reader_free(&held->real);
	wd_free(held);
}

static enum wd_status
new_reader(void *ctx, struct wd_reader **reader, struct wd_error *err)
{
	static const struct wd_reader_ops ops = { held_sniff, held_describe,
		held_names, held_digest, held_free };
	struct held_reader *held = wd_calloc(1, sizeof(*held));

	held->reader.ops = &ops;
	held->d = ctx;
	atomic_fetch_add(&held->d->readers, 1);
	*reader = &held->reader;
	return wd_reader_in_process(NULL, &held->real, err);
}

static enum wd_status
new_host(void *ctx, struct wd_host **host, struct wd_error *err)
{
	struct desk_scene *d = ctx;

	(void)err;
	*host = scene_new_host(&d->scene);
	return WD_OK;
}

/* ---- beginning and end --------------------------------------------------- */

static int64_t
real_ns(void *ctx)
{
	const struct desk_scene *d = ctx;

	return d->scene.real_ns;
}

static int64_t
boot_ns(void *ctx)
{
	(void)ctx;
	return wd_clock_boot_ns(&wd_clock_system);
}

void
desk_begin(struct desk_scene *d)
{
	memset(d, 0, sizeof(*d));
	scene_begin(&d->scene);
	d->clock = (struct wd_clock){ real_ns, boot_ns, d };
	d->options = (struct wd_desk_options){ .clock = &d->clock,
		.store = d->scene.store,
		.new_host = new_host,
		.new_reader = new_reader,
		.ctx = d,
		.answerers = 2,
		.hashers = 1,
		.open_questions = 8 };
}

void
desk_open(struct desk_scene *d)
{
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_msg(wd_desk_start(&d->options, &d->desk, &err) == WD_OK, "%s",
	    err.message);
	d->observer = wd_desk_observer(d->desk);
}

void
desk_end(struct desk_scene *d)
{
	wd_observer_free(&d->observer);
	scene_end(&d->scene);
}

/* ---- questions ----------------------------------------------------------- */

static void
done(void *ctx, enum wd_status status, struct wd_slice answer,
    const struct wd_error *err)
{
	struct desk_answer *a = ctx;

	a->calls++;
	a->status = status;
	a->err = *err;
	ck_assert_int_eq(
	    wd_buf_append(&a->bytes, answer.data, answer.len), WD_OK);
}

enum wd_status
desk_ask(struct desk_scene *d, enum wd_call call,
    const ProtobufCMessage *request, int64_t wait_ms,
    struct desk_answer *answer)
{
	struct wd_deadline deadline = wd_deadline_in(&wd_clock_system, wait_ms);
	WD_CLEANUP(wd_buf_release) struct wd_buf bytes;

	memset(answer, 0, sizeof(*answer));
	wd_buf_init(&answer->bytes, WD_MAX_MESSAGE);
	wd_error_init(&answer->err);
	wd_buf_init(&bytes, WD_MAX_MESSAGE);
	ck_assert_int_eq(wd_wire_pack(request, &bytes, NULL), WD_OK);
	return wd_observer_ask(d->observer, call, wd_buf_slice(&bytes),
	    &deadline, done, answer, &answer->ticket, &answer->err);
}

enum wd_status
desk_ask_port(struct desk_scene *d, uint32_t port,
    Weightd__V1__DigestWish digests, int64_t wait_ms,
    struct desk_answer *answer)
{
	Weightd__V1__AttestPortRequest request;
	Weightd__V1__Question question;

	weightd__v1__attest_port_request__init(&request);
	weightd__v1__question__init(&question);
	question.port = port;
	request.question = &question;
	request.digests = digests;
	return desk_ask(d, WD_CALL_ATTEST_PORT, &request.base, wait_ms, answer);
}

void
desk_deliver(struct desk_scene *d)
{
	wd_desk_deliver(d->desk);
}

void
desk_wait(struct desk_scene *d, const struct desk_answer *answer)
{
	struct pollfd wake = { wd_desk_wake_fd(d->desk), POLLIN, 0 };

	while (answer->calls == 0) {
		ck_assert_int_eq(poll(&wake, 1, 60000), 1);
		wd_desk_deliver(d->desk);
	}
	ck_assert_uint_eq(answer->calls, 1);
}

void *
desk_message(
    const struct desk_answer *answer, const ProtobufCMessageDescriptor *type)
{
	ProtobufCMessage *message = NULL;

	ck_assert_uint_eq(answer->calls, 1);
	ck_assert_msg(answer->status == WD_OK, "%s", answer->err.message);
	ck_assert_int_eq(
	    wd_wire_unpack(type, wd_buf_slice(&answer->bytes),
		WD_WIRE_REFUSE_UNKNOWN, WD_MAX_MESSAGE, &message, NULL),
	    WD_OK);
	return message;
}

void
desk_answer_release(struct desk_answer *answer)
{
	wd_buf_release(&answer->bytes);
}

void
desk_until(atomic_int *what, int value)
{
	unsigned tries;

	for (tries = 0; atomic_load(what) < value; tries++) {
		ck_assert_uint_lt(tries, 60000);
		(void)usleep(1000);
	}
}
