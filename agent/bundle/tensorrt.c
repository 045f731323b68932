/* Engine directories of TensorRT-LLM: config.json (pretrained_config and
 * build_config) and one engine for each rank. An engine is compiled for one
 * kind of device; its tensors cannot be told from outside. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "bundle/file_level.h"

/* "rank12.engine" */
static bool
rank_of(struct wd_slice name, uint64_t *rank)
{
	static const size_t head = 4, tail = 7;

	return name.len > head + tail && wd_slice_starts(name, "rank") &&
	    wd_slice_ends(name, ".engine") &&
	    (name.len == head + tail + 1 || name.data[head] != '0') &&
	    wd_slice_number(
		(struct wd_slice){ name.data + head, name.len - head - tail },
		10, rank) &&
	    *rank < WD_MAX_BUNDLE_FILES;
}

bool
wd_tensorrt_name(struct wd_slice name)
{
	uint64_t rank;

	return rank_of(name, &rank);
}

static enum wd_status
add_rank(struct wd_dir *dir, uint64_t rank)
{
	char name[48];

	(void)snprintf(
	    name, sizeof(name), "rank%llu.engine", (unsigned long long)rank);
	return wd_draft_file(
	    dir->build, wd_slice_text(name), WD_ROLE_WEIGHTS, dir->err);
}

/* The engines that lie there, and those before the last that do not. */
static enum wd_status
add_engines(struct wd_dir *dir)
{
	uint64_t ranks = 0, rank, i;
	enum wd_status st = WD_OK;
	size_t at;

	if (dir->build->given != NULL && rank_of(dir->build->given_name, &rank))
		ranks = rank + 1;
	for (at = 0; at < dir->names.count; at++)
		if (rank_of(dir->names.items[at].name, &rank) && rank >= ranks)
			ranks = rank + 1;
	if (ranks == 0)
		return wd_fail(dir->err, WD_NOTFOUND,
		    "there are no engines in the folder");
	for (i = 0; i < ranks && st == WD_OK; i++)
		st = add_rank(dir, i);
	return st;
}

/* What is compiled has no header that is documented. */
static enum wd_status
read_engine(struct wd_draft *build, const struct wd_source *source,
    uint32_t file, struct wd_error *err)
{
	(void)build;
	(void)file;
	if (source->size_bytes == 0)
		return wd_fail(err, WD_TRUNCATED, "the engine is empty");
	return WD_OK;
}

/* world_size says how many ranks there are. */
static enum wd_status
hold_config(struct wd_dir *dir)
{
	const json_t *root = dir->trees.trees[WD_TREE_CONFIG];
	const json_t *model = json_object_get(root, "pretrained_config");
	const json_t *size =
	    json_object_get(json_object_get(model, "mapping"), "world_size");
	const char *architecture =
	    json_string_value(json_object_get(model, "architecture"));
	size_t i, ranks = 0;
	enum wd_status st = WD_OK;

	if (!json_is_object(model))
		return wd_draft_note(dir->build, WD_NOTE_INCOMPLETE, dir->err,
		    "no config.json with a pretrained_config lies beside the "
		    "engines, so how many there should be is not known");
	if (architecture != NULL)
		st = wd_draft_escaped(dir->build, wd_slice_text(architecture),
		    &dir->build->bundle->architecture, dir->err);
	for (i = 0; i < dir->build->bundle->file_count; i++)
		ranks += dir->build->bundle->files[i].role == WD_ROLE_WEIGHTS;
	if (st == WD_OK && json_is_integer(size) &&
	    json_integer_value(size) != (json_int_t)ranks)
		st = wd_draft_note(dir->build, WD_NOTE_INCOMPLETE, dir->err,
		    "the configuration is for %lld ranks, and there are "
		    "engines of %zu",
		    (long long)json_integer_value(size), ranks);
	return st;
}

enum wd_status
wd_tensorrt_describe(struct wd_draft *build, struct wd_error *err)
{
	WD_CLEANUP(wd_dir_release)
	struct wd_dir dir = { .build = build, .status = WD_OK, .err = err };
	enum wd_status st;

	wd_file_level_begin(build, WD_FORMAT_TENSORRT);
	st = wd_file_level_list(&dir);
	if (st == WD_OK)
		st = add_engines(&dir);
	if (st == WD_OK)
		st = wd_file_level_sides(&dir);
	if (st == WD_OK)
		st = wd_file_level_files(&dir, read_engine);
	if (st == WD_OK)
		st = hold_config(&dir);
	if (st == WD_OK)
		st = wd_draft_note(build, WD_NOTE_UNKNOWN, err,
		    "parameters unknown: an engine is compiled, and its "
		    "tensors cannot be read");
	return st == WD_OK ? wd_draft_finish(build, err) : st;
}
