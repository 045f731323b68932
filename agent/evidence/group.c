/*
 * Who holds the listener, and who serves with those: design section 2, "group".
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "evidence/devices.h"
#include "evidence/look.h"

#define OWNERS(name) WEIGHTD__V1__OWNERS_STATE__OWNERS_STATE_##name

/* Service managers by the name of their executable: they open sockets for
 * others and serve nothing themselves. Never by argv, which anybody writes. */
static const char *const manager_names[] = { "busybox", "catatonit", "dinit",
	"docker-init", "dumb-init", "finit", "inetd", "init", "launchd",
	"openrc-init", "runit", "runit-init", "runsvdir", "s6-ipcserverd",
	"s6-svscan", "systemd", "systemd-socket-activate", "tini", "xinetd" };

static struct wd_slice
base_name(const struct wd_bytes *path)
{
	struct wd_slice rest = wd_bytes_slice(path), last = rest, head;

	while (wd_slice_cut(&rest, '/', &head))
		last = head;
	return last;
}

bool
wd_look_is_manager(const struct wd_process *process)
{
	struct wd_slice name = base_name(&process->exe_path);
	size_t i;

	/* In a container PID 1 may be the server, and its name tells. */
	if (process->identity.pid == 1 && name.len == 0)
		return true;
	for (i = 0; i < sizeof(manager_names) / sizeof(manager_names[0]); i++)
		if (wd_slice_equal(name, wd_slice_text(manager_names[i])))
			return true;
	return false;
}

static size_t
find_member(const struct wd_look *look, pid_t pid)
{
	size_t i;

	for (i = 0; i < look->member_count; i++)
		if (look->members[i].pid == pid)
			return i;
	return WD_NONE;
}

/* A fork leaves program, stack and mappings as they were; an exec does not. */
bool
wd_look_same_generation(
    const struct wd_identity *a, const struct wd_identity *b)
{
	return a->generation_known && b->generation_known &&
	    a->exe_device == b->exe_device && a->exe_inode == b->exe_inode &&
	    a->exec_token == b->exec_token;
}

/* Walks up as long as parents run the same program in the same generation:
 * what they had loaded the child has too. A parent that ended cannot be asked
 * any more. */
static int64_t
load_start(struct wd_look *look, const struct wd_process *process)
{
	int64_t earliest = process->start_real_ns;
	pid_t parent = process->ppid;
	unsigned steps;

	for (steps = 0; steps < WD_MAX_ANCESTORS && parent > 1; steps++) {
		struct wd_identity identity;
		struct wd_process above;

		if (wd_host_process_identity(
			look->with->host, parent, &identity, NULL) != WD_OK ||
		    !wd_look_same_generation(&process->identity, &identity))
			break;
		memset(&above, 0, sizeof(above));
		if (wd_host_process(look->with->host, parent, &above, NULL) !=
		    WD_OK)
			break;
		if (above.start_real_ns < earliest)
			earliest = above.start_real_ns;
		parent = above.ppid;
		wd_process_release(&above);
	}
	return earliest;
}

static void
read_member(struct wd_look *look, struct wd_member *member)
{
	member->load_start_ns = load_start(look, &member->process);
	member->ended = member->process.state == WD_ZOMBIE;
	if (member->ended) {
		member->mappings.complete = member->descriptors.complete = true;
		return;
	}
	member->mappings_status = wd_host_mappings(look->with->host,
	    &member->process, look->deadline, &member->mappings, NULL);
	member->descriptors_status = wd_host_descriptors(look->with->host,
	    &member->process, look->deadline, &member->descriptors, NULL);
	if (wd_look_devices(look, member) != WD_OK)
		member->descriptors_status = WD_NOMEM;
}

/* The cap is no lack of memory: the look goes on, and says that it is cut. */
static enum wd_status
too_many(struct wd_look *look, struct wd_error *err)
{
	if (look->too_many_members)
		return WD_OK;
	look->too_many_members = true;
	if (wd_blinds_add(&look->weight_blinds, WD_LIMIT, 0,
		"none; the agent looks into no more", "further processes",
		"more processes serve than the agent keeps") != WD_OK)
		return wd_fail(err, WD_NOMEM, "group: out of memory");
	return WD_OK;
}

/* Adds the facts of one process. `*index` is WD_NONE when it has gone, or when
 * there are too many. */
enum wd_status
wd_look_add_member(struct wd_look *look, pid_t pid, enum wd_member_role role,
    size_t *index, struct wd_error *err)
{
	struct wd_member *member;
	enum wd_status st;

	*index = find_member(look, pid);
	if (*index != WD_NONE) {
		member = &look->members[*index];
		/* The child of one owner can be another's equal. */
		if (role == WD_MEMBER_OWNER &&
		    member->role == WD_MEMBER_DESCENDANT)
			member->role = role;
		return WD_OK;
	}
	st = wd_grow((void **)&look->members, look->member_count,
	    &look->member_capacity, sizeof(*member), WD_MAX_GROUP);
	if (st != WD_OK)
		return st == WD_LIMIT ?
		    too_many(look, err) :
		    wd_fail(err, st, "group: out of memory");
	member = &look->members[look->member_count];
	memset(member, 0, sizeof(*member));
	member->pid = pid;
	member->role = role;
	member->candidate = true;
	st = wd_host_process(look->with->host, pid, &member->process, NULL);
	if (st == WD_NOMEM)
		return wd_fail(err, st, "group: out of memory");
	if (st == WD_GONE) {
		look->moved |= 1U << WEIGHTD__V1__MOVED__MOVED_IDENTITY;
		return WD_OK;
	}
	*index = look->member_count++;
	if (st == WD_OK) {
		read_member(look, member);
	} else {
		member->process.identity.pid = pid;
		member->mappings_status = member->descriptors_status = st;
		member->holds_device = WD_NOT_KNOWN;
	}
	if (member->mappings_status == WD_NOMEM ||
	    member->descriptors_status == WD_NOMEM)
		return wd_fail(err, WD_NOMEM, "group: out of memory");
	return WD_OK;
}

static int
compare_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

enum wd_status
wd_look_owners_of(
    const struct wd_look *look, uint64_t inode, pid_t **owners, size_t *count)
{
	const struct wd_holders *holders = &look->holders;
	size_t i, n = 0;
	pid_t *pids = wd_calloc(holders->count, sizeof(*pids));

	if (pids == NULL)
		return WD_NOMEM;
	for (i = 0; i < holders->count; i++)
		if (holders->items[i].inode == inode && inode != 0)
			pids[n++] = holders->items[i].pid;
	if (n > 0)
		qsort(pids, n, sizeof(*pids), compare_pids);
	for (i = 0, *count = 0; i < n; i++)
		if (*count == 0 || pids[*count - 1] != pids[i])
			pids[(*count)++] = pids[i];
	*owners = pids;
	return WD_OK;
}

enum wd_status
wd_group_add(struct wd_group *group, size_t member)
{
	size_t i;

	for (i = 0; i < group->member_count; i++)
		if (group->members[i] == member)
			return WD_OK;
	/* Members are distinct, and the look has no more than the cap. */
	if (wd_grow((void **)&group->members, group->member_count,
		&group->member_capacity, sizeof(*group->members),
		SIZE_MAX) != WD_OK)
		return WD_NOMEM;
	group->members[group->member_count++] = member;
	return WD_OK;
}

static bool
pid_in(const pid_t *pids, size_t count, pid_t pid)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

bool
wd_group_is_owner(const struct wd_group *group, const struct wd_member *member)
{
	return member->role == WD_MEMBER_OWNER &&
	    pid_in(group->owners, group->owner_count, member->pid);
}

bool
wd_group_is_below_owner(
    const struct wd_group *group, const struct wd_member *member)
{
	return member->role == WD_MEMBER_DESCENDANT ||
	    (member->role == WD_MEMBER_OWNER &&
		!wd_group_is_owner(group, member));
}

static pid_t
parent_of(const struct wd_look *look, pid_t pid)
{
	size_t low = 0, high = look->pids.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (look->pids.items[middle].pid == pid)
			return look->pids.items[middle].ppid;
		if (look->pids.items[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

bool
wd_look_descends_from(const struct wd_look *look, pid_t pid, pid_t ancestor)
{
	size_t steps;

	/* The table was not made in one moment: it may hold a circle. */
	for (steps = 0; steps < look->pids.count && pid > 1; steps++) {
		pid = parent_of(look, pid);
		if (pid == ancestor)
			return true;
	}
	return false;
}

static const struct wd_variable *
variable(const struct wd_process *process, const char *name)
{
	size_t i;

	for (i = 0; i < process->env_count; i++)
		if (strcmp(process->env[i].name, name) == 0)
			return &process->env[i];
	return NULL;
}

/* The socket-activation protocol (sd_listen_fds(3)): LISTEN_PID names the
 * process the sockets were handed to. */
static bool
was_activated(const struct wd_process *process)
{
	const struct wd_variable *pid = variable(process, "LISTEN_PID");
	const struct wd_variable *fds = variable(process, "LISTEN_FDS");
	uint64_t number;

	return pid != NULL && fds != NULL &&
	    wd_slice_number(wd_bytes_slice(&pid->value), 10, &number) &&
	    number == (uint64_t)process->identity.pid;
}

static bool
handed_over(const struct wd_look *look, const struct wd_group *group,
    const struct wd_member *member)
{
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *other =
		    &look->members[group->members[i]];

		if (other != member && was_activated(&other->process) &&
		    wd_look_descends_from(look, other->pid, member->pid))
			return true;
	}
	return false;
}

static bool
has_server(const struct wd_look *look, const struct wd_group *group)
{
	size_t i;

	for (i = 0; i < group->member_count; i++)
		if (!wd_look_is_manager(
			&look->members[group->members[i]].process))
			return true;
	return false;
}

/* An owner opened the socket for others when it is a service manager, or when
 * another owner below it says that the socket was handed to it. Both are only
 * words (in a container the server itself is PID 1): who holds weights is a
 * candidate. A manager that cannot be looked into is believed only when there
 * is somebody else to serve. */
static bool
is_activator(struct wd_look *look, const struct wd_group *group,
    const struct wd_member *member)
{
	bool manager = wd_look_is_manager(&member->process);

	if (!manager && !handed_over(look, group, member))
		return false;
	switch (wd_look_holds_weights(look, member)) {
	case WD_NO:
		return true;
	case WD_NOT_KNOWN:
		return manager && has_server(look, group);
	case WD_YES:
		break;
	}
	return false;
}

static void
mark_activators(struct wd_look *look, struct wd_group *group)
{
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		struct wd_member *member = &look->members[group->members[i]];

		if (!is_activator(look, group, member))
			continue;
		member->role = WD_MEMBER_ACTIVATOR;
		member->candidate = false;
	}
}

/* Whoever lost its parent becomes a child of PID 1, and a manager's children
 * are services of their own: of those only the ones that PID 1 itself keeps in
 * its session can serve with it, and none with a manager. */
static bool
may_serve_with(const struct wd_look *look, pid_t pid,
    const struct wd_member *owner, enum wd_status *st)
{
	struct wd_process process;
	bool same = true;

	*st = WD_OK;
	if (!owner->candidate || wd_look_is_manager(&owner->process) ||
	    !wd_look_descends_from(look, pid, owner->pid))
		return false;
	if (owner->pid != 1)
		return true;
	memset(&process, 0, sizeof(process));
	*st = wd_host_process(look->with->host, pid, &process, NULL);
	if (*st == WD_OK)
		same = process.sid == owner->process.sid;
	wd_process_release(&process);
	return same;
}

/* Adds every descendant of the owners that serve. */
static enum wd_status
add_descendants(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	size_t i, j, index, owners = group->member_count;

	for (i = 0; i < look->pids.count; i++) {
		pid_t pid = look->pids.items[i].pid;
		enum wd_status st = WD_OK;

		if (pid_in(group->owners, group->owner_count, pid))
			continue;
		for (j = 0; j < owners && st == WD_OK; j++)
			if (may_serve_with(look, pid,
				&look->members[group->members[j]], &st))
				break;
		if (st == WD_NOMEM)
			return wd_fail(err, st, "group: out of memory");
		if (j == owners)
			continue;
		st = wd_look_add_member(
		    look, pid, WD_MEMBER_DESCENDANT, &index, err);
		group->lost_member |= index == WD_NONE;
		if (st == WD_OK && index != WD_NONE)
			st = wd_group_add(group, index);
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

/* Takes over `owners`. */
static enum wd_status
new_group(struct wd_look *look, pid_t *owners, size_t count, size_t *index,
    struct wd_error *err)
{
	struct wd_group *group;
	enum wd_status st = WD_OK;
	size_t i, member;

	/* No more than listeners, orphans and hops, which have caps. */
	if (wd_grow((void **)&look->groups, look->group_count,
		&look->group_capacity, sizeof(*group), SIZE_MAX) != WD_OK) {
		wd_free(owners);
		return wd_fail(err, WD_NOMEM, "group: out of memory");
	}
	*index = look->group_count++;
	group = &look->groups[*index];
	memset(group, 0, sizeof(*group));
	group->owners = owners;
	group->owner_count = count;
	for (i = 0; i < count && st == WD_OK; i++) {
		st = wd_look_add_member(
		    look, owners[i], WD_MEMBER_OWNER, &member, err);
		group->lost_member |= member == WD_NONE;
		if (st == WD_OK && member != WD_NONE) {
			/* It may have been met as somebody's descendant. */
			if (look->members[member].role == WD_MEMBER_DESCENDANT)
				look->members[member].role = WD_MEMBER_OWNER;
			st = wd_group_add(group, member);
		}
	}
	if (st != WD_OK)
		return st;
	mark_activators(look, group);
	return add_descendants(look, group, err);
}

static size_t
find_group(const struct wd_look *look, const pid_t *owners, size_t count)
{
	size_t i;

	for (i = 0; i < look->group_count; i++)
		if (look->groups[i].owner_count == count &&
		    memcmp(look->groups[i].owners, owners,
			count * sizeof(*owners)) == 0)
			return i;
	return WD_NONE;
}

Weightd__V1__OwnersState
wd_look_owners_state(const struct wd_look *look, size_t owner_count)
{
	if (owner_count > 0)
		return look->holders.complete ? OWNERS(FOUND) : OWNERS(PARTLY);
	if (!look->holders.complete)
		return OWNERS(HIDDEN);
	/* It may have been held by one of those. */
	return look->holders.vanished > 0 ? OWNERS(VANISHED) : OWNERS(NONE);
}

enum wd_status
wd_look_group_of(struct wd_look *look, pid_t *owners, size_t count,
    size_t *index, struct wd_error *err)
{
	*index = find_group(look, owners, count);
	if (*index == WD_NONE)
		return new_group(look, owners, count, index, err);
	wd_free(owners);
	return WD_OK;
}

static enum wd_status
group_of_listener(struct wd_look *look, size_t listener, struct wd_error *err)
{
	uint64_t inode = look->listeners.items[listener].inode;
	pid_t *owners;
	size_t count, *group = &look->listener_group[listener];
	enum wd_status st = wd_look_owners_of(look, inode, &owners, &count);

	if (st != WD_OK)
		return wd_fail(err, st, "group: out of memory");
	look->owners_state[listener] = wd_look_owners_state(look, count);
	*group = WD_NONE;
	if (count == 0) {
		wd_free(owners);
		return WD_OK;
	}
	st = wd_look_group_of(look, owners, count, group, err);
	if (st == WD_OK && look->groups[*group].member_count == 0)
		look->owners_state[listener] = OWNERS(VANISHED);
	return st;
}

enum wd_status
wd_look_listener_rows(struct wd_look *look)
{
	size_t i, count = look->listeners.count;

	look->listener_group = wd_calloc(count, sizeof(*look->listener_group));
	look->owners_state = wd_calloc(count, sizeof(*look->owners_state));
	if (look->listener_group == NULL || look->owners_state == NULL)
		return WD_NOMEM;
	for (i = 0; i < count; i++)
		look->listener_group[i] = WD_NONE;
	return WD_OK;
}

enum wd_status
wd_look_groups(struct wd_look *look, struct wd_error *err)
{
	enum wd_status st = wd_look_listener_rows(look);
	size_t i;

	if (st != WD_OK)
		return wd_fail(err, st, "group: out of memory");
	for (i = 0; i < look->listeners.count && st == WD_OK; i++)
		st = group_of_listener(look, i, err);
	return st;
}

enum wd_status
wd_look_add_orphan(struct wd_look *look, pid_t pid, struct wd_error *err)
{
	pid_t *owner = wd_calloc(1, sizeof(*owner));
	size_t index, member;
	enum wd_status st;

	if (owner == NULL)
		return wd_fail(err, WD_NOMEM, "group: out of memory");
	*owner = pid;
	st = new_group(look, owner, 1, &index, err);
	if (st != WD_OK)
		return st;
	look->groups[index].orphan_weights = true;
	member = find_member(look, pid);
	if (member != WD_NONE)
		look->members[member].role = WD_MEMBER_ORPHAN_WEIGHTS;
	return WD_OK;
}
