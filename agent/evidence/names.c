/*
 * Which names of caches lead to the held weights now, and which have moved:
 * branches of a hub cache, tags of an Ollama store. Names are shown; nothing
 * is ever proven by one.
 *
 * That a name led here before, a claim tells (the process was given it), or,
 * of branch main, that whoever asks the hub for no revision gets it.
 */
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/caches.h"
#include "evidence/claims.h"
#include "wire/bundle.h"

/* Names that are read for one model. */
#define MAX_NAMES 512

struct naming {
	struct wd_look *look;
	struct wd_group *group;
	struct wd_model *model;
	pid_t pid; /* through whose eyes */
	struct wd_cache_place place;
	size_t read;
};

static const struct wd_slice nothing;

/* ---- what was found -------------------------------------------------------
 */

static char *
escaped(struct wd_slice bytes)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { .data = NULL };

	wd_buf_init(&text, 4 * WD_MAX_PATH);
	(void)wd_escape(&text, bytes);
	return wd_buf_detach(&text);
}

/* Takes over both texts; a name of NULL is a lack of memory. */
static enum wd_status
add(struct naming *n, char *name, char *leads_to)
{
	struct wd_model *m = n->model;
	enum wd_status st = name == NULL ?
	    WD_NOMEM :
	    wd_grow((void **)&m->names, m->name_count, &m->name_capacity,
		sizeof(*m->names), MAX_NAMES * 2);
	size_t i;

	for (i = 0; st == WD_OK && i < m->name_count; i++)
		if (strcmp(m->names[i].name, name) == 0)
			st = WD_LIMIT; /* it is there */
	if (st == WD_OK) {
		m->names[m->name_count++] =
		    (struct wd_kept_name){ name, leads_to };
		return WD_OK;
	}
	wd_free(name);
	wd_free(leads_to);
	return st == WD_NOMEM ? st : WD_OK;
}

static enum wd_status
add_moved(struct naming *n, struct wd_slice label, struct wd_slice leads_to)
{
	char *name = escaped(label), *now = escaped(leads_to);

	if (now == NULL) {
		wd_free(name);
		name = NULL;
	}
	return add(n, name, now);
}

static bool
may_read_more(struct naming *n)
{
	if (++n->read <= MAX_NAMES && !wd_deadline_passed(n->look->deadline))
		return true;
	n->model->names_incomplete = true;
	return false;
}

static enum wd_status
list_folder(struct naming *n, struct wd_slice path, struct wd_entries *names)
{
	enum wd_status st;
	int fd = -1;

	memset(names, 0, sizeof(*names));
	st = wd_host_open_folder(n->look->with->host, n->pid, path, &fd, NULL);
	if (st == WD_OK) {
		st = wd_entries_read(fd, names);
		(void)close(fd);
	}
	if (st != WD_OK && st != WD_GONE && st != WD_INVALID)
		n->model->names_incomplete = true;
	if (st == WD_OK && !names->complete)
		n->model->names_incomplete = true;
	return st == WD_NOMEM ? st : WD_OK;
}

/* ---- Hugging Face hub -----------------------------------------------------
 */

static bool
is_ours(const struct wd_model *model, struct wd_slice commit)
{
	size_t i;

	for (i = 0; i < model->commit_count; i++)
		if (wd_slice_equal(wd_bytes_slice(&model->commits[i]), commit))
			return true;
	return false;
}

/* "ORG/NAME@REVISION" */
static enum wd_status
add_revision(struct naming *n, struct wd_slice revision)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { .data = NULL };
	char repository[256];

	if (!wd_hub_repository(wd_bytes_slice(&n->model->path), repository,
		sizeof(repository)))
		return WD_OK;
	wd_buf_init(&text, 4 * WD_MAX_PATH);
	(void)wd_buf_printf(&text, "%s@", repository);
	(void)wd_escape(&text, revision);
	return add(n, wd_buf_detach(&text), NULL);
}

/* Branches that lead here. Those that lead elsewhere say nothing: nobody
 * knows that they ever led here. */
static enum wd_status
add_branches(struct naming *n)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes commit = { NULL, 0 };
	WD_CLEANUP(wd_entries_release) struct wd_entries names = { 0 };
	enum wd_status st = wd_cache_path(
	    &path, n->place.root, wd_slice_text("refs"), nothing, nothing);
	int64_t set_ns;
	size_t i;

	if (st == WD_OK)
		st = list_folder(n, wd_bytes_slice(&path), &names);
	for (i = 0; i < names.count && st == WD_OK && may_read_more(n); i++) {
		struct wd_slice name = wd_bytes_slice(&names.items[i]);

		st = wd_cache_ref(
		    n->look, n->pid, n->place.root, name, &commit, &set_ns);
		if (st == WD_OK && is_ours(n->model, wd_bytes_slice(&commit)))
			st = add_revision(n, name);
	}
	return st == WD_NOMEM ? st : WD_OK;
}

static bool
is_of_store(const struct naming *n, const struct wd_claim *claim)
{
	return claim->store.len > 0 &&
	    wd_slice_equal(wd_bytes_slice(&claim->store), n->place.root);
}

/* Whether a claim has asked this repository for something. */
static bool
is_asked_for(const struct naming *n)
{
	size_t i;

	for (i = 0; i < n->group->claim_count; i++)
		if (!n->group->claims[i].listed &&
		    is_of_store(n, &n->group->claims[i]))
			return true;
	return false;
}

static enum wd_status
add_moved_main(struct naming *n)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes now = { NULL, 0 };
	int64_t set_ns;
	enum wd_status st;

	if (n->model->commit_count == 0 || is_asked_for(n))
		return WD_OK;
	st = wd_cache_ref(n->look, n->pid, n->place.root, wd_slice_text("main"),
	    &now, &set_ns);
	if (st != WD_OK || now.len == 0 ||
	    is_ours(n->model, wd_bytes_slice(&now)))
		return st;
	return add_moved(n, wd_slice_text("main"), wd_bytes_slice(&now));
}

static enum wd_status
name_hub(struct naming *n)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < n->model->commit_count && st == WD_OK; i++)
		st = add_revision(n, wd_bytes_slice(&n->model->commits[i]));
	if (st == WD_OK)
		st = add_branches(n);
	return st == WD_OK ? add_moved_main(n) : st;
}

/* ---- Ollama --------------------------------------------------------------
 */

/* As Ollama shows it: what it would fill in by itself is left out. */
static enum wd_status
add_tag(struct naming *n, struct wd_slice below)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { .data = NULL };
	struct wd_slice parts[3];
	size_t i;

	for (i = 0; i < 3; i++)
		(void)wd_slice_cut(&below, '/', &parts[i]);
	wd_buf_init(&text, 4 * WD_MAX_PATH);
	if (!wd_slice_equal(parts[0], wd_slice_text("registry.ollama.ai")))
		(void)wd_escape(&text, parts[0]);
	if (text.len > 0 ||
	    !wd_slice_equal(parts[1], wd_slice_text("library"))) {
		(void)wd_buf_text(&text, text.len > 0 ? "/" : "");
		(void)wd_escape(&text, parts[1]);
		(void)wd_buf_byte(&text, '/');
	}
	(void)wd_escape(&text, parts[2]);
	(void)wd_buf_byte(&text, ':');
	(void)wd_escape(&text, below);
	return add(n, wd_buf_detach(&text), NULL);
}

/* Folders that are still to be read: HOST, HOST/NAMESPACE, and so on. */
struct queue {
	struct wd_bytes *items;
	size_t count, capacity;
};

static void
queue_release(struct queue *queue)
{
	size_t i;

	for (i = 0; i < queue->count; i++)
		wd_bytes_release(&queue->items[i]);
	wd_free(queue->items);
}

static enum wd_status
enqueue(struct naming *n, struct queue *queue, struct wd_slice at,
    struct wd_slice name)
{
	enum wd_status st = wd_grow((void **)&queue->items, queue->count,
	    &queue->capacity, sizeof(*queue->items), 8 * MAX_NAMES);

	if (st == WD_OK) {
		memset(&queue->items[queue->count], 0, sizeof(*queue->items));
		st = at.len == 0 ?
		    wd_bytes_set(&queue->items[queue->count], name) :
		    wd_cache_path(&queue->items[queue->count], at, name,
			nothing, nothing);
	}
	if (st == WD_OK)
		queue->count++;
	else
		n->model->names_incomplete = true;
	return st == WD_NOMEM ? st : WD_OK;
}

static size_t
depth_of(struct wd_slice path)
{
	struct wd_slice part;
	size_t depth = 0;

	while (wd_slice_cut(&path, '/', &part))
		depth++;
	return depth;
}

/* "blobs/sha256-HEX" against "sha256:HEX". */
static bool
is_our_blob(const struct naming *n, struct wd_slice digest)
{
	return digest.len == 71 && n->place.blob.len == 71 &&
	    memcmp(digest.data + 7, n->place.blob.data + 7, 64) == 0;
}

static enum wd_status
read_tag(struct naming *n, struct wd_slice below)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes digest = { NULL, 0 };
	int64_t set_ns;
	enum wd_status st = wd_cache_path(
	    &path, n->place.root, wd_slice_text("manifests"), below, nothing);

	if (st == WD_OK)
		st = wd_cache_manifest(
		    n->look, n->pid, wd_bytes_slice(&path), &digest, &set_ns);
	if (st == WD_OK && is_our_blob(n, wd_bytes_slice(&digest)))
		st = add_tag(n, below);
	return st == WD_NOMEM ? st : WD_OK;
}

static enum wd_status
read_folder(struct naming *n, struct queue *queue, struct wd_slice below)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	WD_CLEANUP(wd_entries_release) struct wd_entries names = { 0 };
	enum wd_status st = wd_cache_path(
	    &path, n->place.root, wd_slice_text("manifests"), below, nothing);
	size_t i;

	if (st == WD_OK)
		st = list_folder(n, wd_bytes_slice(&path), &names);
	for (i = 0; i < names.count && st == WD_OK; i++)
		st = enqueue(n, queue, below, wd_bytes_slice(&names.items[i]));
	return st == WD_NOMEM ? st : WD_OK;
}

static enum wd_status
add_tags(struct naming *n)
{
	WD_CLEANUP(queue_release) struct queue queue = { NULL, 0, 0 };
	enum wd_status st = read_folder(n, &queue, nothing);
	size_t i;

	for (i = 0; i < queue.count && st == WD_OK && may_read_more(n); i++) {
		struct wd_slice below = wd_bytes_slice(&queue.items[i]);

		st = depth_of(below) == 4 ? read_tag(n, below) :
					    read_folder(n, &queue, below);
	}
	return st;
}

/* ---- claims that name this cache ------------------------------------------
 */

static bool
leads_here(const struct naming *n, const struct wd_claim *claim)
{
	struct wd_slice stored = wd_bytes_slice(&claim->stored);

	if (claim->agrees == WD_YES)
		return true;
	return n->place.kind == WD_CACHE_HUB ? is_ours(n->model, stored) :
					       is_our_blob(n, stored);
}

/* A name that the process was given, and that leads to none of what it holds:
 * it did when it was loaded, or the process swapped. Of a revision nobody knows
 * whether it moved: those do not. */
static enum wd_status
add_moved_claims(struct naming *n)
{
	enum wd_status st = WD_OK;
	size_t i;

	if (n->model->kind != WD_KIND_MODEL)
		return WD_OK;
	for (i = 0; i < n->group->claim_count && st == WD_OK; i++) {
		const struct wd_claim *claim = &n->group->claims[i];

		if (claim->use != WD_CLAIM_MODEL || claim->listed ||
		    !is_of_store(n, claim) || leads_here(n, claim) ||
		    wd_slice_equal(wd_bytes_slice(&claim->label),
			wd_bytes_slice(&claim->stored)))
			continue;
		/* A hub cache whose branch is lost: nothing is known. */
		if (n->place.kind == WD_CACHE_HUB && claim->stored.len == 0)
			continue;
		st = add_moved(n, wd_bytes_slice(&claim->label),
		    wd_bytes_slice(&claim->stored));
	}
	return st;
}

/* ---- models --------------------------------------------------------------
 */

/* The held file by whose path the cache is known; NULL: nobody holds any. */
static const struct wd_held *
held_file(const struct wd_group *group, const struct wd_model *model)
{
	size_t i;

	for (i = 0; i < model->file_count; i++)
		if (model->files[i].held != WD_NONE &&
		    group->held[model->files[i].held].hold_count > 0)
			return &group->held[model->files[i].held];
	return NULL;
}

static enum wd_status
name_model(struct naming *n, const struct wd_held *held)
{
	enum wd_status st = WD_OK;

	n->pid = n->look->members[held->holds[0].member].pid;
	n->place = wd_cache_place_of(wd_bytes_slice(&held->path));
	if (n->place.kind == WD_CACHE_HUB)
		st = name_hub(n);
	else if (n->place.kind == WD_CACHE_OLLAMA)
		st = add_tags(n);
	return st == WD_OK && n->place.kind != WD_CACHE_NONE ?
	    add_moved_claims(n) :
	    st;
}

enum wd_status
wd_look_names(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	size_t i;

	for (i = 0; i < group->model_count; i++) {
		struct naming n = {
			.look = look, .group = group, .model = &group->models[i]
		};
		const struct wd_held *held = held_file(group, n.model);

		if (held != NULL && held->type == WD_OBJECT_REGULAR &&
		    name_model(&n, held) != WD_OK)
			return wd_fail(err, WD_NOMEM, "names: out of memory");
	}
	return WD_OK;
}
