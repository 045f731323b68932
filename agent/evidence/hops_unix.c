/*
 * Hops by unix sockets, which have neither address nor port: who holds the
 * other end is the next hop. Only of programs that the engine table knows as
 * proxies: every process has unix sockets for many purposes, and what ties the
 * processes of one server together is no hop (tied to each other they hold
 * their weights together).
 */
#include <string.h>

#include "base/mem.h"
#include "evidence/hops.h"

static const struct wd_unix_pair *
find_pair(const struct wd_unix_pairs *pairs, uint64_t inode)
{
	size_t low = 0, high = pairs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs->items[middle].inode == inode)
			return &pairs->items[middle];
		if (pairs->items[middle].inode < inode)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool
is_ours(
    const struct wd_look *look, const struct wd_group *group, uint64_t inode)
{
	size_t i;

	for (i = 0; i < group->member_count; i++)
		if (wd_has_socket(
			&look->members[group->members[i]].descriptors, inode))
			return true;
	return false;
}

/* Standard streams lead to whoever started it, or keeps its log. */
static bool
is_stream(const struct wd_descriptors *now, uint64_t inode)
{
	size_t i;

	for (i = 0; i < now->count; i++)
		if (now->items[i].type == WD_OBJECT_SOCKET &&
		    now->items[i].inode == inode && now->items[i].fd <= 2)
			return true;
	return false;
}

void
wd_peers_collect(struct wd_peers *peers, const struct wd_look *look,
    const struct wd_group *group, pid_t pid, const struct wd_descriptors *now)
{
	size_t i;

	for (i = 0; i < now->count; i++) {
		const struct wd_descriptor *d = &now->items[i];
		const struct wd_unix_pair *pair;

		if (d->type != WD_OBJECT_SOCKET || is_stream(now, d->inode))
			continue;
		pair = find_pair(&peers->pairs, d->inode);
		if (pair == NULL || is_ours(look, group, pair->peer_inode))
			continue;
		if (peers->count == WD_MAX_PEERS) {
			peers->cut = true;
			return;
		}
		peers->pids[peers->count] = pid;
		peers->inodes[peers->count++] = pair->peer_inode;
	}
}

static bool
is_member(const struct wd_look *look, const struct wd_group *group, pid_t pid)
{
	size_t i;

	for (i = 0; i < group->member_count; i++)
		if (look->members[group->members[i]].pid == pid)
			return true;
	return false;
}

/* The hop over one socket to each process that holds its other end. */
static enum wd_status
add_peers(const struct wd_look *look, struct wd_group *group,
    const struct wd_holders *holders, uint64_t inode, pid_t pid)
{
	struct wd_hop hop = { .kind = WD_HOP_UNIX,
		.pid = pid,
		.samples = 1,
		.family = WD_INET4,
		.group = WD_NONE };
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < holders->count && st == WD_OK; i++) {
		hop.peer = holders->items[i].pid;
		if (holders->items[i].inode == inode &&
		    !is_member(look, group, hop.peer))
			st = wd_group_add_hop(group, &hop);
	}
	return st;
}

enum wd_status
wd_peers_resolve(
    struct wd_peers *peers, struct wd_look *look, struct wd_group *group)
{
	struct wd_holders holders;
	enum wd_status st;
	size_t i;

	if (peers->count == 0)
		return WD_OK;
	memset(&holders, 0, sizeof(holders));
	st = wd_host_holders(look->with->host, peers->inodes, peers->count,
	    look->deadline, &holders, NULL);
	if (st != WD_OK || !holders.complete || peers->cut)
		group->checked_routes = false;
	for (i = 0; i < peers->count && st == WD_OK; i++)
		st = add_peers(
		    look, group, &holders, peers->inodes[i], peers->pids[i]);
	wd_holders_release(&holders);
	return st == WD_NOMEM ? st : WD_OK;
}

enum wd_status
wd_peers_begin(
    struct wd_peers *peers, struct wd_look *look, struct wd_group *group)
{
	enum wd_status st;
	size_t i;

	memset(peers, 0, sizeof(*peers));
	if (!wd_look_is_proxy(look, group))
		return WD_OK;
	/* The list is of the agent's network namespace only. */
	for (i = 0; i < group->member_count; i++)
		if (look->members[group->members[i]].process.netns !=
		    look->host.netns)
			group->checked_routes = false;
	st = wd_host_unix_pairs(
	    look->with->host, look->deadline, &peers->pairs, NULL);
	if (st != WD_OK || !peers->pairs.complete)
		group->checked_routes = false;
	return st == WD_NOMEM ? st : WD_OK;
}

void
wd_peers_release(struct wd_peers *peers)
{
	wd_unix_pairs_release(&peers->pairs);
}
