/*
 * The two questions that the walk over all descriptors answers: who holds
 * these sockets, and who has the ends of these sockets and pipes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/ends.h"
#include "host/linux/backend.h"

static int
order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
compare_holders(const void *a, const void *b)
{
	const struct wd_holder *x = a, *y = b;

	if (x->inode != y->inode)
		return order(x->inode, y->inode);
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->fd > y->fd) - (x->fd < y->fd);
}

static enum wd_status
take_holders(const struct wd_ends *ends, struct wd_holders *found)
{
	size_t i;

	found->items = wd_calloc(ends->count, sizeof(*found->items));
	if (found->items == NULL)
		return WD_NOMEM;
	for (i = 0; i < ends->count; i++)
		found->items[i] = (struct wd_holder){ ends->items[i].inode,
			ends->items[i].pid, ends->items[i].tid,
			ends->items[i].fd };
	found->count = found->capacity = ends->count;
	if (found->count > 1)
		qsort(found->items, found->count, sizeof(*found->items),
		    compare_holders);
	return WD_OK;
}

enum wd_status
wd_linux_holders(struct wd_host *host, const uint64_t *inodes,
    size_t inode_count, const struct wd_deadline *deadline,
    struct wd_holders *found, struct wd_error *err)
{
	WD_CLEANUP(wd_ends_release) struct wd_ends ends = { 0 };
	struct wd_ends_wanted wanted = { inodes, inode_count, NULL, 0 };
	enum wd_status st = wd_linux_walk(
	    wd_linux_of(host), &wanted, deadline, &ends, found, err);

	if (st == WD_OK)
		st = take_holders(&ends, found);
	if (st == WD_OK)
		return WD_OK;
	return wd_fail(
	    err, st, "looking for the holders: %s", wd_status_name(st));
}

static int
compare_ends(const void *a, const void *b)
{
	const struct wd_end *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->fd > y->fd) - (x->fd < y->fd);
}

enum wd_status
wd_linux_ends(struct wd_host *host, const struct wd_ends_wanted *wanted,
    const struct wd_deadline *deadline, struct wd_ends *found,
    struct wd_error *err)
{
	struct wd_holders seen = { 0 };
	enum wd_status st = wd_linux_walk(
	    wd_linux_of(host), wanted, deadline, found, &seen, err);

	found->complete = seen.complete;
	found->blinds = seen.blinds;
	if (found->count > 1)
		qsort(found->items, found->count, sizeof(*found->items),
		    compare_ends);
	if (st == WD_OK)
		return WD_OK;
	wd_ends_release(found);
	return wd_fail(
	    err, st, "looking for the other ends: %s", wd_status_name(st));
}
