#include "seam/timed.h"

#include "base/mem.h"

enum wd_status
wd_timed_check(struct wd_timed *timed, struct wd_error *err)
{
	if (timed->deadline != NULL && wd_deadline_passed(timed->deadline))
		timed->passed = true;
	if (!timed->passed)
		return WD_OK;
	return wd_fail(err, WD_TIMEDOUT,
	    "reading the headers stopped at its deadline; allow more time");
}

static enum wd_status
timed_read(void *ctx, uint64_t offset, void *bytes, size_t len, size_t *got,
    struct wd_error *err)
{
	struct wd_timed_source *source = ctx;
	enum wd_status st = wd_timed_check(source->timed, err);

	*got = 0;
	if (st != WD_OK)
		return st;
	return source->inner.read(
	    source->inner.ctx, offset, bytes, len, got, err);
}

struct wd_source
wd_timed_source(struct wd_timed_source *source)
{
	return (
	    struct wd_source){ timed_read, source, source->inner.size_bytes };
}

static enum wd_status
timed_open(void *ctx, struct wd_slice name, struct wd_source *source,
    struct wd_error *err)
{
	struct wd_timed *timed = ctx;
	struct wd_timed_source *opened;
	enum wd_status st = wd_timed_check(timed, err);

	if (st != WD_OK)
		return st;
	opened = wd_calloc(1, sizeof(*opened));
	if (opened == NULL)
		return wd_fail(err, WD_NOMEM, "no memory to open a file");
	opened->timed = timed;
	st = timed->folder->open(timed->folder->ctx, name, &opened->inner, err);
	if (st == WD_OK)
		*source = wd_timed_source(opened);
	else
		wd_free(opened);
	return st;
}

static void
timed_close(void *ctx, struct wd_source *source)
{
	const struct wd_timed *timed = ctx;
	struct wd_timed_source *opened = source->ctx;

	timed->folder->close(timed->folder->ctx, &opened->inner);
	wd_free(opened);
	*source = (struct wd_source){ .read = NULL };
}

struct listing {
	struct wd_timed *timed;
	bool (*each)(void *ctx, struct wd_slice name);
	void *ctx;
};

static bool
timed_name(void *ctx, struct wd_slice name)
{
	const struct listing *listing = ctx;

	return wd_timed_check(listing->timed, NULL) == WD_OK &&
	    listing->each(listing->ctx, name);
}

static enum wd_status
timed_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	struct wd_timed *timed = ctx;
	struct listing listing = { timed, each, each_ctx };
	enum wd_status st = wd_timed_check(timed, err);

	if (st != WD_OK)
		return st;
	st = timed->folder->list(timed->folder->ctx, timed_name, &listing, err);
	/* A list that was cut short is none. */
	return st == WD_OK && timed->passed ? wd_timed_check(timed, err) : st;
}

struct wd_folder
wd_timed_folder(struct wd_timed *timed)
{
	return (struct wd_folder){ timed_open, timed_close, timed_list, timed,
		NULL };
}
