/*
 * The asking end of a reader's line.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "seam/line.h"
#include "seam/pack.h"
#include "seam/pack_listing.h"
#include "seam/reader_line.h"
#include "wire/build.h"

struct remote_reader {
	struct wd_reader reader;
	struct wd_reader_lines lines;
	const struct wd_clock *clock;
	int socket; /* -1: no line at the moment */
};

/* One call while it runs. */
struct call {
	struct remote_reader *remote;
	Weightd__Seam__V1__Call message;
	int fd;
	const struct wd_siblings *siblings;
	const struct wd_deadline *deadline;
	const struct wd_digest_manner *manner; /* of a hash */
	bool stopped;                          /* Stop was sent */
};

/* ---- the line ------------------------------------------------------------ */

static void
hang_up(struct remote_reader *remote, bool lost)
{
	if (remote->socket < 0)
		return;
	if (lost)
		remote->lines.lost(remote->lines.ctx, remote->socket);
	(void)close(remote->socket);
	remote->socket = -1;
}

/* How long to wait for the next word. */
static struct wd_deadline
patience(const struct call *call)
{
	int64_t left =
	    call->deadline == NULL ? -1 : wd_deadline_left_ms(call->deadline);

	if (left < 0 || left > WD_LINE_SILENCE_MS)
		left = WD_LINE_SILENCE_MS;
	else
		left += WD_LINE_GRACE_MS;
	return wd_deadline_in(call->remote->clock, left);
}

static enum wd_status
send_call(struct call *call, struct wd_error *err)
{
	struct remote_reader *remote = call->remote;
	struct wd_deadline deadline = patience(call);
	enum wd_status st = WD_OK;

	if (remote->socket < 0)
		st =
		    remote->lines.open(remote->lines.ctx, &remote->socket, err);
	if (st == WD_OK)
		st = wd_line_send(remote->socket, WD_LINE_CALL,
		    &call->message.base, call->fd, &deadline, err);
	return st;
}

/* ---- what the reader asks back ------------------------------------------- */

struct names {
	ProtobufCBinaryData *items;
	size_t count, capacity;
	enum wd_status status;
};

static bool
add_name(void *ctx, struct wd_slice name)
{
	struct names *names = ctx;
	void *items = names->items;
	char *copy = wd_memdup0(name.data, name.len);

	names->status = copy == NULL ?
	    WD_NOMEM :
	    wd_grow(&items, names->count, &names->capacity,
		sizeof(*names->items), WD_MAX_FOLDER_NAMES);
	names->items = items;
	if (names->status != WD_OK) {
		wd_free(copy);
		return false;
	}
	names->items[names->count].data = (uint8_t *)copy;
	names->items[names->count++].len = name.len;
	return true;
}

static enum wd_status
list_names(struct call *call, struct names *names, struct wd_error *err)
{
	enum wd_status st =
	    call->siblings->list(call->siblings->ctx, add_name, names, err);

	if (st == WD_OK && names->status != WD_OK)
		st = wd_fail(err, names->status,
		    "the folder has too many names to be read");
	return st;
}

static void
free_names(struct names *names)
{
	while (names->count > 0)
		wd_free(names->items[--names->count].data);
	wd_free(names->items);
}

static enum wd_status
give(struct call *call, const Weightd__Seam__V1__Ask *ask, struct wd_error *err)
{
	struct wd_slice name = { ask->name.data, ask->name.len };
	struct wd_deadline deadline = patience(call);
	Weightd__Seam__V1__Give message = WEIGHTD__SEAM__V1__GIVE__INIT;
	Weightd__Seam__V1__Failure words;
	struct names names = { 0 };
	struct wd_error failure;
	enum wd_status st;
	int fd = -1;

	wd_error_init(&failure);
	if (call->siblings == NULL ||
	    (!ask->list && !wd_folder_name_allowed(name)))
		return wd_fail(err, WD_MALFORMED,
		    "the reader asked for a file that it may not have");
	st = ask->list ?
	    list_names(call, &names, &failure) :
	    call->siblings->open(call->siblings->ctx, name, &fd, &failure);
	wd_line_failure(st, &failure, &words);
	message.failure = &words;
	if (st == WD_OK) {
		message.n_names = names.count;
		message.names = names.items;
	}
	st = wd_line_send(call->remote->socket, WD_LINE_GIVE, &message.base,
	    st == WD_OK ? fd : -1, &deadline, err);
	free_names(&names);
	return st;
}

static enum wd_status
answer_ask(
    struct call *call, const struct wd_frame *frame, struct wd_error *err)
{
	Weightd__Seam__V1__Ask *ask =
	    wd_line_message(frame, &weightd__seam__v1__ask__descriptor);
	enum wd_status st;

	if (ask == NULL)
		return wd_fail(err, WD_MALFORMED,
		    "the reader's question could not be read");
	st = give(call, ask, err);
	wd_message_free(ask);
	return st;
}

static enum wd_status
say_stop(struct call *call, struct wd_error *err)
{
	struct wd_frame stop = wd_frame_init(WD_LINE_STOP, 0);
	struct wd_deadline deadline = patience(call);

	call->stopped = true;
	return wd_frame_send(call->remote->socket, &stop, &deadline, err);
}

static enum wd_status
hear_progress(
    struct call *call, const struct wd_frame *frame, struct wd_error *err)
{
	Weightd__Seam__V1__Progress *progress =
	    wd_line_message(frame, &weightd__seam__v1__progress__descriptor);
	uint64_t bytes;

	if (progress == NULL)
		return wd_fail(err, WD_MALFORMED,
		    "the reader's progress could not be read");
	bytes = progress->done_bytes;
	wd_message_free(progress);
	if (call->manner == NULL)
		return wd_fail(err, WD_MALFORMED,
		    "the reader told of a hash that nobody wants");
	if (call->stopped || call->manner->go_on == NULL ||
	    call->manner->go_on(call->manner->go_on_ctx, bytes))
		return WD_OK;
	return say_stop(call, err);
}

/* ---- one call ------------------------------------------------------------ */

/* Listens until Done; `*done` is the caller's. */
static enum wd_status
listen_to(
    struct call *call, Weightd__Seam__V1__Done **done, struct wd_error *err)
{
	enum wd_status st = WD_OK;

	*done = NULL;
	while (st == WD_OK && *done == NULL) {
		struct wd_deadline deadline = patience(call);
		struct wd_frame frame;

		st = wd_frame_receive(call->remote->socket, WD_MAX_SEAM_MESSAGE,
		    &deadline, &frame, err);
		if (st != WD_OK)
			break;
		if (frame.kind == WD_LINE_ASK)
			st = answer_ask(call, &frame, err);
		else if (frame.kind == WD_LINE_PROGRESS)
			st = hear_progress(call, &frame, err);
		else if (frame.kind != WD_LINE_DONE)
			st = wd_fail(err, WD_MALFORMED,
			    "the reader said something unknown");
		else if ((*done = wd_line_message(&frame,
			      &weightd__seam__v1__done__descriptor)) == NULL)
			st = wd_fail(err, WD_MALFORMED,
			    "the reader's answer could not be read");
		wd_frame_release(&frame);
	}
	return st;
}

static enum wd_status
try_call(
    struct call *call, Weightd__Seam__V1__Done **done, struct wd_error *err)
{
	enum wd_status st = send_call(call, err);

	if (st == WD_OK)
		st = listen_to(call, done, err);
	if (st != WD_OK)
		hang_up(call->remote, st == WD_TIMEDOUT || st == WD_MALFORMED);
	return st;
}

/* A reader that is gone is asked once more: another file may have been its
 * end. */
static enum wd_status
make_call(
    struct call *call, Weightd__Seam__V1__Done **done, struct wd_error *err)
{
	enum wd_status st;

	if (fcntl(call->fd, F_GETFD) < 0)
		return wd_fail_errno(err, errno, "reader: no open file");
	st = try_call(call, done, err);
	if (st == WD_GONE)
		st = try_call(call, done, err);
	if (st == WD_GONE)
		return wd_fail(err, WD_IO,
		    "the reader process ended twice while it read this file: "
		    "the file may be made to crash it");
	if (st == WD_TIMEDOUT)
		return wd_fail(err, st,
		    "the reader process did not answer and was ended: the "
		    "file may lie on a file system that hangs");
	if (st != WD_OK)
		return st;
	st = wd_line_status((*done)->failure, err);
	if (st != WD_OK) {
		wd_message_free(*done);
		*done = NULL;
	}
	return st;
}

static struct call
call_of(struct wd_reader *reader, int fd, const struct wd_deadline *deadline)
{
	struct call call = { .remote = (struct remote_reader *)reader,
		.fd = fd,
		.deadline = deadline };

	weightd__seam__v1__call__init(&call.message);
	return call;
}

static int64_t
left_of(const struct wd_deadline *deadline)
{
	return deadline == NULL ? -1 : wd_deadline_left_ms(deadline);
}

static enum wd_status
remote_sniff(struct wd_reader *reader, int fd, enum wd_bundle_format *format,
    struct wd_error *err)
{
	Weightd__Seam__V1__Sniff sniff = WEIGHTD__SEAM__V1__SNIFF__INIT;
	struct call call = call_of(reader, fd, NULL);
	Weightd__Seam__V1__Done *done;
	enum wd_status st;

	call.message.call_case = WEIGHTD__SEAM__V1__CALL__CALL_SNIFF;
	call.message.sniff = &sniff;
	st = make_call(&call, &done, err);
	if (st != WD_OK)
		return st;
	*format = (enum wd_bundle_format)done->format;
	wd_message_free(done);
	return WD_OK;
}

static enum wd_status
remote_describe(struct wd_reader *reader, int fd, struct wd_slice name,
    const struct wd_siblings *siblings, const struct wd_deadline *deadline,
    struct wd_bundle **bundle, struct wd_error *err)
{
	Weightd__Seam__V1__Describe describe =
	    WEIGHTD__SEAM__V1__DESCRIBE__INIT;
	struct call call = call_of(reader, fd, deadline);
	Weightd__Seam__V1__Done *done;
	enum wd_status st;

	describe.name.len = name.len;
	/* Packing reads it only. */
	memcpy(&describe.name.data, &name.data, sizeof(name.data));
	describe.siblings = siblings != NULL;
	describe.left_ms = left_of(deadline);
	call.siblings = siblings;
	call.message.call_case = WEIGHTD__SEAM__V1__CALL__CALL_DESCRIBE;
	call.message.describe = &describe;
	st = make_call(&call, &done, err);
	if (st != WD_OK)
		return st;
	st = done->facts == NULL ?
	    wd_fail(err, WD_MALFORMED, "the reader gave no facts") :
	    wd_facts_bundle(done->facts, bundle, err);
	wd_message_free(done);
	return st;
}

static enum wd_status
remote_names(struct wd_reader *reader, int fd, enum wd_listing_kind kind,
    struct wd_listing *listing, struct wd_error *err)
{
	Weightd__Seam__V1__Names names = WEIGHTD__SEAM__V1__NAMES__INIT;
	struct call call = call_of(reader, fd, NULL);
	Weightd__Seam__V1__Done *done;
	enum wd_status st;

	memset(listing, 0, sizeof(*listing));
	names.kind = kind;
	call.message.call_case = WEIGHTD__SEAM__V1__CALL__CALL_NAMES;
	call.message.names = &names;
	st = make_call(&call, &done, err);
	if (st != WD_OK)
		return st;
	st = done->listing == NULL ?
	    wd_fail(err, WD_MALFORMED, "the reader gave no list") :
	    wd_listing_of_message(done->listing, listing, err);
	wd_message_free(done);
	return st;
}

static enum wd_status
remote_digest(struct wd_reader *reader, int fd,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err)
{
	static const struct wd_digest_manner plain;
	Weightd__Seam__V1__Hash hash = WEIGHTD__SEAM__V1__HASH__INIT;
	struct call call;
	Weightd__Seam__V1__Done *done;
	enum wd_status st;

	if (manner == NULL)
		manner = &plain;
	call = call_of(reader, fd, manner->deadline);
	call.manner = manner;
	hash.max_bytes_per_second = manner->max_bytes_per_second;
	hash.idle_class = manner->idle_class;
	hash.left_ms = left_of(manner->deadline);
	call.message.call_case = WEIGHTD__SEAM__V1__CALL__CALL_HASH;
	call.message.hash = &hash;
	st = make_call(&call, &done, err);
	if (st != WD_OK)
		return st;
	if (done->sha256.len == sizeof(sha256->bytes))
		memcpy(sha256->bytes, done->sha256.data, done->sha256.len);
	else
		st = wd_fail(err, WD_MALFORMED, "the reader gave no digest");
	wd_message_free(done);
	return st;
}

static void
remote_free(struct wd_reader *reader)
{
	hang_up((struct remote_reader *)reader, false);
	wd_free(reader);
}

enum wd_status
wd_reader_over_lines(const struct wd_reader_lines *lines,
    const struct wd_clock *clock, struct wd_reader **reader,
    struct wd_error *err)
{
	static const struct wd_reader_ops ops = { remote_sniff, remote_describe,
		remote_names, remote_digest, remote_free };
	struct remote_reader *remote = wd_calloc(1, sizeof(*remote));

	if (remote == NULL)
		return wd_fail(err, WD_NOMEM, "reader: out of memory");
	remote->reader.ops = &ops;
	remote->lines = *lines;
	remote->clock = clock;
	remote->socket = -1;
	*reader = &remote->reader;
	return WD_OK;
}
