#include "evidence/remember.h"

#include "base/clock.h"

/* A file whose ctime is this near to the moment of hashing could be written
 * again without a visible change: its digest is not remembered. */
#define SETTLED_NS (2 * WD_NS_PER_SECOND)

struct wd_digest_key
wd_digest_key_of(const struct wd_file_state *state)
{
	return (struct wd_digest_key){ state->fs_id, state->device,
		state->inode, state->generation, state->size_bytes,
		state->mtime_ns, state->ctime_ns };
}

bool
wd_digest_key_same(const struct wd_digest_key *a, const struct wd_digest_key *b)
{
	return a->fs_id == b->fs_id && a->device == b->device &&
	    a->inode == b->inode && a->generation == b->generation &&
	    a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
	    a->ctime_ns == b->ctime_ns;
}

bool
wd_file_is_unchanged(
    struct wd_host *host, int fd, const struct wd_file_state *state)
{
	struct wd_file_state now;

	return wd_host_file_state(host, fd, &now, NULL) == WD_OK &&
	    wd_file_state_unchanged(state, &now);
}

enum wd_tristate
wd_file_is_written(
    struct wd_host *host, int fd, const struct wd_file_state *state)
{
	struct wd_file borrowed = { fd, *state };
	bool quiet = false;

	if (wd_host_quiet(host, &borrowed, &quiet, NULL) != WD_OK)
		return WD_NOT_KNOWN;
	return quiet ? WD_NO : WD_YES;
}

static bool
is_settled(const struct wd_file_state *state, int64_t now_ns)
{
	int64_t newest = state->ctime_ns > state->mtime_ns ? state->ctime_ns :
							     state->mtime_ns;

	return newest < now_ns - SETTLED_NS;
}

bool
wd_digest_may_keep(struct wd_host *host, int fd,
    const struct wd_file_state *state, int64_t now_real_ns)
{
	return state->trusted_times && is_settled(state, now_real_ns) &&
	    wd_file_is_written(host, fd, state) == WD_NO;
}
