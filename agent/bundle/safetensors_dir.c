#include "bundle/safetensors_dir.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/recipe.h"

void
wd_dir_release(struct wd_dir *dir)
{
	wd_free(dir->names.items);
	wd_free(dir->entries.items);
	wd_hub_trees_release(&dir->trees);
}

bool
wd_safetensors_side_file(struct wd_slice name)
{
	enum wd_file_role role;

	return wd_slice_ends(name, INDEX_ENDING) ||
	    wd_hub_file_role(name, &role);
}

static bool
list_one(void *ctx, struct wd_slice name)
{
	struct wd_slice none = { NULL, 0 };
	struct wd_dir *dir = ctx;

	if (!wd_slice_ends(name, WEIGHTS_ENDING) &&
	    !wd_safetensors_side_file(name) &&
	    !wd_recipe_file(dir->build->options, name))
		return true;
	dir->status =
	    wd_dir_add(dir, &dir->names, name, none, WD_MAX_BUNDLE_FILES);
	return dir->status == WD_OK;
}

/* A folder that cannot be listed leaves the bundle incomplete: what lies
 * beside the file is then not known, and that is not the same as nothing. */
static enum wd_status
list_folder(struct wd_dir *dir)
{
	struct wd_draft *build = dir->build;
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	if (build->folder == NULL)
		return wd_draft_note(build, WD_NOTE_INCOMPLETE, dir->err,
		    "the folder of the file is not known, so its index, "
		    "settings and tokenizer were not looked for");
	st = build->folder->list(build->folder->ctx, list_one, dir, &why);
	if (dir->status != WD_OK)
		return dir->status;
	if (st == WD_NOMEM)
		return wd_fail(dir->err, st, "%s", why.message);
	if (st != WD_OK)
		return wd_draft_note(build, WD_NOTE_INCOMPLETE, dir->err,
		    "the folder of the file could not be listed, so its index, "
		    "settings and tokenizer were not looked for: %s",
		    why.message);
	dir->listed = true;
	wd_pairs_sort(&dir->names);
	return WD_OK;
}

static bool
has_file(const struct wd_bundle *bundle, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < bundle->file_count; i++)
		if (wd_slice_equal(name,
			(struct wd_slice){
			    (const uint8_t *)bundle->files[i].name,
			    bundle->files[i].name_len }))
			return true;
	return false;
}

/* The files that the index names, each once, by name. */
static enum wd_status
add_shards(struct wd_dir *dir)
{
	struct wd_pairs files = { .items = NULL };
	struct wd_slice none = { NULL, 0 };
	enum wd_status st = WD_OK;
	size_t i;

	/* Entries of one shard often stand together. */
	for (i = 0; i < dir->entries.count && st == WD_OK; i++) {
		struct wd_slice file = dir->entries.items[i].file;

		if (i > 0 &&
		    wd_slice_equal(file, dir->entries.items[i - 1].file))
			continue;
		st = wd_dir_add(dir, &files, file, none, WD_MAX_TENSORS);
	}
	wd_pairs_sort(&files);
	for (i = 0; i < files.count && st == WD_OK; i++)
		if (i == 0 ||
		    !wd_slice_equal(
			files.items[i].name, files.items[i - 1].name))
			st = wd_draft_file(dir->build, files.items[i].name,
			    WD_ROLE_WEIGHTS, dir->err);
	wd_free(files.items);
	return st;
}

struct wd_slice
wd_dir_file_name(const struct wd_bundle_file *file)
{
	return (struct wd_slice){ (const uint8_t *)file->name, file->name_len };
}

static enum wd_status
file_lost(struct wd_dir *dir, size_t file, enum wd_status why,
    const struct wd_error *error)
{
	struct wd_bundle_file *entry = &dir->build->bundle->files[file];
	enum wd_note_kind kind = WD_NOTE_INCOMPLETE;
	char shown[160];

	if (why == WD_NOMEM)
		return wd_fail(dir->err, why, "%s", error->message);
	/* What nobody may open is the index's fault, not a missing file. */
	if (!wd_folder_name_allowed(wd_dir_file_name(entry)))
		kind = WD_NOTE_MALFORMED;
	dir->build->bundle->incomplete = true;
	return wd_draft_note(dir->build, kind, dir->err, "%s: %s",
	    wd_escape_short(shown, sizeof(shown), wd_dir_file_name(entry)),
	    error->message);
}

/* Reads a weight file or one beside it; what is wrong with it becomes a note,
 * unless it is the very file that was asked about. */
static enum wd_status
read_file(struct wd_dir *dir, size_t file)
{
	struct wd_draft *build = dir->build;
	struct wd_bundle_file *entry = &build->bundle->files[file];
	struct wd_draft_mark mark = wd_draft_mark(build);
	struct wd_opened opened = { .folder = NULL };
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	st = wd_draft_open(build, wd_dir_file_name(entry), &opened, &why);
	if (st != WD_OK) {
		entry->present = false;
		return file_lost(dir, file, st, &why);
	}
	if (entry->role == WD_ROLE_WEIGHTS)
		st = wd_safetensors_read(
		    build, &opened.source, (uint32_t)file, &why);
	else
		st = wd_hub_file_read(
		    build, &opened.source, (uint32_t)file, &dir->trees, &why);
	wd_opened_close(&opened);
	if (st == WD_OK)
		return WD_OK;
	wd_draft_back(build, &mark);
	if (entry->role == WD_ROLE_WEIGHTS && build->given != NULL &&
	    wd_slice_equal(wd_dir_file_name(entry), build->given_name)) {
		if (dir->err != NULL)
			*dir->err = why;
		return st;
	}
	return file_lost(dir, file, st, &why);
}

static enum wd_status
add_side_files(struct wd_dir *dir)
{
	enum wd_status st = WD_OK;
	enum wd_file_role role;
	size_t i;

	if (dir->index.len > 0)
		st = wd_draft_file(
		    dir->build, dir->index, WD_ROLE_INDEX, dir->err);
	for (i = 0; i < dir->names.count && st == WD_OK; i++) {
		struct wd_slice name = dir->names.items[i].name;

		if (wd_recipe_file(dir->build->options, name))
			role = WD_ROLE_SETTINGS;
		else if (!wd_hub_file_role(name, &role))
			continue;
		st = wd_draft_file(dir->build, name, role, dir->err);
	}
	return st;
}

static int
compare_files(const void *a, const void *b)
{
	const struct wd_bundle_file *left = a, *right = b;

	return wd_slice_compare(
	    wd_dir_file_name(left), wd_dir_file_name(right));
}

/* The index itself was read before; only its size is still missing. */
static enum wd_status
measure_index(struct wd_dir *dir, size_t file)
{
	struct wd_opened opened = { .folder = NULL };
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	st = wd_draft_open(dir->build, dir->index, &opened, &why);
	if (st != WD_OK)
		return file_lost(dir, file, st, &why);
	dir->build->bundle->files[file].size_bytes = opened.source.size_bytes;
	wd_opened_close(&opened);
	return WD_OK;
}

static enum wd_status
read_files(struct wd_dir *dir)
{
	struct wd_bundle *bundle = dir->build->bundle;
	enum wd_status st = WD_OK;
	size_t i;

	if (bundle->file_count > 0)
		qsort(bundle->files, bundle->file_count, sizeof(*bundle->files),
		    compare_files);
	for (i = 0; i < bundle->file_count && st == WD_OK; i++)
		st = bundle->files[i].role == WD_ROLE_INDEX ?
		    measure_index(dir, i) :
		    read_file(dir, i);
	return st;
}

void
wd_faults_add(struct wd_faults *faults, const char *escaped)
{
	char shown[WD_SHORT_BYTES];

	if (faults->count++ >= NAMES_SHOWN)
		return;
	(void)wd_buf_printf(&faults->text, "%s%s",
	    faults->text.len > 0 ? ", " : "", wd_draft_short(shown, escaped));
}

enum wd_status
wd_faults_note(struct wd_dir *dir, struct wd_faults *faults,
    enum wd_note_kind kind, const char *what)
{
	enum wd_status st = faults->text.status;

	if (st != WD_OK)
		return wd_fail(dir->err, st, "no memory for a note");
	if (faults->count == 0)
		return WD_OK;
	if (faults->count > NAMES_SHOWN)
		return wd_draft_note(dir->build, kind, dir->err,
		    "%s: %s and %zu more", what, wd_buf_string(&faults->text),
		    faults->count - NAMES_SHOWN);
	return wd_draft_note(dir->build, kind, dir->err, "%s: %s", what,
	    wd_buf_string(&faults->text));
}

void
wd_faults_init(struct wd_faults *faults)
{
	wd_buf_init(&faults->text, 1024);
	faults->count = 0;
}

void
wd_faults_release(struct wd_faults *faults)
{
	wd_buf_release(&faults->text);
}

static enum wd_status
note_strays(struct wd_dir *dir)
{
	WD_CLEANUP(wd_faults_release) struct wd_faults strays;
	char shown[WD_SHORT_BYTES];
	size_t i;

	wd_faults_init(&strays);
	for (i = 0; i < dir->names.count; i++) {
		struct wd_slice name = dir->names.items[i].name;
		bool may_be = wd_slice_ends(name, WEIGHTS_ENDING) ||
		    wd_slice_ends(name, INDEX_ENDING);

		if (may_be && !has_file(dir->build->bundle, name))
			wd_faults_add(&strays,
			    wd_escape_short(shown, sizeof(shown), name));
	}
	return wd_faults_note(dir, &strays, WD_NOTE_NOT_PART,
	    "not part of this bundle, though it lies beside it");
}

/* "model-00001-of-00003.safetensors" */
static bool
named_as_shard(struct wd_slice name)
{
	static const size_t tail = 1 + 5 + 4 + 5;
	struct wd_slice number, count;
	uint64_t value;

	if (!wd_slice_ends(name, WEIGHTS_ENDING))
		return false;
	name.len -= strlen(WEIGHTS_ENDING);
	if (name.len <= tail)
		return false;
	name.data += name.len - tail;
	number = (struct wd_slice){ name.data + 1, 5 };
	count = (struct wd_slice){ name.data + 10, 5 };
	return name.data[0] == '-' && memcmp(name.data + 6, "-of-", 4) == 0 &&
	    wd_slice_number(number, 10, &value) &&
	    wd_slice_number(count, 10, &value) && value > 1;
}

/* What the name of a file without an index gives away. */
static enum wd_status
check_name(struct wd_dir *dir, struct wd_slice name)
{
	char shown[128];

	if (named_as_shard(name))
		return wd_draft_note(dir->build, WD_NOTE_INCOMPLETE, dir->err,
		    "%s is named as one shard of several, and no index lists "
		    "it",
		    wd_escape_short(shown, sizeof(shown), name));
	if (!wd_slice_ends(name, WEIGHTS_ENDING))
		return wd_draft_note(dir->build, WD_NOTE_INCOMPLETE, dir->err,
		    "the file is not at hand under the name that it has in a "
		    "bundle, so what belongs to it was not found");
	return WD_OK;
}

/* The only weight file without an index: the given one, else the one that
 * lies there, else the one with the usual name. */
static enum wd_status
single_file(struct wd_dir *dir, struct wd_slice *name)
{
	struct wd_slice usual = wd_slice_text("model" WEIGHTS_ENDING);
	size_t i, count = 0;

	*name = dir->build->given_name;
	if (wd_dir_is_weights(*name))
		return WD_OK;
	for (i = 0; i < dir->names.count; i++) {
		if (!wd_slice_ends(dir->names.items[i].name, WEIGHTS_ENDING))
			continue;
		*name = dir->names.items[i].name;
		count++;
	}
	if (count > 1 && wd_pairs_find(&dir->names, usual) != NULL) {
		*name = usual;
		count = 1;
	}
	if (count == 0)
		return wd_fail(dir->err, WD_NOTFOUND,
		    "there are no weights in the folder");
	if (count > 1)
		return wd_fail(dir->err, WD_INVALID,
		    "there are %zu weight files in the folder and no index; "
		    "name one of them",
		    count);
	return WD_OK;
}

static enum wd_status
add_weights(struct wd_dir *dir)
{
	struct wd_slice name;
	enum wd_status st;

	if (dir->index.len > 0)
		return add_shards(dir);
	st = single_file(dir, &name);
	if (st == WD_OK)
		st = check_name(dir, name);
	if (st == WD_OK)
		st = wd_draft_file(dir->build, name, WD_ROLE_WEIGHTS, dir->err);
	return st;
}

static enum wd_status
finish(struct wd_dir *dir)
{
	struct wd_bundle *bundle = dir->build->bundle;
	enum wd_status st;

	bundle->single_file = bundle->file_count == 1;
	if (has_file(bundle, wd_slice_text("adapter_config.json")))
		bundle->kind = WD_KIND_ADAPTER;
	st = wd_packed_check(dir->build, &dir->trees, dir->err);
	if (st == WD_OK)
		st = wd_draft_finish(dir->build, dir->err);
	if (st == WD_OK)
		st = wd_declared_check(
		    dir->build, dir->trees.trees[WD_TREE_CONFIG], dir->err);
	if (st == WD_OK && dir->index.len > 0)
		st = wd_dir_hold_index(dir);
	if (st == WD_OK && dir->index.len > 0)
		st = wd_dir_hold_shards(dir);
	if (st == WD_OK)
		st = note_strays(dir);
	return st;
}

enum wd_status
wd_safetensors_describe(struct wd_draft *build, struct wd_error *err)
{
	WD_CLEANUP(wd_dir_release)
	struct wd_dir dir = { .build = build, .status = WD_OK, .err = err };
	enum wd_status st;

	build->bundle->format = WD_FORMAT_SAFETENSORS;
	st = list_folder(&dir);
	if (st == WD_OK && dir.listed)
		st = wd_dir_index(&dir);
	if (st == WD_OK)
		st = add_weights(&dir);
	if (st == WD_OK)
		st = add_side_files(&dir);
	if (st == WD_OK)
		st = read_files(&dir);
	if (st == WD_OK)
		st = finish(&dir);
	return st;
}
