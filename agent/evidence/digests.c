/*
 * The bytes of a model's files: from the store where nothing can have
 * changed, else hashed through the very descriptor that was described.
 * Design rule 5.
 */
#include <stddef.h>

#include "base/limits.h"
#include "base/mem.h"
#include "evidence/look.h"
#include "evidence/remember.h"

static bool
may_keep(struct wd_look *look, const struct wd_model_file *file, int64_t now_ns)
{
	return wd_digest_may_keep(
	    look->with->host, file->fd, &file->state, now_ns);
}

static bool
unchanged(struct wd_look *look, const struct wd_model_file *file)
{
	return wd_file_is_unchanged(look->with->host, file->fd, &file->state);
}

static bool
is_quiet(struct wd_look *look, const struct wd_model_file *file)
{
	return wd_file_is_written(look->with->host, file->fd, &file->state) ==
	    WD_NO;
}

static bool
from_store(
    struct wd_look *look, struct wd_model_file *file, struct wd_digest_row *row)
{
	struct wd_digest_key key = wd_digest_key_of(&file->state);
	int64_t now_ns = wd_clock_real_ns(look->with->clock);

	if (look->digests == WD_DIGEST_FRESH || !unchanged(look, file) ||
	    !may_keep(look, file, now_ns) ||
	    wd_store_get(look->with->store, &key, row) != WD_OK)
		return false;
	file->digest_state = WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_CACHED;
	file->digested_real_ns = row->computed_real_ns;
	return true;
}

/* What an earlier try of this very question has hashed, where times can be
 * believed within it. */
static bool
from_memo(
    struct wd_look *look, struct wd_model_file *file, struct wd_digest_row *row)
{
	struct wd_digest_key key = wd_digest_key_of(&file->state);
	size_t i;

	for (i = 0; i < look->memo->count; i++) {
		if (!wd_digest_key_same(&look->memo->rows[i].key, &key) ||
		    file->state.in_memory ||
		    wd_file_is_written(
			look->with->host, file->fd, &file->state) == WD_YES ||
		    !unchanged(look, file))
			continue;
		*row = look->memo->rows[i];
		file->digest_state =
		    WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_COMPUTED;
		file->digested_real_ns = row->computed_real_ns;
		return true;
	}
	return false;
}

static enum wd_status
remember(struct wd_digest_memo *memo, const struct wd_digest_row *row)
{
	enum wd_status st = wd_grow((void **)&memo->rows, memo->count,
	    &memo->capacity, sizeof(*row), WD_MAX_CANDIDATE_FILES);

	if (st == WD_OK)
		memo->rows[memo->count++] = *row;
	return st == WD_NOMEM ? st : WD_OK;
}

static Weightd__V1__DigestState
state_after(enum wd_status st)
{
	switch ((int)st) {
	case WD_OK:
		return WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_COMPUTED;
	case WD_BUSY:
	case WD_TIMEDOUT:
		return WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_PENDING;
	default:
		return WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_NONE;
	}
}

/* By the jobs that all questions share. */
static enum wd_status
from_work(
    struct wd_look *look, struct wd_model_file *file, struct wd_digest_row *row)
{
	enum wd_work_wish wish = look->digests == WD_DIGEST_START ?
	    WD_WORK_START :
	    look->digests == WD_DIGEST_FRESH ? WD_WORK_FRESH :
					       WD_WORK_WAIT;
	struct wd_work_result result = { .done_bytes = 0 };
	enum wd_status st = wd_digest_work_get(look->with->work, file->fd,
	    &file->state, wish, look->memo->started_real_ns,
	    &look->hash_deadline, &result, NULL);

	if (st == WD_OK && !unchanged(look, file))
		st = WD_CHANGED;
	if (st == WD_CHANGED)
		look->moved |= 1U << WEIGHTD__V1__MOVED__MOVED_FILES;
	file->digest_state = state_after(st);
	file->hashed_bytes = result.done_bytes;
	if (st != WD_OK)
		return st;
	*row = result.row;
	file->digested_real_ns = row->computed_real_ns;
	return WD_OK;
}

static enum wd_status
compute(
    struct wd_look *look, struct wd_model_file *file, struct wd_digest_row *row)
{
	struct wd_digest_manner manner = { .idle_class = true,
		.deadline = &look->hash_deadline };
	bool cacheable;
	enum wd_status st;

	if (from_memo(look, file, row))
		return WD_OK;
	if (look->with->work != NULL)
		return from_work(look, file, row);
	row->key = wd_digest_key_of(&file->state);
	row->computed_real_ns = wd_clock_real_ns(look->with->clock);
	cacheable = may_keep(look, file, row->computed_real_ns);
	st = wd_reader_digest(
	    look->with->reader, file->fd, &manner, &row->sha256, NULL);
	if (st == WD_OK && !unchanged(look, file)) {
		look->moved |= 1U << WEIGHTD__V1__MOVED__MOVED_FILES;
		st = WD_CHANGED;
	}
	file->digest_state = state_after(st);
	if (st != WD_OK)
		return st;
	file->digested_real_ns = row->computed_real_ns;
	if (cacheable && is_quiet(look, file))
		wd_store_put(look->with->store, row);
	return remember(look->memo, row);
}

static enum wd_status
digest_file(struct wd_look *look, struct wd_model *model, size_t index,
    struct wd_error *err)
{
	struct wd_model_file *file = &model->files[index];
	const struct wd_bundle_file *bf =
	    &model->bundle->files[file->bundle_file];
	struct wd_digest_row row;
	enum wd_status st;

	file->digest_state = WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_NONE;
	if (!bf->present || file->fd < 0)
		return WD_OK;
	if (!from_store(look, file, &row)) {
		if (look->digests == WD_DIGEST_CACHED_ONLY)
			return WD_OK;
		st = compute(look, file, &row);
		if (st == WD_NOMEM)
			return wd_fail(err, st, "digest: out of memory");
		if (st != WD_OK)
			return WD_OK;
	}
	return wd_bundle_set_digest(
	    model->bundle, file->bundle_file, &row.sha256, err);
}

/* What the held file's name leads to now, for people to compare. Nothing of it
 * moves the answer. */
static enum wd_status
digest_path(struct wd_look *look, struct wd_model_file *file)
{
	struct wd_model_file other = { .fd = file->path_file.fd,
		.state = file->path_file.state };
	struct wd_digest_row row;
	unsigned moved = look->moved;
	enum wd_status st = WD_OK;

	if (!file->replaced)
		return WD_OK;
	if (!from_store(look, &other, &row))
		st = look->digests == WD_DIGEST_CACHED_ONLY ?
		    WD_NOTFOUND :
		    compute(look, &other, &row);
	look->moved = moved;
	file->has_path_sha256 = st == WD_OK;
	if (st == WD_OK)
		file->path_sha256 = row.sha256;
	return st == WD_NOMEM ? st : WD_OK;
}

enum wd_status
wd_look_digests(
    struct wd_look *look, struct wd_model *model, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < model->file_count && st == WD_OK; i++)
		st = digest_file(look, model, i, err);
	for (i = 0; i < model->file_count && st == WD_OK; i++)
		if (digest_path(look, &model->files[i]) != WD_OK)
			st = wd_fail(err, WD_NOMEM, "digest: out of memory");
	return st;
}
