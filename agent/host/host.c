#include "host/host.h"

#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/below.h"
#include "host/rights.h"
#include "host/way.h"

/* ---- the table ----------------------------------------------------------
 * Outputs start empty here, so that every implementation may append and every
 * caller may release after a failure. */

/* No deadline is one that never comes. */
static const struct wd_deadline *
or_never(const struct wd_deadline *deadline)
{
	static const struct wd_deadline never = { NULL, 0 };

	return deadline == NULL ? &never : deadline;
}

enum wd_status
wd_host_identity(struct wd_host *host, struct wd_host_identity *identity,
    struct wd_error *err)
{
	memset(identity, 0, sizeof(*identity));
	return host->ops->identity(host, identity, err);
}

enum wd_status
wd_host_listeners(struct wd_host *host, const struct wd_listener_query *query,
    const struct wd_deadline *deadline, struct wd_listeners *found,
    struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	return host->ops->listeners(
	    host, query, or_never(deadline), found, err);
}

enum wd_status
wd_host_holders(struct wd_host *host, const uint64_t *inodes,
    size_t inode_count, const struct wd_deadline *deadline,
    struct wd_holders *found, struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	return host->ops->holders(
	    host, inodes, inode_count, or_never(deadline), found, err);
}

enum wd_status
wd_host_confirm(struct wd_host *host, const struct wd_listeners *listeners,
    const struct wd_holders *holders, struct wd_confirmation *confirmation,
    struct wd_error *err)
{
	memset(confirmation, 0, sizeof(*confirmation));
	if (host->ops->confirm == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this host cannot confirm an earlier answer; look anew");
	return host->ops->confirm(host, listeners, holders, confirmation, err);
}

enum wd_status
wd_host_pids(struct wd_host *host, const struct wd_deadline *deadline,
    struct wd_pids *found, struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	return host->ops->pids(host, or_never(deadline), found, err);
}

enum wd_status
wd_host_process_identity(struct wd_host *host, pid_t pid,
    struct wd_identity *identity, struct wd_error *err)
{
	memset(identity, 0, sizeof(*identity));
	return host->ops->process_identity(host, pid, identity, err);
}

enum wd_status
wd_host_process(struct wd_host *host, pid_t pid, struct wd_process *process,
    struct wd_error *err)
{
	memset(process, 0, sizeof(*process));
	return host->ops->process(host, pid, process, err);
}

enum wd_status
wd_host_mappings(struct wd_host *host, const struct wd_process *process,
    const struct wd_deadline *deadline, struct wd_mappings *found,
    struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	return host->ops->mappings(
	    host, process, or_never(deadline), found, err);
}

enum wd_status
wd_host_written(struct wd_host *host, const struct wd_process *process,
    const struct wd_deadline *deadline, struct wd_mappings *mappings,
    struct wd_error *err)
{
	if (host->ops->written == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this host does not tell which private pages of process "
		    "%d were written",
		    (int)process->identity.pid);
	return host->ops->written(
	    host, process, or_never(deadline), mappings, err);
}

enum wd_status
wd_host_descriptors(struct wd_host *host, const struct wd_process *process,
    const struct wd_deadline *deadline, struct wd_descriptors *found,
    struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	return host->ops->descriptors(
	    host, process, or_never(deadline), found, err);
}

static void
file_none(struct wd_file *file)
{
	memset(file, 0, sizeof(*file));
	file->fd = -1;
}

enum wd_status
wd_host_open_object(struct wd_host *host, const struct wd_object_ref *ref,
    const struct wd_mapping *mapping, struct wd_file *file,
    struct wd_error *err)
{
	file_none(file);
	return host->ops->open_object(host, ref, mapping, file, err);
}

enum wd_status
wd_host_open_path(struct wd_host *host, pid_t pid, struct wd_slice path,
    struct wd_file *file, struct wd_error *err)
{
	file_none(file);
	return host->ops->open_path(host, pid, path, file, err);
}

enum wd_status
wd_host_open_folder(struct wd_host *host, pid_t pid, struct wd_slice path,
    int *fd, struct wd_error *err)
{
	*fd = -1;
	return host->ops->open_folder(host, pid, path, fd, err);
}

enum wd_status
wd_host_way(struct wd_host *host, pid_t pid, struct wd_slice path, size_t sure,
    struct wd_way *way, struct wd_error *err)
{
	*way = (struct wd_way){ .changed_ns = INT64_MIN };
	if (host->ops->way == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this host does not follow paths step by step");
	return host->ops->way(host, pid, path, sure, way, err);
}

enum wd_status
wd_host_file_state(struct wd_host *host, int fd, struct wd_file_state *state,
    struct wd_error *err)
{
	memset(state, 0, sizeof(*state));
	return host->ops->file_state(host, fd, state, err);
}

enum wd_status
wd_host_quiet(struct wd_host *host, const struct wd_file *file, bool *quiet,
    struct wd_error *err)
{
	*quiet = false;
	return host->ops->quiet(host, file, quiet, err);
}

enum wd_status
wd_host_connections(struct wd_host *host, uint64_t netns,
    const struct wd_deadline *deadline, struct wd_connections *found,
    struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	if (host->ops->connections == NULL)
		return wd_fail(
		    err, WD_UNSUPPORTED, "this host does not list connections");
	return host->ops->connections(
	    host, netns, or_never(deadline), found, err);
}

enum wd_status
wd_host_unix_pairs(struct wd_host *host, const struct wd_deadline *deadline,
    struct wd_unix_pairs *found, struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	if (host->ops->unix_pairs == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this host does not tell which unix sockets are "
		    "connected to each other");
	return host->ops->unix_pairs(host, or_never(deadline), found, err);
}

enum wd_status
wd_host_rights(
    struct wd_host *host, struct wd_rights *rights, struct wd_error *err)
{
	rights->count = 0;
	if (host->ops->rights == NULL)
		return wd_fail(
		    err, WD_UNSUPPORTED, "this host has no named rights");
	return host->ops->rights(host, rights, err);
}

struct wd_abilities
wd_host_abilities(const struct wd_host *host)
{
	return (struct wd_abilities){ host->ops->written != NULL,
		host->ops->connections != NULL,
		host->ops->device_uses != NULL };
}

static enum wd_status
no_below(struct wd_error *err)
{
	return wd_fail(err, WD_UNSUPPORTED,
	    "this system cannot hold a path below a folder");
}

enum wd_status
wd_host_open_below(struct wd_host *host, struct wd_slice root,
    struct wd_slice path, struct wd_file *file, struct wd_error *err)
{
	file_none(file);
	if (host->ops->open_below == NULL)
		return no_below(err);
	return host->ops->open_below(host, root, path, file, NULL, err);
}

enum wd_status
wd_host_folder_below(struct wd_host *host, struct wd_slice root,
    struct wd_slice path, int *fd, struct wd_error *err)
{
	*fd = -1;
	if (host->ops->open_below == NULL)
		return no_below(err);
	return host->ops->open_below(host, root, path, NULL, fd, err);
}

struct wd_refusal
wd_host_refusal(struct wd_host *host, enum wd_refused about)
{
	if (host->ops->refusal == NULL)
		return (struct wd_refusal){ "the system refused the look",
			"run the agent as root" };
	return host->ops->refusal(host, about);
}

enum wd_status
wd_host_device_uses(struct wd_host *host, const struct wd_process *process,
    const struct wd_descriptors *descriptors,
    const struct wd_deadline *deadline, struct wd_device_uses *found,
    struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	if (host->ops->device_uses == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this host does not account for the memory that process "
		    "%d has on devices",
		    (int)process->identity.pid);
	return host->ops->device_uses(
	    host, process, descriptors, or_never(deadline), found, err);
}

void
wd_host_free(struct wd_host **host)
{
	if (*host != NULL)
		(*host)->ops->free(*host);
	*host = NULL;
}

/* ---- comparisons --------------------------------------------------------- */

bool
wd_identity_equal(const struct wd_identity *a, const struct wd_identity *b)
{
	if (a->pid != b->pid || a->start != b->start ||
	    a->generation_known != b->generation_known)
		return false;
	return !a->generation_known ||
	    (a->exe_device == b->exe_device && a->exe_inode == b->exe_inode &&
		a->exec_token == b->exec_token);
}

bool
wd_file_state_same_object(
    const struct wd_file_state *a, const struct wd_file_state *b)
{
	return a->device == b->device && a->inode == b->inode &&
	    a->generation == b->generation && a->fs_id == b->fs_id;
}

bool
wd_file_state_unchanged(
    const struct wd_file_state *a, const struct wd_file_state *b)
{
	return wd_file_state_same_object(a, b) &&
	    a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
	    a->ctime_ns == b->ctime_ns;
}

/* ---- blind spots --------------------------------------------------------- */

static void
blind_release(struct wd_blind *blind)
{
	wd_free(blind->what);
	wd_free(blind->reason);
	wd_free(blind->remedy);
}

enum wd_status
wd_blinds_add(struct wd_blinds *blinds, enum wd_status why, pid_t pid,
    const char *remedy, const char *what, const char *reason)
{
	struct wd_blind blind = { why, pid, wd_strdup(what),
		wd_strdup(reason == NULL ? "" : reason),
		wd_strdup(remedy == NULL ? "" : remedy) };
	void *items = blinds->items;
	enum wd_status st = WD_NOMEM;

	if (blind.what != NULL && blind.reason != NULL && blind.remedy != NULL)
		st = wd_grow(&items, blinds->count, &blinds->capacity,
		    sizeof(blind), WD_MAX_PROCESSES);
	blinds->items = items;
	if (st != WD_OK) {
		blind_release(&blind);
		return st;
	}
	blinds->items[blinds->count++] = blind;
	return WD_OK;
}

void
wd_blinds_release(struct wd_blinds *blinds)
{
	size_t i;

	for (i = 0; i < blinds->count; i++)
		blind_release(&blinds->items[i]);
	wd_free(blinds->items);
	memset(blinds, 0, sizeof(*blinds));
}

/* ---- bytes --------------------------------------------------------------- */

void
wd_bytes_release(struct wd_bytes *bytes)
{
	wd_free(bytes->data);
	*bytes = (struct wd_bytes){ NULL, 0 };
}

enum wd_status
wd_bytes_set(struct wd_bytes *bytes, struct wd_slice from)
{
	uint8_t *copy = NULL;

	if (from.len > 0) {
		copy = (uint8_t *)wd_memdup0(from.data, from.len);
		if (copy == NULL)
			return WD_NOMEM;
	}
	wd_free(bytes->data);
	*bytes = (struct wd_bytes){ copy, from.len };
	return WD_OK;
}

struct wd_slice
wd_bytes_slice(const struct wd_bytes *bytes)
{
	return (struct wd_slice){ bytes->data, bytes->len };
}

/* ---- releases ------------------------------------------------------------ */

void
wd_listeners_release(struct wd_listeners *listeners)
{
	wd_free(listeners->items);
	wd_blinds_release(&listeners->blinds);
	memset(listeners, 0, sizeof(*listeners));
}

void
wd_pids_release(struct wd_pids *pids)
{
	wd_free(pids->items);
	wd_blinds_release(&pids->blinds);
	memset(pids, 0, sizeof(*pids));
}

void
wd_holders_release(struct wd_holders *holders)
{
	wd_free(holders->items);
	wd_blinds_release(&holders->blinds);
	memset(holders, 0, sizeof(*holders));
}

void
wd_process_release(struct wd_process *process)
{
	size_t i;

	for (i = 0; i < process->env_count; i++) {
		wd_free(process->env[i].name);
		wd_bytes_release(&process->env[i].value);
	}
	wd_free(process->env);
	wd_bytes_release(&process->exe_path);
	wd_bytes_release(&process->argv);
	wd_bytes_release(&process->cgroup);
	wd_free(process->ancestors);
	wd_free(process->unit);
	wd_free(process->container);
	memset(process, 0, sizeof(*process));
}

void
wd_mappings_release(struct wd_mappings *mappings)
{
	size_t i;

	for (i = 0; i < mappings->count; i++)
		wd_bytes_release(&mappings->items[i].path);
	wd_free(mappings->items);
	wd_blinds_release(&mappings->blinds);
	memset(mappings, 0, sizeof(*mappings));
}

void
wd_descriptors_release(struct wd_descriptors *descriptors)
{
	size_t i;

	for (i = 0; i < descriptors->count; i++)
		wd_bytes_release(&descriptors->items[i].path);
	wd_free(descriptors->items);
	wd_blinds_release(&descriptors->blinds);
	memset(descriptors, 0, sizeof(*descriptors));
}

void
wd_connections_release(struct wd_connections *connections)
{
	wd_free(connections->items);
	wd_blinds_release(&connections->blinds);
	memset(connections, 0, sizeof(*connections));
}

void
wd_unix_pairs_release(struct wd_unix_pairs *pairs)
{
	wd_free(pairs->items);
	wd_blinds_release(&pairs->blinds);
	memset(pairs, 0, sizeof(*pairs));
}

void
wd_device_uses_release(struct wd_device_uses *uses)
{
	size_t i;

	for (i = 0; i < uses->count; i++) {
		wd_free(uses->items[i].device);
		wd_free(uses->items[i].reason);
	}
	wd_free(uses->items);
	memset(uses, 0, sizeof(*uses));
}

/* A file that was zeroed and never opened has fd 0 and no inode; that
 * descriptor is not ours to close. */
void
wd_file_release(struct wd_file *file)
{
	if (file->fd > 0 || (file->fd == 0 && file->state.inode != 0))
		(void)close(file->fd);
	file_none(file);
}
