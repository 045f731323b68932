#include "evidence/at_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "evidence/home.h"
#include "evidence/message.h"
#include "host/below.h"
#include "host/ends.h"

/* Of a folder so many names are tried for the first that is weights. */
#define MOST_TRIED 4096

/* A file that was opened for the reader. */
struct opened {
	struct wd_bytes name;
	struct wd_file file;
	bool is_weights; /* by its first bytes */
};

struct place {
	const struct wd_evidence *with;
	const struct wd_deadline *deadline;
	struct wd_slice root; /* empty: below none */
	struct wd_buf folder; /* of the bundle, relative to root; "": root */
	int folder_fd;        /* for listing; -1: none */
	struct opened *files;
	size_t count, capacity;
	struct wd_bytes *names; /* of the folder, while one is chosen */
	size_t name_count, name_capacity;
	bool names_cut;
};

static void
place_release(struct place *place)
{
	size_t i;

	for (i = 0; i < place->count; i++) {
		wd_bytes_release(&place->files[i].name);
		wd_file_release(&place->files[i].file);
	}
	for (i = 0; i < place->name_count; i++)
		wd_bytes_release(&place->names[i]);
	wd_free(place->files);
	wd_free(place->names);
	wd_buf_release(&place->folder);
	if (place->folder_fd >= 0)
		(void)close(place->folder_fd);
}

static enum wd_status
denied(struct wd_error *err)
{
	return wd_fail(err, WD_DENIED,
	    "the path is neither below a folder of model_roots nor a file that "
	    "a process maps; name the folder in the agent's configuration");
}

/* ---- the path ------------------------------------------------------------ */

/* Every component is a name. */
static bool
is_path(struct wd_slice path)
{
	struct wd_slice rest = path, part = { NULL, 0 };

	if (path.len < 2 || path.len >= WD_MAX_PATH || path.data[0] != '/' ||
	    memchr(path.data, '\0', path.len) != NULL)
		return false;
	rest.data++;
	rest.len--;
	while (wd_slice_cut(&rest, '/', &part))
		if (wd_slice_equal(part, wd_slice_text("..")) ||
		    wd_slice_equal(part, wd_slice_text(".")))
			return false;
	return true;
}

static struct wd_slice
without_end(struct wd_slice path)
{
	while (path.len > 1 && path.data[path.len - 1] == '/')
		path.len--;
	return path;
}

/* Whether `path` is `root` or below it, by its letters; `*rest` is then
 * relative to it. */
static bool
is_below(struct wd_slice path, struct wd_slice root, struct wd_slice *rest)
{
	size_t len = root.len == 1 ? 0 : root.len; /* "/" */

	if (path.len < len || memcmp(path.data, root.data, len) != 0 ||
	    (path.len > len && path.data[len] != '/'))
		return false;
	*rest = (struct wd_slice){ path.data + len, path.len - len };
	while (rest->len > 0 && rest->data[0] == '/') {
		rest->data++;
		rest->len--;
	}
	return true;
}

/* ---- files of the place -------------------------------------------------- */

static struct opened *
find_opened(struct place *place, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < place->count; i++)
		if (wd_slice_equal(wd_bytes_slice(&place->files[i].name), name))
			return &place->files[i];
	return NULL;
}

/* Takes the file over, also on failure. */
static enum wd_status
keep(struct place *place, struct wd_slice name, struct wd_file *file)
{
	enum wd_status st = wd_grow((void **)&place->files, place->count,
	    &place->capacity, sizeof(*place->files), WD_MAX_CANDIDATE_FILES);
	struct opened *opened;

	if (st == WD_OK) {
		opened = &place->files[place->count];
		memset(opened, 0, sizeof(*opened));
		st = wd_bytes_set(&opened->name, name);
	}
	if (st != WD_OK) {
		wd_file_release(file);
		return st;
	}
	opened->file = *file;
	place->count++;
	return WD_OK;
}

static enum wd_status
open_beside(void *ctx, struct wd_slice name, int *fd, struct wd_error *err)
{
	struct place *place = ctx;
	struct opened *opened = find_opened(place, name);
	WD_CLEANUP(wd_buf_release) struct wd_buf path = { .data = NULL };
	struct wd_file file = { .fd = -1 };
	enum wd_status st;

	if (opened != NULL) {
		*fd = opened->file.fd;
		return WD_OK;
	}
	wd_buf_init(&path, WD_MAX_PATH);
	(void)wd_buf_append(&path, place->folder.data, place->folder.len);
	if (place->folder.len > 0)
		(void)wd_buf_byte(&path, '/');
	if (wd_buf_append(&path, name.data, name.len) != WD_OK)
		return wd_fail(err, path.status, "the path is too long");
	st = wd_host_open_below(
	    place->with->host, place->root, wd_buf_slice(&path), &file, err);
	if (st == WD_GONE)
		return WD_NOTFOUND;
	*fd = file.fd;
	return st == WD_OK ? keep(place, name, &file) : st;
}

static enum wd_status
list_beside(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	struct place *place = ctx;
	struct wd_folder_fd over = { place->folder_fd, true };
	struct wd_folder folder = wd_folder_over_fd(&over);

	return folder.list(folder.ctx, each, each_ctx, err);
}

/* ---- a folder ------------------------------------------------------------ */

static bool
add_name(void *ctx, struct wd_slice name)
{
	struct place *place = ctx;

	place->names_cut = true; /* unless it is taken */
	if (wd_grow((void **)&place->names, place->name_count,
		&place->name_capacity, sizeof(*place->names),
		MOST_TRIED) != WD_OK)
		return false;
	memset(&place->names[place->name_count], 0, sizeof(*place->names));
	if (wd_bytes_set(&place->names[place->name_count], name) != WD_OK)
		return false;
	place->name_count++;
	place->names_cut = false;
	return true;
}

static int
by_bytes(const void *a, const void *b)
{
	return wd_slice_compare(wd_bytes_slice(a), wd_bytes_slice(b));
}

/* Whether the file is weights; `*lost` when that could not be looked at. */
static enum wd_status
try_name(struct place *place, struct wd_slice name, bool *lost)
{
	enum wd_bundle_format format = WD_FORMAT_UNKNOWN;
	int fd = -1;
	enum wd_status st = open_beside(place, name, &fd, NULL);

	if (st == WD_OK)
		st = wd_reader_sniff(place->with->reader, fd, &format, NULL);
	if (st == WD_OK && format != WD_FORMAT_UNKNOWN)
		find_opened(place, name)->is_weights = true;
	/* No regular file, or gone since it was listed. */
	*lost |= st != WD_OK && st != WD_INVALID && st != WD_NOTFOUND;
	return st == WD_NOMEM ? st : WD_OK;
}

/* The first file by name that is weights. */
static enum wd_status
choose(struct place *place, struct wd_slice *name, struct wd_error *err)
{
	enum wd_status st = list_beside(place, add_name, place, err);
	bool lost = place->names_cut;
	size_t i;

	if (st != WD_OK)
		return st;
	if (place->name_count > 0)
		qsort(place->names, place->name_count, sizeof(*place->names),
		    by_bytes);
	for (i = 0; i < place->name_count; i++) {
		struct wd_slice one = wd_bytes_slice(&place->names[i]);

		if (wd_folder_name_allowed(one) &&
		    try_name(place, one, &lost) != WD_OK)
			return wd_fail(err, WD_NOMEM, "out of memory");
	}
	for (i = 0; i < place->count; i++)
		if (place->files[i].is_weights) {
			*name = wd_bytes_slice(&place->files[i].name);
			return WD_OK;
		}
	if (lost)
		return wd_fail(err, WD_IO,
		    "not every file of the folder could be looked into, so "
		    "whether it holds weights is not known; name the file");
	return wd_fail(err, WD_NOTFOUND, "there are no weights in the folder");
}

/* One of several models in a folder is nobody's answer about the folder. A
 * safetensors folder is one bundle, which notes strays itself. */
static enum wd_status
check_alone(
    struct place *place, const struct wd_bundle *bundle, struct wd_error *err)
{
	size_t i, j;

	for (i = 0; i < place->count; i++) {
		struct wd_slice name = wd_bytes_slice(&place->files[i].name);

		for (j = 0; j < bundle->file_count; j++)
			if (wd_slice_equal(name,
				(struct wd_slice){
				    (const uint8_t *)bundle->files[j].name,
				    bundle->files[j].name_len }))
				break;
		if (place->files[i].is_weights && j == bundle->file_count &&
		    bundle->format != WD_FORMAT_SAFETENSORS)
			return wd_fail(err, WD_INVALID,
			    "the folder holds several bundles; name a file");
	}
	return WD_OK;
}

/* ---- where it is --------------------------------------------------------- */

/* The folder of the bundle, open for listing. */
static enum wd_status
enter(struct place *place, struct wd_slice folder, struct wd_error *err)
{
	if (wd_buf_append(&place->folder, folder.data, folder.len) != WD_OK)
		return wd_fail(
		    err, place->folder.status, "the path is too long");
	return wd_host_folder_below(
	    place->with->host, place->root, folder, &place->folder_fd, err);
}

/* `rest` is a folder, or a file of one. */
static enum wd_status
find_below(struct place *place, struct wd_slice rest, struct wd_slice *name,
    struct wd_error *err)
{
	struct wd_slice folder = { NULL, 0 };
	size_t slash = rest.len;
	enum wd_status st = wd_host_folder_below(
	    place->with->host, place->root, rest, &place->folder_fd, err);
	int fd = -1;

	if (st == WD_OK) {
		if (wd_buf_append(&place->folder, rest.data, rest.len) != WD_OK)
			return wd_fail(
			    err, place->folder.status, "the path is too long");
		return choose(place, name, err);
	}
	if (st != WD_INVALID)
		return st;
	while (slash > 0 && rest.data[slash - 1] != '/')
		slash--;
	*name = (struct wd_slice){ rest.data + slash, rest.len - slash };
	folder = (struct wd_slice){ rest.data, slash > 0 ? slash - 1 : 0 };
	st = enter(place, folder, err);
	return st == WD_OK ? open_beside(place, *name, &fd, err) : st;
}

/* Whether a process maps the very file; by the numbers that the kernel shows,
 * so where those differ from the file's own it is not found. */
static enum wd_status
is_mapped(
    const struct place *place, const struct wd_file_state *state, bool *mapped)
{
	WD_CLEANUP(wd_mappers_release) struct wd_mappers found = { 0 };
	struct wd_object_number number = { state->device, state->inode };
	enum wd_status st = wd_host_mappers(
	    place->with->host, &number, 1, place->deadline, &found, NULL);

	*mapped = st == WD_OK && found.count > 0;
	return st == WD_NOMEM ? st : WD_OK;
}

static enum wd_status
find_mapped(struct place *place, struct wd_slice path, struct wd_slice *name,
    struct wd_error *err)
{
	struct wd_host_identity agent;
	struct wd_file file = { .fd = -1 };
	struct wd_slice folder;
	bool mapped = false;
	enum wd_status st = wd_host_identity(place->with->host, &agent, err);

	if (st != WD_OK)
		return st;
	st = wd_host_open_path(
	    place->with->host, agent.pid_of_agent, path, &file, NULL);
	if (st == WD_OK)
		st = is_mapped(place, &file.state, &mapped);
	if (st != WD_NOMEM && !mapped)
		st = WD_DENIED;
	if (st != WD_OK) {
		wd_file_release(&file);
		return st == WD_NOMEM ? wd_fail(err, st, "out of memory") :
					denied(err);
	}
	wd_split_path(path, &folder, name);
	return keep(place, *name, &file);
}

static enum wd_status
find(struct place *place, const struct wd_at_path *at, struct wd_slice *name,
    struct wd_error *err)
{
	struct wd_slice path = without_end(at->path), rest, root;
	enum wd_status st;
	size_t i;

	if (!is_path(path))
		return wd_fail(err, WD_INVALID,
		    "path: it must be absolute, and without \".\" and \"..\"");
	for (i = 0; i < at->root_count; i++) {
		root = without_end(wd_slice_text(at->roots[i]));
		if (!is_below(path, root, &rest))
			continue;
		place->root = root;
		st = find_below(place, rest, name, err);
		if (st == WD_DENIED)
			return denied(err);
		return st == WD_GONE ?
		    wd_fail(err, WD_NOTFOUND, "nothing is at that path") :
		    st;
	}
	return find_mapped(place, path, name, err);
}

/* ---- the answer ---------------------------------------------------------- */

static void
release_model(struct wd_model *model)
{
	wd_bundle_free(&model->bundle);
	wd_bytes_release(&model->path);
	wd_free(model->files);
}

/* Descriptors stay the place's. */
static enum wd_status
fill_model(struct place *place, struct wd_slice path, struct wd_model *model)
{
	size_t i;

	model->kind = model->bundle->kind;
	model->incomplete = model->bundle->incomplete;
	model->files =
	    wd_calloc(model->bundle->file_count, sizeof(*model->files));
	if (model->files == NULL || wd_bytes_set(&model->path, path) != WD_OK)
		return WD_NOMEM;
	model->file_count = model->bundle->file_count;
	for (i = 0; i < model->file_count; i++) {
		const struct wd_bundle_file *bf = &model->bundle->files[i];
		const struct opened *opened = find_opened(place,
		    (struct wd_slice){
			(const uint8_t *)bf->name, bf->name_len });

		model->files[i].bundle_file = i;
		model->files[i].held = WD_NONE;
		model->files[i].fd = opened == NULL ? -1 : opened->file.fd;
		if (opened != NULL)
			model->files[i].state = opened->file.state;
	}
	return WD_OK;
}

static enum wd_status
digest_and_say(struct place *place, struct wd_model *model,
    enum wd_digest_wish wish, Weightd__V1__Bundle **bundle,
    struct wd_error *err)
{
	struct wd_digest_memo memo = {
		.started_real_ns = wd_clock_real_ns(place->with->clock),
	};
	struct wd_look look = { .with = place->with,
		.digests = wish,
		.deadline = place->deadline,
		.hash_deadline = *place->deadline,
		.memo = &memo };
	struct wd_build b = wd_build_init();
	enum wd_status st = wd_look_digests(&look, model, err);

	wd_free(memo.rows);
	if (st != WD_OK)
		return st;
	wd_say_bundle(&b, model, bundle);
	return b.status == WD_OK ? WD_OK :
				   wd_fail(err, b.status, "out of memory");
}

static enum wd_status
describe(struct place *place, const struct wd_at_path *at, struct wd_slice name,
    enum wd_digest_wish wish, Weightd__V1__Bundle **bundle,
    struct wd_error *err)
{
	struct wd_siblings siblings = { open_beside, list_beside, place };
	WD_CLEANUP(release_model) struct wd_model model = { 0 };
	const struct opened *opened = find_opened(place, name);
	enum wd_status st = wd_reader_describe(place->with->reader,
	    opened->file.fd, name, place->folder_fd >= 0 ? &siblings : NULL,
	    place->deadline, &model.bundle, err);

	if (st == WD_OK)
		st = check_alone(place, model.bundle, err);
	if (st != WD_OK)
		return st;
	if (fill_model(place, at->path, &model) != WD_OK)
		return wd_fail(err, WD_NOMEM, "out of memory");
	return digest_and_say(place, &model, wish, bundle, err);
}

enum wd_status
wd_describe_at_path(const struct wd_evidence *evidence,
    const struct wd_at_path *at, enum wd_digest_wish wish,
    const struct wd_deadline *deadline, Weightd__V1__Bundle **bundle,
    struct wd_error *err)
{
	WD_CLEANUP(place_release)
	struct place place = {
		.with = evidence, .deadline = deadline, .folder_fd = -1
	};
	struct wd_slice name = { NULL, 0 };
	enum wd_status st;

	wd_buf_init(&place.folder, WD_MAX_PATH);
	st = find(&place, at, &name, err);
	return st == WD_OK ? describe(&place, at, name, wish, bundle, err) : st;
}
