#include "evidence/attest.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/mem.h"
#include "evidence/address.h"
#include "evidence/blind.h"
#include "evidence/look.h"
#include "evidence/remedy.h"
#include "evidence/ties.h"

/* A host that changes faster than this many looks is reported as moving. */
#define MAX_TRIES 4
#define PAUSE_NS (20 * WD_NS_PER_MS)

static struct wd_listener_query
query_of(const Weightd__V1__Question *question, uint16_t port)
{
	struct wd_listener_query query = { WD_NETNS_OWN, 0, port };

	if (question->all_namespaces)
		query.scope = WD_NETNS_ALL;
	else if (question->netns != 0) {
		query.scope = WD_NETNS_ONE;
		query.netns = question->netns;
	} else if (question->connection != NULL) {
		query.scope = WD_NETNS_ALL;
	}
	return query;
}

enum wd_status
wd_look_listeners(
    struct wd_look *look, struct wd_listeners *found, struct wd_error *err)
{
	struct wd_listener_query query =
	    query_of(look->question, (uint16_t)look->question->port);
	struct wd_error why;
	struct wd_address address;
	enum wd_status st;

	wd_error_init(&why);
	memset(found, 0, sizeof(*found));
	st = wd_host_listeners(
	    look->with->host, &query, look->deadline, found, &why);
	if (st == WD_NOMEM)
		return wd_fail(err, st, "listeners: out of memory");
	if (st != WD_OK) {
		found->complete = false;
		found->agreed = false;
		return wd_blinds_add(&found->blinds, st, 0,
		    "run the agent where it can read /proc/net or open a "
		    "netlink socket",
		    "listening sockets", why.message);
	}
	if (look->question->address[0] == '\0')
		return WD_OK;
	st = wd_address_parse(look->question->address, &address, err);
	if (st == WD_OK)
		wd_address_keep(found, &address);
	return st;
}

enum wd_status
wd_look_holders(struct wd_look *look, const struct wd_listeners *listeners,
    uint64_t socket, struct wd_holders *found, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) uint64_t *inodes = NULL;
	struct wd_error why;
	size_t i, count = 0;
	enum wd_status st;

	wd_error_init(&why);
	memset(found, 0, sizeof(*found));
	inodes = wd_calloc(listeners->count + 1, sizeof(*inodes));
	if (inodes == NULL)
		return wd_fail(err, WD_NOMEM, "owners: out of memory");
	for (i = 0; i < listeners->count; i++)
		if (listeners->items[i].inode != 0)
			inodes[count++] = listeners->items[i].inode;
	if (socket != 0)
		inodes[count++] = socket;
	if (count == 0) {
		found->complete = listeners->count == 0;
		return WD_OK;
	}
	st = wd_host_holders(
	    look->with->host, inodes, count, look->deadline, found, &why);
	if (st == WD_NOMEM)
		return wd_fail(err, st, "owners: out of memory");
	if (st == WD_OK)
		return WD_OK;
	found->complete = false;
	return wd_blinds_add(&found->blinds, st, 0,
	    wd_look_remedy(look, WD_REFUSED_PROCESS, st).remedy,
	    "owners of listening sockets", why.message);
}

static bool
has_descendants(const struct wd_look *look)
{
	size_t i, j;

	for (i = 0; i < look->group_count; i++)
		for (j = 0; j < look->groups[i].member_count; j++)
			if (wd_group_is_below_owner(&look->groups[i],
				&look->members[look->groups[i].members[j]]))
				return true;
	return false;
}

static bool
has_proxy(const struct wd_look *look)
{
	size_t i;

	for (i = 0; i < look->group_count; i++)
		if (wd_look_is_proxy(look, &look->groups[i]))
			return true;
	return false;
}

/* Every listener: to tell a member that listens for itself, which it can do in
 * another namespace than its parent, and where a published port leads. */
static enum wd_status
find_all_listeners(struct wd_look *look, struct wd_error *err)
{
	struct wd_listener_query query = query_of(look->question, 0);
	enum wd_status st;

	if (has_descendants(look) || has_proxy(look))
		query.scope = WD_NETNS_ALL;
	st = wd_host_listeners(
	    look->with->host, &query, look->deadline, &look->all, NULL);
	if (st == WD_NOMEM)
		return wd_fail(err, st, "listeners: out of memory");
	if (st != WD_OK)
		look->all.complete = false;
	st = wd_look_sort_listening(look, err);
	if (st == WD_OK)
		wd_look_other_listeners(look);
	return st;
}

static enum wd_status
find_pids(struct wd_look *look, struct wd_error *err)
{
	enum wd_status st =
	    wd_host_pids(look->with->host, look->deadline, &look->pids, NULL);

	if (st == WD_NOMEM)
		return wd_fail(err, st, "processes: out of memory");
	if (st == WD_OK)
		return WD_OK;
	look->pids.complete = false;
	return wd_blinds_add(&look->pids.blinds, st, 0,
	    "run the agent where it can read /proc", "process table",
	    wd_status_name(st));
}

static bool
serves_nothing(const struct wd_look *look, const struct wd_member *member)
{
	const struct wd_descriptors *d = &member->descriptors;
	size_t i;

	if (member->descriptors_status != WD_OK || !d->complete)
		return false;
	for (i = 0; i < d->count; i++) {
		const struct wd_listening *row =
		    wd_look_listening(look, &d->items[i]);

		if (d->items[i].type == WD_OBJECT_IO_URING)
			return false;
		if (d->items[i].type == WD_OBJECT_OTHER &&
		    wd_slice_starts(wd_bytes_slice(&d->items[i].path),
			"anon_inode:[eventpoll]"))
			return false;
		if (d->items[i].type == WD_OBJECT_SOCKET &&
		    (row == NULL || !row->asked))
			return false;
	}
	return true;
}

bool
wd_look_may_be_left_over(struct wd_look *look, const struct wd_member *member)
{
	return member->role == WD_MEMBER_OWNER &&
	    serves_nothing(look, member) &&
	    wd_look_parent_died(look, &member->process);
}

/* An owner that looks as if it had inherited the socket from a server that is
 * gone: it holds no weights, polls nothing that can be seen and was adopted. A
 * guess: a server that waits in accept(2) or poll(2), holds no weights itself
 * and was adopted too looks the same. It decides nothing but words. */
static void
mark_orphan_holders(struct wd_look *look, struct wd_group *group)
{
	size_t i;

	if (group->model_count > 0 || group->orphan_weights || group->loading ||
	    group->unexplained || !group->members_complete)
		return;
	for (i = 0; i < group->member_count; i++) {
		struct wd_member *m = &look->members[group->members[i]];

		if (!wd_look_may_be_left_over(look, m))
			continue;
		m->role = WD_MEMBER_ORPHAN_HOLDER;
		m->candidate = false;
	}
}

static enum wd_status
find_models(struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	enum wd_status st = wd_look_held(look, group, err);

	if (st == WD_OK)
		st = wd_look_claims(look, group, err);
	if (st == WD_OK)
		st = wd_look_models(look, group, err);
	if (st == WD_OK)
		st = wd_look_names(look, group, err);
	return st;
}

/* What outlived another server is shown; it is not worth reading gigabytes. */
static enum wd_status
find_digests(struct wd_look *look, const struct wd_group *group,
    struct wd_model *model, struct wd_error *err)
{
	enum wd_digest_wish wish = look->digests;
	enum wd_status st;

	if (group->orphan_weights && look->listeners.count > 0)
		look->digests = WD_DIGEST_CACHED_ONLY;
	st = wd_look_digests(look, model, err);
	look->digests = wish;
	return st;
}

static enum wd_status
judge_models(struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	enum wd_status st = wd_look_written(look, group, err);
	size_t i;

	if (st == WD_OK)
		st = wd_look_engines(look, group, err);
	for (i = 0; i < group->model_count && st == WD_OK; i++) {
		st = find_digests(look, group, &group->models[i], err);
		if (st == WD_OK)
			st = wd_look_grade(look, group, &group->models[i], err);
	}
	if (st == WD_OK)
		st = wd_look_blind(look, group, err);
	if (st == WD_OK)
		st = wd_look_companions(look, group, err);
	if (st == WD_OK)
		st = wd_look_loading(look, group, err);
	if (st == WD_OK)
		mark_orphan_holders(look, group);
	return st;
}

/* A quarter of the time, at most two seconds, is kept for the re-check. */
static struct wd_deadline
earlier(const struct wd_deadline *deadline)
{
	struct wd_deadline end = *deadline;
	int64_t keep_ms = wd_deadline_left_ms(deadline) / 4;

	if (end.at_boot_ns == 0)
		return end;
	if (keep_ms > 2000)
		keep_ms = 2000;
	end.at_boot_ns -= keep_ms * WD_NS_PER_MS;
	return end;
}

/* Who serves: those behind the connection of the question alone, or behind
 * every listener. */
static enum wd_status
find_groups(struct wd_look *look, struct wd_error *err)
{
	if (wd_look_has_connection(look))
		return wd_look_connection_group(look, err);
	return wd_look_groups(look, err);
}

/* Who serves with those. */
static enum wd_status
find_others(struct wd_look *look, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < look->group_count && st == WD_OK; i++)
		st = wd_look_children(look, &look->groups[i], err);
	return st == WD_OK ? wd_look_tied(look, err) : st;
}

/* What cannot be seen of an orphan hides no weights of the server's. */
static void
turn_blinds(struct wd_look *look, const struct wd_group *group)
{
	struct wd_blinds blinds = look->weight_blinds;

	if (!group->orphan_weights)
		return;
	look->weight_blinds = look->other_blinds;
	look->other_blinds = blinds;
}

/* Everything but digests: may append the groups that this one leads to. */
static enum wd_status
find_all_models(struct wd_look *look, size_t index, struct wd_error *err)
{
	enum wd_status st = WD_OK;

	if (look->groups[index].behind)
		st = wd_look_children(look, &look->groups[index], err);
	turn_blinds(look, &look->groups[index]);
	if (st == WD_OK)
		st = find_models(look, &look->groups[index], err);
	turn_blinds(look, &look->groups[index]);
	return st == WD_OK ? wd_look_hops(look, index, err) : st;
}

static enum wd_status
judge_group(struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	enum wd_status st;

	turn_blinds(look, group);
	st = judge_models(look, group, err);
	turn_blinds(look, group);
	return st;
}

static enum wd_status
look_once(struct wd_look *look, struct wd_error *err)
{
	enum wd_status st;
	size_t i;

	look->hash_deadline = earlier(look->deadline);
	st = wd_host_identity(look->with->host, &look->host, err);
	if (st == WD_OK)
		st = wd_look_listeners(look, &look->listeners, err);
	if (st == WD_OK && wd_look_has_connection(look))
		st = wd_look_connection(look, err);
	if (st == WD_OK)
		st = wd_look_holders(look, &look->listeners,
		    look->accepted.socket.inode, &look->holders, err);
	if (st == WD_OK)
		st = find_pids(look, err);
	if (st == WD_OK)
		st = find_groups(look, err);
	if (st == WD_OK)
		st = find_all_listeners(look, err);
	if (st == WD_OK)
		st = wd_look_elsewhere(look, err);
	if (st == WD_OK)
		st = find_others(look, err);
	/* Hashing may take all the time there is: everything else before it. */
	for (i = 0; i < look->group_count && st == WD_OK; i++)
		st = find_all_models(look, i, err);
	/* Who is in no group, not even behind one. */
	if (st == WD_OK && !wd_look_has_connection(look))
		st = wd_look_orphans(look, err);
	for (; i < look->group_count && st == WD_OK; i++)
		st = find_all_models(look, i, err);
	if (st == WD_OK)
		st = wd_look_duplicates(look, err);
	for (i = 0; i < look->group_count && st == WD_OK; i++)
		st = judge_group(look, &look->groups[i], err);
	if (st == WD_OK)
		st = wd_look_again(look, err);
	return st;
}

static void
pause_briefly(void)
{
	struct timespec pause = { 0, PAUSE_NS };

	(void)nanosleep(&pause, NULL);
}

static enum wd_status
check_connection(
    const Weightd__V1__Connection *connection, struct wd_error *err)
{
	struct wd_address address;
	char shown[64];

	if (connection->port > 0 && connection->port <= 65535 &&
	    wd_address_parse(connection->address, &address, NULL) == WD_OK)
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "connection: \"%s\" port %" PRIu32 " is no end of one; give the "
	    "caller's own, as its getsockname says: an address, for example "
	    "127.0.0.1, and a port from 1 to 65535",
	    wd_escape_short(
		shown, sizeof(shown), wd_slice_text(connection->address)),
	    connection->port);
}

static enum wd_status
check_question(const Weightd__V1__Question *question, struct wd_error *err)
{
	struct wd_address address;
	enum wd_status st;

	if (question->port == 0 || question->port > 65535)
		return wd_fail(err, WD_INVALID,
		    "port %" PRIu32 " is none; ports run from 1 to 65535",
		    question->port);
	if (question->connection != NULL) {
		st = check_connection(question->connection, err);
		if (st != WD_OK)
			return st;
	}
	if (question->address[0] == '\0')
		return WD_OK;
	return wd_address_parse(question->address, &address, err);
}

static void
memo_release(struct wd_digest_memo *memo)
{
	wd_free(memo->rows);
}

enum wd_status
wd_attest_port(const struct wd_evidence *evidence,
    const Weightd__V1__Question *question, enum wd_digest_wish digests,
    const struct wd_deadline *deadline, Weightd__V1__Attestation **attestation,
    struct wd_error *err)
{
	WD_CLEANUP(wd_look_release) struct wd_look look;
	WD_CLEANUP(memo_release)
	struct wd_digest_memo memo = { .started_real_ns =
					   wd_clock_real_ns(evidence->clock) };
	enum wd_status st;
	uint32_t retries;
	bool seen = false;

	memset(&look, 0, sizeof(look));
	st = check_question(question, err);
	for (retries = 0; st == WD_OK && retries < MAX_TRIES; retries++) {
		wd_look_release(&look);
		look.with = evidence;
		look.question = question;
		look.digests = digests;
		look.deadline = deadline;
		look.memo = &memo;
		look.retries = retries;
		st = look_once(&look, err);
		/* What was there a moment ago comes and goes: no negative. */
		if (seen && look.listeners.count == 0 &&
		    question->connection == NULL)
			look.moved |= 1U << WEIGHTD__V1__MOVED__MOVED_LISTENERS;
		seen |= look.listeners.count > 0;
		if (st != WD_OK || look.moved == 0 ||
		    wd_deadline_passed(deadline))
			break;
		if (retries + 1 < MAX_TRIES)
			pause_briefly();
	}
	if (st != WD_OK)
		return st;
	return wd_look_message(&look, attestation, err);
}
