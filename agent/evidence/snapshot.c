#include "evidence/snapshot.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/caches.h"
#include "evidence/claims.h"

/* Revisions that are looked into; a cache keeps few. */
#define MAX_SNAPSHOTS 256

struct search {
	struct wd_look *look;
	pid_t pid;
	struct wd_cache_place place;
	struct wd_bytes main; /* revision of the branch */
	struct wd_snapshots *found;
};

static const struct wd_slice nothing;

void
wd_snapshots_release(struct wd_snapshots *snapshots)
{
	size_t i;

	for (i = 0; i < snapshots->count; i++)
		wd_bytes_release(&snapshots->commits[i]);
	wd_free(snapshots->commits);
	wd_bytes_release(&snapshots->path);
	memset(snapshots, 0, sizeof(*snapshots));
}

/* Whether the link's text ends with the blob's name. */
static bool
leads_to_blob(int fd, struct wd_slice name, struct wd_slice blob)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	struct wd_slice link, part, last = { NULL, 0 };

	wd_buf_init(&text, 2 * WD_MAX_PATH);
	if (wd_folder_link(fd, name, &text, NULL) != WD_OK)
		return false;
	link = wd_buf_slice(&text);
	while (wd_slice_cut(&link, '/', &part))
		last = part;
	return wd_slice_equal(last, blob);
}

static enum wd_status
open_folder(const struct search *s, const struct wd_bytes *path, int *fd)
{
	enum wd_status st = wd_host_open_folder(
	    s->look->with->host, s->pid, wd_bytes_slice(path), fd, NULL);

	if (st != WD_OK)
		*fd = -1;
	return st;
}

static void
close_scoped(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/* The name of the link in the folder; empty: none. */
static enum wd_status
find_link(const struct search *s, const struct wd_bytes *folder,
    struct wd_bytes *name)
{
	WD_CLEANUP(wd_entries_release) struct wd_entries names = { 0 };
	WD_CLEANUP(close_scoped) int fd = -1;
	enum wd_status st = open_folder(s, folder, &fd);
	size_t i;

	if (st == WD_OK)
		st = wd_entries_read(fd, &names);
	if (st != WD_OK)
		return st;
	if (!names.complete)
		s->found->complete = false;
	for (i = 0; i < names.count; i++) {
		struct wd_slice one = wd_bytes_slice(&names.items[i]);

		if (leads_to_blob(fd, one, s->place.blob))
			return wd_bytes_set(name, one);
	}
	return WD_OK;
}

static enum wd_status
add_commit(struct search *s, struct wd_slice commit)
{
	struct wd_snapshots *f = s->found;
	enum wd_status st = wd_grow((void **)&f->commits, f->count,
	    &f->capacity, sizeof(*f->commits), MAX_SNAPSHOTS);

	if (st != WD_OK)
		return st;
	memset(&f->commits[f->count], 0, sizeof(*f->commits));
	st = wd_bytes_set(&f->commits[f->count], commit);
	if (st == WD_OK)
		f->count++;
	return st;
}

static enum wd_status
look_into(struct search *s, struct wd_slice commit)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes folder = { NULL, 0 };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes name = { NULL, 0 };
	bool first = s->found->count == 0 ||
	    wd_slice_equal(commit, wd_bytes_slice(&s->main));
	enum wd_status st = wd_cache_path(&folder, s->place.root,
	    wd_slice_text("snapshots"), commit, nothing);

	if (st == WD_OK)
		st = find_link(s, &folder, &name);
	if (st != WD_OK)
		s->found->complete = false;
	if (st != WD_OK || name.len == 0)
		return st == WD_NOMEM ? st : WD_OK;
	if (first)
		st = wd_cache_path(&s->found->path, wd_bytes_slice(&folder),
		    wd_bytes_slice(&name), nothing, nothing);
	return st == WD_OK ? add_commit(s, commit) : st;
}

static void
note_changed(struct search *s, int fd)
{
	struct wd_file_state state;

	s->found->changed_ns = INT64_MAX;
	if (wd_host_file_state(s->look->with->host, fd, &state, NULL) == WD_OK)
		s->found->changed_ns = state.ctime_ns > state.mtime_ns ?
		    state.ctime_ns :
		    state.mtime_ns;
}

static enum wd_status
look_into_all(struct search *s)
{
	WD_CLEANUP(wd_entries_release) struct wd_entries commits = { 0 };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	WD_CLEANUP(close_scoped) int fd = -1;
	enum wd_status st = wd_cache_path(
	    &path, s->place.root, wd_slice_text("snapshots"), nothing, nothing);
	size_t i;

	if (st == WD_OK)
		st = open_folder(s, &path, &fd);
	if (st == WD_OK)
		note_changed(s, fd);
	if (st == WD_OK)
		st = wd_entries_read(fd, &commits);
	s->found->complete =
	    st == WD_OK && commits.complete && commits.count <= MAX_SNAPSHOTS;
	for (i = 0; i < commits.count && i < MAX_SNAPSHOTS && st == WD_OK;
	     i++) {
		if (wd_deadline_passed(s->look->deadline)) {
			s->found->complete = false;
			break;
		}
		st = look_into(s, wd_bytes_slice(&commits.items[i]));
	}
	return st == WD_NOMEM ? st : WD_OK;
}

enum wd_status
wd_snapshots_of(struct wd_look *look, pid_t pid, struct wd_slice blob,
    struct wd_snapshots *found)
{
	struct search s = { .look = look, .pid = pid, .found = found };
	int64_t set_ns;
	enum wd_status st;

	memset(found, 0, sizeof(*found));
	s.place = wd_cache_place_of(blob);
	if (s.place.kind != WD_CACHE_HUB || s.place.blob.len == 0)
		return WD_OK;
	st = wd_cache_ref(
	    look, pid, s.place.root, wd_slice_text("main"), &s.main, &set_ns);
	if (st == WD_OK)
		st = look_into_all(&s);
	wd_bytes_release(&s.main);
	return st;
}
