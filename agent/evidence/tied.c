/*
 * What a tie means (ties.h): whether the process at its other end becomes a
 * member, is a server of its own, or is none of our business.
 */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/blind.h"
#include "evidence/devices.h"
#include "evidence/ties.h"

/* Programs that talk to everybody and load no model, by the name of their
 * executable. */
static const char *const services[] = { "X", "Xorg", "Xwayland", "agetty",
	"avahi-daemon", "bash", "conmon", "containerd", "containerd-shim",
	"containerd-shim-runc-v2", "crond", "dash", "dbus-broker",
	"dbus-broker-launch", "dbus-daemon", "dockerd", "fish", "gpg-agent",
	"logger", "mariadbd", "memcached", "mysqld", "nscd", "pipewire",
	"podman", "polkitd", "postgres", "pulseaudio", "redis-server",
	"rsyslogd", "screen", "sh", "ssh-agent", "sshd", "sssd", "sudo",
	"syslog-ng", "tee", "tmux", "valkey-server", "zsh" };

/* The hand of a tie as it stands in texts. */
static const char *
kind_words(enum wd_tie_kind kind)
{
	switch (kind) {
	case WD_TIE_PIPE:
		return "a pipe";
	case WD_TIE_UNIX_SOCKET:
		return "a unix socket";
	case WD_TIE_SHARED_MEMORY:
		break;
	}
	return "shared memory";
}

static struct wd_slice
base_name(const struct wd_bytes *path)
{
	struct wd_slice rest = wd_bytes_slice(path), last = rest, head;

	while (wd_slice_cut(&rest, '/', &head))
		last = head;
	return last;
}

static bool
is_service(const struct wd_process *process)
{
	struct wd_slice name = base_name(&process->exe_path);
	size_t i;

	if (process->identity.pid == 1 || wd_look_is_manager(process) ||
	    wd_slice_starts(name, "systemd-"))
		return true;
	for (i = 0; i < sizeof(services) / sizeof(services[0]); i++)
		if (wd_slice_equal(name, wd_slice_text(services[i])))
			return true;
	return false;
}

static enum wd_status
pid_listens(struct wd_look *look, pid_t pid, bool *listens)
{
	WD_CLEANUP(wd_process_release) struct wd_process process = { 0 };
	enum wd_status st =
	    wd_host_process(look->with->host, pid, &process, NULL);

	*listens = false;
	if (st == WD_OK)
		st = wd_look_process_listens(look, &process, listens);
	return st == WD_NOMEM ? st : WD_OK;
}

/* Who was started by another server is that one's worker: of its ancestors
 * those count that are not ours too (sshd has started half of a host). */
static enum wd_status
is_below_a_server(struct wd_look *look, const struct wd_process *process,
    pid_t ours, bool *below)
{
	enum wd_status st = WD_OK;
	size_t i;

	*below = false;
	for (i = 0; i < process->ancestor_count && st == WD_OK && !*below;
	     i++) {
		pid_t above = process->ancestors[i].pid;

		if (above <= 1 || above == ours ||
		    wd_look_descends_from(look, ours, above))
			break;
		st = pid_listens(look, above, below);
	}
	return st;
}

static bool
descends_from_owner(
    const struct wd_look *look, const struct wd_group *group, pid_t pid)
{
	size_t i;

	for (i = 0; i < group->owner_count; i++)
		if (pid == group->owners[i] ||
		    (group->owners[i] > 1 &&
			wd_look_descends_from(look, pid, group->owners[i])))
			return true;
	return false;
}

/* ---- one process ----------------------------------------------------------
 */

/* What is read of a process outside, before it is anything. */
struct stranger {
	struct wd_member as; /* as the member that it may become */
};

static void
stranger_release(struct stranger *stranger)
{
	wd_member_release(&stranger->as);
}

static enum wd_status
read_stranger(struct wd_look *look, pid_t pid, struct stranger *s)
{
	struct wd_member *m = &s->as;
	enum wd_status st;

	memset(s, 0, sizeof(*s));
	m->pid = pid;
	st = wd_host_process(look->with->host, pid, &m->process, NULL);
	if (st != WD_OK || m->process.state == WD_ZOMBIE)
		return st == WD_OK ? WD_GONE : st;
	m->mappings_status = wd_host_mappings(
	    look->with->host, &m->process, look->deadline, &m->mappings, NULL);
	m->descriptors_status = wd_host_descriptors(look->with->host,
	    &m->process, look->deadline, &m->descriptors, NULL);
	if (m->mappings_status == WD_NOMEM || m->descriptors_status == WD_NOMEM)
		return WD_NOMEM;
	return WD_OK;
}

/* Weights that it has mapped or open; large memory alone is none. */
static enum wd_tristate
holds_weights(struct wd_look *look, const struct wd_member *m)
{
	enum wd_tristate known =
	    wd_look_maps_weights(look, &m->process, &m->mappings);
	size_t i;

	if (known == WD_NO &&
	    (m->mappings_status != WD_OK || m->descriptors_status != WD_OK ||
		!m->descriptors.complete))
		known = WD_NOT_KNOWN;
	for (i = 0; i < m->descriptors.count && known != WD_YES; i++) {
		const struct wd_descriptor *d = &m->descriptors.items[i];
		struct wd_object_ref ref = { m->pid, d->tid, false, 0, 0,
			d->fd };
		enum wd_tristate one;

		if (!d->readable || !wd_may_be_weights(d->type))
			continue;
		one = wd_look_is_weights(look, &ref, NULL);
		if (one != WD_NO)
			known = one;
	}
	return wd_member_device(m) != NULL ? WD_YES : known;
}

static enum wd_status
blind(struct wd_look *look, const struct wd_outsider *o,
    const struct stranger *s, enum wd_status why, const char *reason,
    bool hides)
{
	char comm[80], what[256];

	(void)wd_escape_short(
	    comm, sizeof(comm), wd_slice_text(s->as.process.comm));
	(void)snprintf(what, sizeof(what),
	    "process %d (%s), tied to process %d by %s", (int)o->pid, comm,
	    (int)o->ties[0].pid, kind_words(o->ties[0].kind));
	if (hides)
		look->groups[o->group].unexplained = true;
	return wd_blinds_add(hides ? &look->weight_blinds : &look->other_blinds,
	    why, o->pid,
	    "ask the port of the process that answers, or have it map its "
	    "weight file",
	    what, reason);
}

/* A tied process without weights changes nothing by itself; who passes
 * connections on is seen nowhere (SCM_RIGHTS). */
static enum wd_status
note_empty(
    struct wd_look *look, const struct wd_outsider *o, const struct stranger *s)
{
	size_t i;

	if (wd_is_large_memory(&s->as.process))
		return blind(look, o, s, WD_UNSUPPORTED,
		    "it holds much memory that no file explains: weights may "
		    "be in it",
		    true);
	for (i = 0; i < o->tie_count; i++)
		if (o->ties[i].kind == WD_TIE_UNIX_SOCKET)
			return blind(look, o, s, WD_UNSUPPORTED,
			    "it holds no weights; connections may have been "
			    "handed to it, and what is tied to it in turn is "
			    "not followed",
			    false);
	return blind(look, o, s, WD_UNSUPPORTED,
	    "it holds no weights; what is tied to it in turn is not followed",
	    false);
}

static enum wd_status
join(struct wd_look *look, struct wd_outsider *o, struct wd_error *err)
{
	struct wd_group *group = &look->groups[o->group];
	struct wd_member *m;
	enum wd_status st;
	size_t index, i;

	st = wd_look_add_member(look, o->pid, WD_MEMBER_TIED, &index, err);
	group->lost_member |= index == WD_NONE;
	if (st != WD_OK || index == WD_NONE)
		return st;
	m = &look->members[index];
	if (m->role != WD_MEMBER_TIED)
		return WD_OK;
	for (i = 0; i < o->tie_count; i++) {
		if (wd_grow((void **)&m->ties, m->tie_count, &m->tie_capacity,
			sizeof(*m->ties), SIZE_MAX) != WD_OK)
			return wd_fail(err, WD_NOMEM, "ties: out of memory");
		m->ties[m->tie_count++] = o->ties[i];
	}
	if (wd_group_add(group, index) != WD_OK)
		return wd_fail(err, WD_NOMEM, "ties: out of memory");
	return WD_OK;
}

static enum wd_status
serves_for_itself(struct wd_look *look, const struct wd_outsider *o,
    const struct stranger *s, bool *serves)
{
	const struct wd_process *p = &s->as.process;
	struct wd_recognition found = wd_engine_recognise(p);

	*serves = wd_engine_is_own_server(&found) ||
	    wd_engine_is_proxy(&found) ||
	    wd_look_has_listener(look, &s->as.descriptors);
	if (*serves)
		return WD_OK;
	return is_below_a_server(look, p, o->ties[0].pid, serves);
}

static enum wd_status
judge_stranger(struct wd_look *look, struct wd_outsider *o,
    const struct stranger *s, struct wd_error *err)
{
	enum wd_status st = WD_OK;

	switch (holds_weights(look, &s->as)) {
	case WD_YES:
		return join(look, o, err);
	case WD_NO:
		st = note_empty(look, o, s);
		break;
	case WD_NOT_KNOWN:
		st = blind(
		    look, o, s, WD_DENIED, "it could not be looked into", true);
		break;
	}
	return st == WD_OK ? st : wd_fail(err, st, "ties: out of memory");
}

static enum wd_status
judge(struct wd_look *look, struct wd_outsider *o, struct wd_error *err)
{
	WD_CLEANUP(stranger_release) struct stranger s;
	bool serves = false;
	enum wd_status st = read_stranger(look, o->pid, &s);

	if (st == WD_GONE)
		return WD_OK;
	if (st == WD_OK && is_service(&s.as.process))
		return WD_OK;
	if (st == WD_OK) {
		st = serves_for_itself(look, o, &s, &serves);
		if (st == WD_OK && !serves)
			return judge_stranger(look, o, &s, err);
	} else if (st != WD_NOMEM) {
		st =
		    blind(look, o, &s, st, "it could not be looked into", true);
	}
	return st == WD_OK ? st : wd_fail(err, st, "ties: out of memory");
}

enum wd_status
wd_look_tied(struct wd_look *look, struct wd_error *err)
{
	WD_CLEANUP(wd_outsiders_release) struct wd_outsiders found = { 0 };
	enum wd_status st = wd_look_find_outsiders(look, &found);
	size_t i;

	if (st != WD_OK)
		return wd_fail(err, st, "ties: out of memory");
	for (i = 0; i < found.count && st == WD_OK; i++) {
		struct wd_outsider *o = &found.items[i];
		const struct wd_group *group = &look->groups[o->group];

		if (o->pid == look->host.pid_of_agent ||
		    descends_from_owner(look, group, o->pid) ||
		    wd_look_is_proxy(look, group))
			continue;
		st = judge(look, o, err);
	}
	return st;
}
