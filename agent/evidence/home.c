#include "evidence/home.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/caches.h"
#include "host/way.h"

void
wd_split_path(
    struct wd_slice path, struct wd_slice *folder, struct wd_slice *name)
{
	size_t cut = path.len;

	while (cut > 0 && path.data[cut - 1] != '/')
		cut--;
	*folder = (struct wd_slice){ path.data, cut > 1 ? cut - 1 : cut };
	*name = (struct wd_slice){ path.data + cut, path.len - cut };
}

enum wd_status
wd_home_give(struct wd_home *home, struct wd_slice name, int fd, bool owned,
    size_t held, const struct wd_file_state *state)
{
	struct wd_given *g;
	enum wd_status st = wd_grow((void **)&home->given, home->given_count,
	    &home->given_capacity, sizeof(*g), WD_MAX_BUNDLE_FILES);

	if (st != WD_OK)
		return st;
	g = &home->given[home->given_count];
	memset(g, 0, sizeof(*g));
	g->fd = fd;
	g->owned = owned;
	g->held = held;
	g->state = *state;
	if (wd_bytes_set(&g->name, name) != WD_OK)
		return WD_NOMEM;
	home->given_count++;
	return WD_OK;
}

void
wd_home_release(struct wd_home *home)
{
	size_t i;

	for (i = 0; i < home->given_count; i++) {
		wd_bytes_release(&home->given[i].name);
		if (home->given[i].owned)
			(void)close(home->given[i].fd);
	}
	wd_free(home->given);
	if (home->folder_fd >= 0)
		(void)close(home->folder_fd);
}

struct wd_given *
wd_home_find_given(struct wd_home *home, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < home->given_count; i++)
		if (wd_slice_equal(wd_bytes_slice(&home->given[i].name), name))
			return &home->given[i];
	return NULL;
}

/* How well the held object fits as the neighbour of the file that is
 * described; 0: its path says nothing, as its holder has another view of the
 * file system. An old and a new set can have the same names. */
static unsigned
fit(const struct wd_home *home, const struct wd_held *held)
{
	uint64_t ours = home->look->members[home->member].process.mntns;
	bool same_holder = false, same_view = false, mapped = false;
	size_t i;

	for (i = 0; i < held->hold_count; i++) {
		const struct wd_hold *hold = &held->holds[i];
		uint64_t theirs =
		    home->look->members[hold->member].process.mntns;

		same_holder |= hold->member == home->member;
		same_view |= theirs == ours;
		mapped |= hold->is_mapping;
	}
	if (!same_view)
		return 0;
	return 1U + (same_holder ? 4U : 0) + (mapped ? 2U : 0) +
	    (held->used ? 0 : 1U);
}

/* The object that somebody in the group holds under this name beside the file
 * that is described. */
static size_t
held_beside(const struct wd_home *home, struct wd_slice name)
{
	size_t i, best = WD_NONE;
	unsigned best_fit = 0;

	for (i = 0; i < home->group->held_count; i++) {
		const struct wd_held *held = &home->group->held[i];
		struct wd_slice folder, base;

		if (held->open_status != WD_OK || held->file.fd < 0)
			continue;
		wd_split_path(wd_bytes_slice(&held->path), &folder, &base);
		if (!wd_slice_equal(folder, home->folder) ||
		    !wd_slice_equal(base, name) || fit(home, held) <= best_fit)
			continue;
		best = i;
		best_fit = fit(home, held);
	}
	return best;
}

/* A link of a hub's snapshot whose blob is gone: somebody may hold the blob,
 * which alone is called so. */
static size_t
held_behind_link(const struct wd_home *home, struct wd_slice name)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { .data = NULL };
	struct wd_cache_place ours = wd_cache_place_of(home->path);
	struct wd_slice folder, blob;
	size_t i;

	wd_buf_init(&text, 2 * WD_MAX_PATH);
	if (ours.kind != WD_CACHE_HUB || home->folder_fd < 0 ||
	    wd_folder_link(home->folder_fd, name, &text, NULL) != WD_OK)
		return WD_NONE;
	wd_split_path(wd_buf_slice(&text), &folder, &blob);
	for (i = 0; i < home->group->held_count; i++) {
		const struct wd_held *held = &home->group->held[i];
		struct wd_cache_place theirs =
		    wd_cache_place_of(wd_bytes_slice(&held->path));

		if (held->open_status == WD_OK && held->file.fd >= 0 &&
		    theirs.kind == WD_CACHE_HUB &&
		    wd_slice_equal(theirs.root, ours.root) &&
		    wd_slice_equal(theirs.blob, blob) && fit(home, held) > 0)
			return i;
	}
	return WD_NONE;
}

bool
wd_home_is_refused(const struct wd_home *home, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < home->group->held_count; i++) {
		const struct wd_held *held = &home->group->held[i];
		struct wd_slice folder, base;

		if (held->open_status == WD_OK)
			continue;
		wd_split_path(wd_bytes_slice(&held->path), &folder, &base);
		if (wd_slice_equal(folder, home->folder) &&
		    wd_slice_equal(base, name))
			return true;
	}
	return false;
}

static enum wd_status
path_beside(
    const struct wd_home *home, struct wd_slice name, struct wd_buf *path)
{
	(void)wd_buf_append(path, home->folder.data, home->folder.len);
	if (home->folder.len != 1)
		(void)wd_buf_byte(path, '/');
	return wd_buf_append(path, name.data, name.len);
}

static enum wd_status
give_held(struct wd_home *home, struct wd_slice name, size_t held, int *fd)
{
	*fd = home->group->held[held].file.fd;
	return wd_home_give(
	    home, name, *fd, false, held, &home->group->held[held].first_state);
}

/* What the first `sure` bytes lead through is judged already. */
static enum wd_status
note_way(struct wd_home *home, struct wd_slice path, size_t sure)
{
	struct wd_way way;
	enum wd_status st = wd_host_way(
	    home->look->with->host, home->view, path, sure, &way, NULL);

	home->unsure |= st != WD_OK;
	if (way.changed_ns > home->changed_ns)
		home->changed_ns = way.changed_ns;
	return st == WD_NOMEM ? st : WD_OK;
}

/* A mount has no time: what was reached through another one than the file
 * itself can lie there since yesterday, or since a moment ago. */
static void
note_mount(struct wd_home *home, const struct wd_file_state *state)
{
	home->unsure |= home->mount != 0 && state->mount != home->mount;
}

static enum wd_status
open_beside(void *ctx, struct wd_slice name, int *fd, struct wd_error *err)
{
	struct wd_home *home = ctx;
	struct wd_given *before = wd_home_find_given(home, name);
	WD_CLEANUP(wd_buf_release) struct wd_buf path = { .data = NULL };
	struct wd_file file = { .fd = -1 };
	size_t held;
	enum wd_status st;

	wd_buf_init(&path, WD_MAX_PATH);
	if (before != NULL) {
		*fd = before->fd;
		return WD_OK;
	}
	held = held_beside(home, name);
	if (held != WD_NONE)
		return give_held(home, name, held, fd);
	if (home->view == 0)
		return wd_fail(err, WD_GONE, "the folder is not known");
	if (path_beside(home, name, &path) != WD_OK)
		return wd_fail(err, path.status, "the path is too long");
	st = wd_host_open_path(home->look->with->host, home->view,
	    wd_buf_slice(&path), &file, err);
	if (st == WD_GONE && (held = held_behind_link(home, name)) != WD_NONE)
		return give_held(home, name, held, fd);
	if (st == WD_GONE)
		return WD_NOTFOUND;
	if (st == WD_OK)
		st = note_way(home, wd_buf_slice(&path), home->folder.len);
	if (st != WD_OK) {
		wd_file_release(&file);
		return st;
	}
	note_mount(home, &file.state);
	/* Somebody may hold it under another name (a link). */
	held = wd_group_find_held(home->group, &file.state);
	if (held != WD_NONE && home->group->held[held].file.fd >= 0) {
		wd_file_release(&file);
		return give_held(home, name, held, fd);
	}
	st = wd_home_give(home, name, file.fd, true, WD_NONE, &file.state);
	if (st != WD_OK)
		wd_file_release(&file);
	else
		*fd = file.fd;
	return st;
}

struct forward {
	bool (*each)(void *ctx, struct wd_slice name);
	void *ctx;
	bool stopped;
};

static bool
forward_name(void *ctx, struct wd_slice name)
{
	struct forward *f = ctx;

	f->stopped = !f->each(f->ctx, name);
	return !f->stopped;
}

/* Names that lie in the folder now, and those of held files that are gone. */
static enum wd_status
list_beside(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	struct wd_home *home = ctx;
	struct forward f = { each, each_ctx, false };
	struct wd_folder_fd over = { home->folder_fd, true };
	struct wd_folder folder = wd_folder_over_fd(&over);
	size_t i;

	if (home->folder_fd < 0)
		return wd_fail(err, WD_GONE, "the folder is not known");
	for (i = 0; i < home->group->held_count && !f.stopped; i++) {
		const struct wd_held *held = &home->group->held[i];
		struct wd_slice at, base;

		wd_split_path(wd_bytes_slice(&held->path), &at, &base);
		if (held->first_state.links == 0 && held->file.fd >= 0 &&
		    wd_slice_equal(at, home->folder))
			(void)forward_name(&f, base);
	}
	if (f.stopped)
		return WD_OK;
	return folder.list(folder.ctx, forward_name, &f, err);
}

/* The view in which the path leads to the object; `there`: its state. */
static enum wd_status
find_view(struct wd_home *home, pid_t holder, struct wd_slice path,
    const struct wd_file_state *object, struct wd_file_state *there)
{
	pid_t views[2] = { holder, home->look->host.pid_of_agent };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct wd_file file = { .fd = -1 };
		enum wd_status st = wd_host_open_path(
		    home->look->with->host, views[i], path, &file, NULL);
		bool same = st == WD_OK &&
		    wd_file_state_same_object(&file.state, object);

		*there = file.state;
		wd_file_release(&file);
		if (st == WD_NOMEM)
			return st;
		if (same) {
			home->view = views[i];
			return WD_OK;
		}
	}
	return WD_OK;
}

/* The folder itself: what covers it hides what is missing in it. */
static void
note_folder_mount(struct wd_home *home)
{
	struct wd_file_state state;

	if (wd_host_file_state(
		home->look->with->host, home->folder_fd, &state, NULL) == WD_OK)
		note_mount(home, &state);
}

enum wd_status
wd_home_find_view(struct wd_home *home, pid_t holder, struct wd_slice path,
    bool own, const struct wd_file_state *object)
{
	struct wd_file_state there;
	enum wd_status found = find_view(home, holder, path, object, &there);

	if (found != WD_OK)
		return found;
	home->mount = object->mount;
	home->changed_ns = INT64_MIN;
	if (home->view == 0) {
		home->unsure = true;
		home->view = holder;
	} else {
		note_mount(home, &there);
		if (!own)
			found = note_way(home, path, 0);
	}
	if (found != WD_OK)
		return found;
	found = wd_host_open_folder(home->look->with->host, home->view,
	    home->folder, &home->folder_fd, NULL);
	if (found != WD_OK) {
		home->folder_fd = -1;
		home->view = 0;
	} else {
		note_folder_mount(home);
	}
	return found == WD_NOMEM ? found : WD_OK;
}

struct wd_siblings
wd_home_siblings(struct wd_home *home)
{
	return (struct wd_siblings){ open_beside, list_beside, home };
}
