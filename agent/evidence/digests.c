/*
 * The bytes of a model's files: from the store where nothing can have
 * changed, else hashed through the very descriptor that was described.
 * Design rule 5.
 */
#include <stddef.h>

#include "base/limits.h"
#include "base/mem.h"
#include "evidence/look.h"

/* A file whose ctime is this near to the moment of hashing could be written
 * again without a visible change: its digest is not remembered. */
#define SETTLED_NS (2 * WD_NS_PER_SECOND)

static struct wd_digest_key
key_of(const struct wd_file_state *state)
{
	return (struct wd_digest_key){ state->fs_id, state->device,
		state->inode, state->generation, state->size_bytes,
		state->mtime_ns, state->ctime_ns };
}

static bool
is_quiet(struct wd_look *look, const struct wd_model_file *file)
{
	struct wd_file borrowed = { file->fd, file->state };
	bool quiet = false;

	return wd_host_quiet(look->with->host, &borrowed, &quiet, NULL) ==
	    WD_OK &&
	    quiet;
}

static bool
is_settled(const struct wd_file_state *state, int64_t now_ns)
{
	int64_t newest = state->ctime_ns > state->mtime_ns ? state->ctime_ns :
							     state->mtime_ns;

	return newest < now_ns - SETTLED_NS;
}

/* Whether a digest of this state may be remembered or be believed. */
static bool
may_cache(
    struct wd_look *look, const struct wd_model_file *file, int64_t now_ns)
{
	return file->state.trusted_times && is_settled(&file->state, now_ns) &&
	    is_quiet(look, file);
}

static bool
unchanged(struct wd_look *look, const struct wd_model_file *file)
{
	struct wd_file_state now;

	return wd_host_file_state(look->with->host, file->fd, &now, NULL) ==
	    WD_OK &&
	    wd_file_state_unchanged(&file->state, &now);
}

static bool
from_store(
    struct wd_look *look, struct wd_model_file *file, struct wd_digest_row *row)
{
	struct wd_digest_key key = key_of(&file->state);
	int64_t now_ns = wd_clock_real_ns(look->with->clock);

	if (look->digests == WD_DIGEST_FRESH || !unchanged(look, file) ||
	    !may_cache(look, file, now_ns) ||
	    wd_store_get(look->with->store, &key, row) != WD_OK)
		return false;
	file->digest_state = WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_CACHED;
	file->digested_real_ns = row->computed_real_ns;
	return true;
}

/* Known only where the file system has leases. */
static bool
somebody_writes(struct wd_look *look, const struct wd_model_file *file)
{
	struct wd_file borrowed = { file->fd, file->state };
	bool quiet = false;

	return wd_host_quiet(look->with->host, &borrowed, &quiet, NULL) ==
	    WD_OK &&
	    !quiet;
}

static bool
same_key(const struct wd_digest_key *a, const struct wd_digest_key *b)
{
	return a->fs_id == b->fs_id && a->device == b->device &&
	    a->inode == b->inode && a->generation == b->generation &&
	    a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
	    a->ctime_ns == b->ctime_ns;
}

/* What an earlier try of this very question has hashed, where times can be
 * believed within it. */
static bool
from_memo(
    struct wd_look *look, struct wd_model_file *file, struct wd_digest_row *row)
{
	struct wd_digest_key key = key_of(&file->state);
	size_t i;

	for (i = 0; i < look->memo->count; i++) {
		if (!same_key(&look->memo->rows[i].key, &key) ||
		    file->state.in_memory || somebody_writes(look, file) ||
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
	row->key = key_of(&file->state);
	row->computed_real_ns = wd_clock_real_ns(look->with->clock);
	cacheable = may_cache(look, file, row->computed_real_ns);
	st = wd_reader_digest(
	    look->with->reader, file->fd, &manner, &row->sha256, NULL);
	if (st == WD_OK && !unchanged(look, file)) {
		look->moved |= 1U << WEIGHTD__V1__MOVED__MOVED_FILES;
		st = WD_CHANGED;
	}
	file->digest_state = st == WD_OK ?
	    WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_COMPUTED :
	    st == WD_TIMEDOUT ?
	    WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_PENDING :
	    WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_NONE;
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
