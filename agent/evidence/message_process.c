/*
 * A process as the message of the schema.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence/message.h"

#define FLAG(name) WEIGHTD__V1__FLAG__FLAG_##name

static Weightd__V1__Sight
sight(enum wd_status status)
{
	switch (status) {
	case WD_OK:
		return WEIGHTD__V1__SIGHT__SIGHT_SEEN;
	case WD_DENIED:
		return WEIGHTD__V1__SIGHT__SIGHT_DENIED;
	case WD_GONE:
	case WD_NOTFOUND:
		return WEIGHTD__V1__SIGHT__SIGHT_GONE;
	case WD_UNSUPPORTED:
		return WEIGHTD__V1__SIGHT__SIGHT_UNSUPPORTED;
	case WD_TIMEDOUT:
		return WEIGHTD__V1__SIGHT__SIGHT_TIMED_OUT;
	case WD_LIMIT:
		return WEIGHTD__V1__SIGHT__SIGHT_LIMIT;
	case WD_NOMEM:
	case WD_INVALID:
	case WD_MALFORMED:
	case WD_TRUNCATED:
	case WD_CHANGED:
	case WD_BUSY:
	case WD_IO:
	case WD_CORRUPT:
	case WD_STALE:
		break;
	}
	return WEIGHTD__V1__SIGHT__SIGHT_FAILED;
}

static Weightd__V1__ProcessRole
role(enum wd_member_role role)
{
	switch (role) {
	case WD_MEMBER_OWNER:
		return WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_OWNER;
	case WD_MEMBER_DESCENDANT:
		return WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_DESCENDANT;
	case WD_MEMBER_ACTIVATOR:
		return WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_ACTIVATOR;
	case WD_MEMBER_ORPHAN_HOLDER:
		return WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_ORPHAN_HOLDER;
	case WD_MEMBER_TIED:
		return WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_TIED;
	case WD_MEMBER_ORPHAN_WEIGHTS:
		return WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_ORPHAN_WEIGHTS;
	}
	return WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_UNSPECIFIED;
}

static Weightd__V1__ProcessState
process_state(enum wd_process_state state)
{
	switch (state) {
	case WD_RUNNING:
		return WEIGHTD__V1__PROCESS_STATE__PROCESS_STATE_RUNNING;
	case WD_ZOMBIE:
		return WEIGHTD__V1__PROCESS_STATE__PROCESS_STATE_ZOMBIE;
	case WD_ZOMBIE_LEADER:
		return WEIGHTD__V1__PROCESS_STATE__PROCESS_STATE_ZOMBIE_LEADER;
	case WD_KERNEL_THREAD:
		return WEIGHTD__V1__PROCESS_STATE__PROCESS_STATE_KERNEL_THREAD;
	}
	return WEIGHTD__V1__PROCESS_STATE__PROCESS_STATE_UNSPECIFIED;
}

static void
say_identity(struct wd_build *b, const struct wd_look *look,
    const struct wd_process *p, Weightd__V1__Process *out)
{
	Weightd__V1__ProcessIdentity *id =
	    wd_build_new(b, &weightd__v1__process_identity__descriptor);

	out->identity = id;
	if (id == NULL)
		return;
	wd_build_text(b, &id->boot_id, look->host.boot_id);
	id->pid = p->identity.pid;
	id->start = p->identity.start;
	wd_build_time(b, &id->started_at, p->start_real_ns);
	id->executable_device = p->identity.exe_device;
	id->executable_inode = p->identity.exe_inode;
	id->exec_token = p->identity.exec_token;
	id->generation_known = p->identity.generation_known;
}

static void
say_program(
    struct wd_build *b, const struct wd_process *p, Weightd__V1__Process *out)
{
	struct wd_slice rest = wd_bytes_slice(&p->argv), argument;
	size_t i;

	out->executable = wd_build_new(b, &weightd__v1__executable__descriptor);
	if (out->executable == NULL)
		return;
	wd_build_bytes(b, &out->executable->path, wd_bytes_slice(&p->exe_path));
	out->executable->deleted = p->exe_deleted;
	out->executable->replaced = wd_say_tristate(p->exe_replaced);
	while (wd_slice_cut(&rest, 0, &argument))
		wd_build_add_bytes(b, &out->n_argv, &out->argv, argument);
	out->argv_truncated = p->argv_truncated;
	out->argv_overwritten = p->argv_overwritten;
	out->argv_redacted = p->argv_redacted;
	for (i = 0; i < p->env_count; i++) {
		Weightd__V1__EnvironmentVariable *v =
		    WD_BUILD_ADD(b, out, environment,
			&weightd__v1__environment_variable__descriptor);

		if (v == NULL)
			return;
		wd_build_text(b, &v->name, p->env[i].name);
		wd_build_bytes(b, &v->value, wd_bytes_slice(&p->env[i].value));
		v->redacted = p->env[i].redacted;
	}
}

static void
say_surroundings(
    struct wd_build *b, const struct wd_process *p, Weightd__V1__Process *out)
{
	size_t i;

	for (i = 0; i < p->ancestor_count; i++) {
		Weightd__V1__Ancestor *a = WD_BUILD_ADD(
		    b, out, ancestors, &weightd__v1__ancestor__descriptor);

		if (a == NULL)
			return;
		a->pid = p->ancestors[i].pid;
		a->start = p->ancestors[i].start;
		wd_build_bytes(
		    b, &a->comm, wd_slice_text(p->ancestors[i].comm));
	}
	if (p->uid_known) {
		out->user = wd_build_new(b, &weightd__v1__user__descriptor);
		if (out->user == NULL)
			return;
		out->user->uid = p->uid;
		out->user->gid = p->gid;
	}
	wd_build_bytes(b, &out->cgroup, wd_bytes_slice(&p->cgroup));
	wd_build_text(b, &out->unit, p->unit);
	wd_build_text(b, &out->container, p->container);
	out->netns = p->netns;
}

static void
say_memory(
    struct wd_build *b, const struct wd_process *p, Weightd__V1__Process *out)
{
	Weightd__V1__Memory *m =
	    wd_build_new(b, &weightd__v1__memory__descriptor);

	out->memory = m;
	if (m == NULL)
		return;
	m->anonymous_bytes = p->rss_anon_bytes;
	m->file_bytes = p->rss_file_bytes;
	m->shared_bytes = p->rss_shmem_bytes;
	m->locked_bytes = p->locked_bytes;
	m->swapped_bytes = p->swap_bytes;
	m->hugetlb_bytes = p->hugetlb_bytes;
	m->read_bytes = p->read_bytes;
}

static int
compare_ports(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Ports on which the process listens besides the asked one. */
static void
say_other_ports(struct wd_build *b, const struct wd_look *look,
    const struct wd_member *member, Weightd__V1__Process *out)
{
	size_t i, kept = 0;

	for (i = 0; i < member->descriptors.count; i++) {
		const struct wd_listening *row =
		    wd_look_listening(look, &member->descriptors.items[i]);

		if (row != NULL && row->listener->port != look->question->port)
			WD_BUILD_PUSH(b, out, other_ports, row->listener->port);
	}
	if (out->n_other_ports > 1)
		qsort(out->other_ports, out->n_other_ports,
		    sizeof(*out->other_ports), compare_ports);
	for (i = 0; i < out->n_other_ports; i++)
		if (kept == 0 ||
		    out->other_ports[kept - 1] != out->other_ports[i])
			out->other_ports[kept++] = out->other_ports[i];
	out->n_other_ports = kept;
}

static void
say_accelerator(struct wd_build *b, const struct wd_bytes *device,
    Weightd__V1__Process *out)
{
	struct wd_slice path = wd_bytes_slice(device);
	size_t i;

	if (!wd_host_is_accelerator(path))
		return;
	for (i = 0; i < out->n_accelerators; i++)
		if (out->accelerators[i].len == path.len &&
		    memcmp(out->accelerators[i].data, path.data, path.len) == 0)
			return;
	wd_build_add_bytes(b, &out->n_accelerators, &out->accelerators, path);
}

static void
say_devices(struct wd_build *b, const struct wd_member *member,
    Weightd__V1__Process *out)
{
	size_t i;

	for (i = 0; i < member->descriptors.count; i++)
		if (member->descriptors.items[i].type == WD_OBJECT_DEVICE)
			say_accelerator(
			    b, &member->descriptors.items[i].path, out);
	for (i = 0; i < member->mappings.count; i++)
		if (member->mappings.items[i].type == WD_OBJECT_DEVICE)
			say_accelerator(
			    b, &member->mappings.items[i].path, out);
	for (i = 0; i < member->devices.count; i++) {
		const struct wd_device_use *use = &member->devices.items[i];
		Weightd__V1__DeviceUse *said = WD_BUILD_ADD(
		    b, out, device_uses, &weightd__v1__device_use__descriptor);

		if (said == NULL)
			return;
		wd_build_text(b, &said->device, use->device);
		if (use->reason != NULL)
			wd_build_text(b, &said->reason, use->reason);
		if (!use->bytes_known)
			continue;
		said->bytes_presence_case =
		    WEIGHTD__V1__DEVICE_USE__BYTES_PRESENCE_BYTES;
		said->bytes = use->bytes;
	}
}

static void
say_ties(struct wd_build *b, const struct wd_member *member,
    Weightd__V1__Process *out)
{
	static const Weightd__V1__Tie__Kind kinds[] = {
		[WD_TIE_PIPE] = WEIGHTD__V1__TIE__KIND__KIND_PIPE,
		[WD_TIE_UNIX_SOCKET] = WEIGHTD__V1__TIE__KIND__KIND_UNIX_SOCKET,
		[WD_TIE_SHARED_MEMORY] =
		    WEIGHTD__V1__TIE__KIND__KIND_SHARED_MEMORY,
	};
	size_t i;

	for (i = 0; i < member->tie_count; i++) {
		Weightd__V1__Tie *tie =
		    WD_BUILD_ADD(b, out, ties, &weightd__v1__tie__descriptor);

		if (tie == NULL)
			return;
		tie->kind = kinds[member->ties[i].kind];
		tie->pid = member->ties[i].pid;
	}
}

void
wd_say_process(struct wd_build *b, const struct wd_look *look,
    const struct wd_member *member, Weightd__V1__Process *out)
{
	const struct wd_process *p = &member->process;

	say_identity(b, look, p, out);
	out->role = role(member->role);
	out->state = process_state(p->state);
	out->parent_pid = p->ppid;
	wd_build_bytes(b, &out->comm, wd_slice_text(p->comm));
	say_program(b, p, out);
	say_surroundings(b, p, out);
	say_memory(b, p, out);
	out->executable_sight = sight(p->exe_status);
	out->argv_sight = sight(p->argv_status);
	out->environment_sight = sight(p->env_status);
	out->mappings_sight = sight(member->mappings_status);
	out->descriptors_sight = sight(member->descriptors_status);
	out->counters_sight = sight(p->io_status);
	say_other_ports(b, look, member, out);
	say_devices(b, member, out);
	say_ties(b, member, out);
	if (member->role == WD_MEMBER_ORPHAN_HOLDER)
		WD_BUILD_PUSH(b, out, flags, FLAG(ORPHAN_HOLDER));
	if (member->role == WD_MEMBER_ORPHAN_WEIGHTS)
		WD_BUILD_PUSH(b, out, flags, FLAG(ORPHAN_WEIGHTS));
}
