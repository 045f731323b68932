/*
 * The answering end of a reader's line: calls come in, an in-process reader
 * answers, and what it wants to know of the files beside goes back as Ask.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "seam/line.h"
#include "seam/pack.h"
#include "seam/pack_listing.h"
#include "seam/reader_line.h"
#include "wire/build.h"

/* Milliseconds between two words about a hash that goes on. */
#define PROGRESS_MS 200

struct serving {
	int socket;
	struct wd_reader *reader;
	const struct wd_clock *clock;
	/* The line itself broke: nothing more can be said on it. */
	enum wd_status broken;
	/* Siblings that were given during this call. */
	int *files;
	size_t file_count, file_capacity;
	int64_t said_boot_ns; /* the last Progress */
	bool stopped;         /* the hash that runs shall end */
};

static void
close_files(struct serving *s)
{
	while (s->file_count > 0)
		(void)close(s->files[--s->file_count]);
}

static struct wd_deadline
deadline_of(const struct serving *s, int64_t left_ms)
{
	return left_ms < 0 ? wd_deadline_none() :
			     wd_deadline_in(s->clock, left_ms);
}

/* ---- files beside -------------------------------------------------------- */

/* Asks and waits for the answer; the frame and `*give` are the caller's. */
static enum wd_status
ask(struct serving *s, const Weightd__Seam__V1__Ask *question,
    struct wd_frame *frame, Weightd__Seam__V1__Give **give,
    struct wd_error *err)
{
	enum wd_status st;

	st = wd_line_send(
	    s->socket, WD_LINE_ASK, &question->base, -1, NULL, err);
	if (st == WD_OK)
		st = wd_frame_receive(
		    s->socket, WD_MAX_SEAM_MESSAGE, NULL, frame, err);
	if (st != WD_OK) {
		s->broken = st;
		return st;
	}
	*give = frame->kind == WD_LINE_GIVE ?
	    wd_line_message(frame, &weightd__seam__v1__give__descriptor) :
	    NULL;
	if (*give != NULL)
		return WD_OK;
	wd_frame_release(frame);
	s->broken = WD_MALFORMED;
	return wd_fail(err, WD_MALFORMED, "seam: no answer to a question");
}

static enum wd_status
keep_file(
    struct serving *s, struct wd_frame *frame, int *fd, struct wd_error *err)
{
	void *items = s->files;
	enum wd_status st;

	*fd = wd_frame_take_fd(frame);
	if (*fd < 0)
		return wd_fail(err, WD_MALFORMED, "seam: no file was given");
	st = wd_grow(&items, s->file_count, &s->file_capacity,
	    sizeof(*s->files), WD_MAX_BUNDLE_FILES * 2);
	s->files = items;
	if (st != WD_OK) {
		(void)close(*fd);
		return wd_fail(err, st, "seam: no room for one more file");
	}
	s->files[s->file_count++] = *fd;
	return WD_OK;
}

static enum wd_status
sibling_open(void *ctx, struct wd_slice name, int *fd, struct wd_error *err)
{
	struct serving *s = ctx;
	Weightd__Seam__V1__Ask question = WEIGHTD__SEAM__V1__ASK__INIT;
	Weightd__Seam__V1__Give *give;
	struct wd_frame frame;
	enum wd_status st;

	question.name.len = name.len;
	memcpy(&question.name.data, &name.data, sizeof(name.data));
	st = ask(s, &question, &frame, &give, err);
	if (st != WD_OK)
		return st;
	st = wd_line_status(give->failure, err);
	if (st == WD_OK)
		st = keep_file(s, &frame, fd, err);
	wd_message_free(give);
	wd_frame_release(&frame);
	return st;
}

static enum wd_status
sibling_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	Weightd__Seam__V1__Ask question = WEIGHTD__SEAM__V1__ASK__INIT;
	Weightd__Seam__V1__Give *give;
	struct wd_frame frame;
	enum wd_status st;
	size_t i;

	question.list = 1;
	st = ask(ctx, &question, &frame, &give, err);
	if (st != WD_OK)
		return st;
	st = wd_line_status(give->failure, err);
	for (i = 0; st == WD_OK && i < give->n_names; i++)
		if (!each(each_ctx,
			(struct wd_slice){
			    give->names[i].data, give->names[i].len }))
			break;
	wd_message_free(give);
	wd_frame_release(&frame);
	return st;
}

/* ---- the calls ----------------------------------------------------------- */

static enum wd_status
done(struct serving *s, enum wd_status st, const struct wd_error *failure,
    Weightd__Seam__V1__Done *message, struct wd_error *err)
{
	Weightd__Seam__V1__Failure words;
	struct wd_error local;

	close_files(s);
	if (s->broken != WD_OK)
		return wd_fail(err, s->broken, "seam: the line broke");
	wd_line_failure(st, failure, &words);
	message->failure = &words;
	wd_error_init(&local);
	st = wd_line_send(
	    s->socket, WD_LINE_DONE, &message->base, -1, NULL, &local);
	if (st != WD_LIMIT && st != WD_NOMEM)
		return st == WD_OK ? st : wd_fail(err, st, "%s", local.message);
	/* Too much to carry: the failure itself is not. */
	wd_line_failure(st, &local, &words);
	message->facts = NULL;
	message->listing = NULL;
	return wd_line_send(
	    s->socket, WD_LINE_DONE, &message->base, -1, NULL, err);
}

static enum wd_status
serve_sniff(struct serving *s, int fd, struct wd_error *err)
{
	Weightd__Seam__V1__Done message = WEIGHTD__SEAM__V1__DONE__INIT;
	enum wd_bundle_format format = WD_FORMAT_UNKNOWN;
	struct wd_error failure;
	enum wd_status st;

	wd_error_init(&failure);
	st = wd_reader_sniff(s->reader, fd, &format, &failure);
	message.format = format;
	return done(s, st, &failure, &message, err);
}

static enum wd_status
serve_describe(struct serving *s, const Weightd__Seam__V1__Describe *call,
    int fd, struct wd_error *err)
{
	Weightd__Seam__V1__Done message = WEIGHTD__SEAM__V1__DONE__INIT;
	struct wd_siblings siblings = { sibling_open, sibling_list, s };
	struct wd_deadline deadline = deadline_of(s, call->left_ms);
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	struct wd_error failure;
	enum wd_status st;

	wd_error_init(&failure);
	st = wd_reader_describe(s->reader, fd,
	    (struct wd_slice){ call->name.data, call->name.len },
	    call->siblings ? &siblings : NULL, &deadline, &bundle, &failure);
	if (st == WD_OK)
		st = wd_facts_of(bundle, &message.facts, &failure);
	st = done(s, st, &failure, &message, err);
	wd_facts_free(&message.facts);
	return st;
}

static enum wd_status
serve_names(struct serving *s, const Weightd__Seam__V1__Names *call, int fd,
    struct wd_error *err)
{
	Weightd__Seam__V1__Done message = WEIGHTD__SEAM__V1__DONE__INIT;
	WD_CLEANUP(wd_listing_release) struct wd_listing listing = { 0 };
	struct wd_error failure;
	enum wd_status st;

	wd_error_init(&failure);
	st = wd_reader_names(s->reader, fd, (enum wd_listing_kind)call->kind,
	    &listing, &failure);
	if (st == WD_OK)
		st = wd_listing_message(&listing, &message.listing, &failure);
	st = done(s, st, &failure, &message, err);
	wd_listing_message_free(&message.listing);
	return st;
}

/* Whatever comes while a hash runs, a Stop or the end of the line, ends it. */
static bool
is_called(const struct serving *s)
{
	struct pollfd item = { .fd = s->socket, .events = POLLIN };

	return poll(&item, 1, 0) != 0;
}

/* Says how far a hash is, and hears whether it shall go on. */
static bool
go_on(void *ctx, uint64_t done_bytes)
{
	struct serving *s = ctx;
	Weightd__Seam__V1__Progress progress =
	    WEIGHTD__SEAM__V1__PROGRESS__INIT;
	int64_t now = wd_clock_boot_ns(s->clock);

	s->stopped = s->stopped || is_called(s);
	if (s->stopped || now - s->said_boot_ns < PROGRESS_MS * WD_NS_PER_MS)
		return !s->stopped;
	s->said_boot_ns = now;
	progress.done_bytes = done_bytes;
	s->stopped = wd_line_send(s->socket, WD_LINE_PROGRESS, &progress.base,
			 -1, NULL, NULL) != WD_OK;
	return !s->stopped;
}

static enum wd_status
serve_hash(struct serving *s, const Weightd__Seam__V1__Hash *call, int fd,
    struct wd_error *err)
{
	Weightd__Seam__V1__Done message = WEIGHTD__SEAM__V1__DONE__INIT;
	struct wd_deadline deadline = deadline_of(s, call->left_ms);
	struct wd_digest_manner manner = { call->max_bytes_per_second,
		call->idle_class, &deadline, go_on, s };
	struct wd_sha256 sha256;
	struct wd_error failure;
	enum wd_status st;

	s->said_boot_ns = wd_clock_boot_ns(s->clock);
	s->stopped = false;
	wd_error_init(&failure);
	st = wd_reader_digest(s->reader, fd, &manner, &sha256, &failure);
	if (st == WD_OK) {
		message.sha256.data = sha256.bytes;
		message.sha256.len = sizeof(sha256.bytes);
	}
	return done(s, st, &failure, &message, err);
}

static enum wd_status
serve_call(struct serving *s, struct wd_frame *frame, struct wd_error *err)
{
	Weightd__Seam__V1__Call *call;
	enum wd_status st;
	int fd;

	/* It came when the hash had ended already. */
	if (frame->kind == WD_LINE_STOP)
		return WD_OK;
	call = frame->kind == WD_LINE_CALL ?
	    wd_line_message(frame, &weightd__seam__v1__call__descriptor) :
	    NULL;
	fd = wd_frame_take_fd(frame);
	if (call == NULL || fd < 0)
		st = wd_fail(err, WD_MALFORMED, "seam: no call with a file");
	else if (call->call_case == WEIGHTD__SEAM__V1__CALL__CALL_SNIFF)
		st = serve_sniff(s, fd, err);
	else if (call->call_case == WEIGHTD__SEAM__V1__CALL__CALL_DESCRIBE)
		st = serve_describe(s, call->describe, fd, err);
	else if (call->call_case == WEIGHTD__SEAM__V1__CALL__CALL_NAMES)
		st = serve_names(s, call->names, fd, err);
	else if (call->call_case == WEIGHTD__SEAM__V1__CALL__CALL_HASH)
		st = serve_hash(s, call->hash, fd, err);
	else
		st = wd_fail(err, WD_MALFORMED, "seam: an unknown call");
	if (call != NULL)
		wd_message_free(call);
	if (fd >= 0)
		(void)close(fd);
	return st;
}

enum wd_status
wd_reader_serve(int socket, struct wd_reader *reader,
    const struct wd_clock *clock, struct wd_error *err)
{
	struct serving s = {
		.socket = socket, .reader = reader, .clock = clock
	};
	enum wd_status st = WD_OK;

	while (st == WD_OK) {
		struct wd_frame frame;

		st = wd_frame_receive(
		    socket, WD_MAX_SEAM_MESSAGE, NULL, &frame, err);
		if (st == WD_GONE) {
			wd_free(s.files);
			return WD_OK;
		}
		if (st == WD_OK) {
			st = serve_call(&s, &frame, err);
			wd_frame_release(&frame);
		}
	}
	close_files(&s);
	wd_free(s.files);
	return st;
}
