#include "bundle/file_level.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/recipe.h"

void
wd_file_level_begin(struct wd_draft *build, enum wd_bundle_format format)
{
	build->bundle->format = format;
	build->bundle->parameters_known = false;
	build->bundle->tensors_unread = true;
}

static bool
list_one(void *ctx, struct wd_slice name)
{
	struct wd_slice none = { NULL, 0 };
	struct wd_dir *dir = ctx;

	dir->status =
	    wd_dir_add(dir, &dir->names, name, none, WD_MAX_BUNDLE_FILES);
	return dir->status == WD_OK;
}

enum wd_status
wd_file_level_list(struct wd_dir *dir)
{
	struct wd_draft *build = dir->build;
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	if (build->folder == NULL)
		return wd_draft_note(build, WD_NOTE_INCOMPLETE, dir->err,
		    "the folder of the file is not known, so what belongs to "
		    "it was not looked for");
	st = build->folder->list(build->folder->ctx, list_one, dir, &why);
	if (dir->status != WD_OK)
		return dir->status;
	if (st == WD_NOMEM)
		return wd_fail(dir->err, st, "%s", why.message);
	if (st != WD_OK)
		return wd_draft_note(build, WD_NOTE_INCOMPLETE, dir->err,
		    "the folder of the file could not be listed, so what "
		    "belongs to it was not looked for: %s",
		    why.message);
	dir->listed = true;
	wd_pairs_sort(&dir->names);
	return WD_OK;
}

enum wd_status
wd_file_level_sides(struct wd_dir *dir)
{
	enum wd_status st = WD_OK;
	enum wd_file_role role;
	size_t i;

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

/* What is wrong with a file that is not the given one. */
static enum wd_status
lost(struct wd_dir *dir, const struct wd_bundle_file *file, enum wd_status st,
    const struct wd_error *why)
{
	char shown[160];

	if (st == WD_NOMEM)
		return wd_fail(dir->err, st, "%s", why->message);
	return wd_draft_note(dir->build, WD_NOTE_INCOMPLETE, dir->err, "%s: %s",
	    wd_escape_short(shown, sizeof(shown), wd_dir_file_name(file)),
	    why->message);
}

static enum wd_status
read_one(struct wd_dir *dir, size_t at, wd_file_level_read read)
{
	struct wd_draft *build = dir->build;
	struct wd_bundle_file *file = &build->bundle->files[at];
	struct wd_draft_mark mark = wd_draft_mark(build);
	struct wd_opened opened = { .folder = NULL };
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	st = wd_draft_open(build, wd_dir_file_name(file), &opened, &why);
	if (st != WD_OK) {
		file->present = false;
		return lost(dir, file, st, &why);
	}
	file->size_bytes = opened.source.size_bytes;
	if (file->role == WD_ROLE_WEIGHTS)
		st = read(build, &opened.source, (uint32_t)at, &why);
	else if (file->role != WD_ROLE_INDEX)
		st = wd_hub_file_read(
		    build, &opened.source, (uint32_t)at, &dir->trees, &why);
	wd_opened_close(&opened);
	if (st == WD_OK)
		return WD_OK;
	wd_draft_back(build, &mark);
	if (build->given == NULL || file->role != WD_ROLE_WEIGHTS ||
	    !wd_slice_equal(wd_dir_file_name(file), build->given_name))
		return lost(dir, file, st, &why);
	if (dir->err != NULL)
		*dir->err = why;
	return st;
}

enum wd_status
wd_file_level_files(struct wd_dir *dir, wd_file_level_read read)
{
	struct wd_bundle *bundle = dir->build->bundle;
	enum wd_status st = WD_OK;
	size_t i;

	if (bundle->file_count > 0)
		qsort(bundle->files, bundle->file_count, sizeof(*bundle->files),
		    compare_files);
	for (i = 0; i < bundle->file_count && st == WD_OK; i++)
		st = read_one(dir, i, read);
	return st;
}

enum wd_status
wd_file_level_setting(struct wd_draft *build, const char *key,
    const char *value, struct wd_error *err)
{
	struct wd_slice text = wd_slice_text(value);

	wd_canon_reset(&build->canon);
	wd_canon_bytes(&build->canon, text.data, text.len);
	return wd_draft_setting(build, wd_slice_text(key), NULL, err);
}
