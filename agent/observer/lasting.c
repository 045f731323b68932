#include "observer/lasting.h"

#include "base/mem.h"

#define MAX_TRIES 2

struct lasting {
	struct wd_reader reader;
	struct wd_reader_maker maker;
	struct wd_reader *inner; /* NULL: to be made */
};

/* One call, with room for whatever its kind needs. */
struct call {
	int fd;
	enum wd_bundle_format *format;
	struct wd_slice name;
	const struct wd_siblings *siblings;
	const struct wd_deadline *deadline;
	struct wd_bundle **bundle;
	enum wd_listing_kind kind;
	struct wd_listing *listing;
	const struct wd_digest_manner *manner;
	struct wd_sha256 *sha256;
};

typedef enum wd_status make_call(
    struct wd_reader *inner, const struct call *call, struct wd_error *err);

static enum wd_status
try_once(struct lasting *lasting, make_call *make, const struct call *call,
    struct wd_error *err)
{
	struct wd_error why;
	enum wd_status st = WD_OK;

	wd_error_init(&why);
	if (lasting->inner == NULL)
		st = lasting->maker.make(
		    lasting->maker.ctx, &lasting->inner, &why);
	if (st != WD_OK) {
		lasting->inner = NULL;
		return wd_fail(err, st == WD_NOMEM ? st : WD_IO,
		    "no reader for files: %s", why.message);
	}
	st = make(lasting->inner, call, err);
	if (st == WD_GONE)
		wd_reader_free(&lasting->inner);
	return st;
}

static enum wd_status
keep_trying(struct wd_reader *reader, make_call *make, const struct call *call,
    struct wd_error *err)
{
	struct lasting *lasting = (struct lasting *)reader;
	enum wd_status st = WD_GONE;
	unsigned tries;

	for (tries = 0; tries < MAX_TRIES && st == WD_GONE; tries++)
		st = try_once(lasting, make, call, err);
	if (st != WD_GONE)
		return st;
	return wd_fail(err, WD_IO,
	    "the reader of files ended twice while it read this one");
}

static enum wd_status
call_sniff(
    struct wd_reader *inner, const struct call *call, struct wd_error *err)
{
	return wd_reader_sniff(inner, call->fd, call->format, err);
}

static enum wd_status
lasting_sniff(struct wd_reader *reader, int fd, enum wd_bundle_format *format,
    struct wd_error *err)
{
	struct call call = { .fd = fd, .format = format };

	return keep_trying(reader, call_sniff, &call, err);
}

static enum wd_status
call_describe(
    struct wd_reader *inner, const struct call *call, struct wd_error *err)
{
	return wd_reader_describe(inner, call->fd, call->name, call->siblings,
	    call->deadline, call->bundle, err);
}

static enum wd_status
lasting_describe(struct wd_reader *reader, int fd, struct wd_slice name,
    const struct wd_siblings *siblings, const struct wd_deadline *deadline,
    struct wd_bundle **bundle, struct wd_error *err)
{
	struct call call = { .fd = fd,
		.name = name,
		.siblings = siblings,
		.deadline = deadline,
		.bundle = bundle };

	return keep_trying(reader, call_describe, &call, err);
}

static enum wd_status
call_names(
    struct wd_reader *inner, const struct call *call, struct wd_error *err)
{
	return wd_reader_names(inner, call->fd, call->kind, call->listing, err);
}

static enum wd_status
lasting_names(struct wd_reader *reader, int fd, enum wd_listing_kind kind,
    struct wd_listing *listing, struct wd_error *err)
{
	struct call call = { .fd = fd, .kind = kind, .listing = listing };

	return keep_trying(reader, call_names, &call, err);
}

static enum wd_status
call_digest(
    struct wd_reader *inner, const struct call *call, struct wd_error *err)
{
	return wd_reader_digest(
	    inner, call->fd, call->manner, call->sha256, err);
}

static enum wd_status
lasting_digest(struct wd_reader *reader, int fd,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err)
{
	struct call call = { .fd = fd, .manner = manner, .sha256 = sha256 };

	return keep_trying(reader, call_digest, &call, err);
}

static void
lasting_free(struct wd_reader *reader)
{
	struct lasting *lasting = (struct lasting *)reader;

	wd_reader_free(&lasting->inner);
	wd_free(lasting);
}

enum wd_status
wd_reader_lasting(const struct wd_reader_maker *maker,
    struct wd_reader **reader, struct wd_error *err)
{
	static const struct wd_reader_ops ops = { lasting_sniff,
		lasting_describe, lasting_names, lasting_digest, lasting_free };
	struct lasting *lasting = wd_calloc(1, sizeof(*lasting));

	if (lasting == NULL)
		return wd_fail(err, WD_NOMEM, "reader: out of memory");
	lasting->reader.ops = &ops;
	lasting->maker = *maker;
	*reader = &lasting->reader;
	return WD_OK;
}
