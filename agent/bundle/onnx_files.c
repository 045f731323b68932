/* External data of an ONNX model: which files, and whether they hold what the
 * model says. docs/ExternalData.md: a location is relative to the model and
 * never leads upwards. */
#include "bundle/onnx_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"

/* "./x" is x. */
static struct wd_slice
plain(struct wd_slice location)
{
	while (location.len > 2 && wd_slice_starts(location, "./")) {
		location.data += 2;
		location.len -= 2;
	}
	return location;
}

/* Where `location` stands among the sorted files, or belongs. */
static size_t
search(const struct wd_onnx_model *model, struct wd_slice location)
{
	size_t low = 0, high = model->file_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (wd_slice_compare(model->files[middle].location, location) <
		    0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum wd_status
wd_onnx_location(
    struct wd_onnx_model *model, struct wd_slice location, uint32_t *file)
{
	enum wd_status st;
	size_t at;

	location = plain(location);
	*file = 0;
	if (wd_slice_equal(location, model->build->given_name))
		return WD_OK;
	at = search(model, location);
	if (at < model->file_count &&
	    wd_slice_equal(model->files[at].location, location)) {
		*file = model->files[at].id;
		return WD_OK;
	}
	st = wd_grow((void **)&model->files, model->file_count,
	    &model->file_capacity, sizeof(*model->files),
	    WD_MAX_BUNDLE_FILES - 1);
	if (st != WD_OK)
		return wd_fail(model->err, st,
		    st == WD_LIMIT ? "the model names too many files" :
				     "no memory for the files");
	memmove(&model->files[at + 1], &model->files[at],
	    (model->file_count - at) * sizeof(*model->files));
	*file = (uint32_t)++model->file_count;
	model->files[at] = (struct wd_onnx_file){ location, *file };
	return WD_OK;
}

/* Adds the model and the others in the order of their names; `numbers` tells
 * which file each id became. */
static enum wd_status
add_files(struct wd_onnx_model *model, uint32_t *numbers)
{
	struct wd_draft *build = model->build;
	size_t at = search(model, build->given_name), i;
	enum wd_status st = WD_OK;
	uint32_t number = 0;

	for (i = 0; i <= model->file_count && st == WD_OK; i++) {
		if (i == at) {
			numbers[0] = number++;
			st = wd_draft_file(build, build->given_name,
			    WD_ROLE_WEIGHTS, model->err);
		}
		if (i == model->file_count || st != WD_OK)
			continue;
		numbers[model->files[i].id] = number++;
		st = wd_draft_file(build, model->files[i].location,
		    WD_ROLE_WEIGHTS, model->err);
	}
	return st;
}

static enum wd_status
refused(struct wd_onnx_model *model, struct wd_bundle_file *file)
{
	struct wd_slice name = { (const uint8_t *)file->name, file->name_len };
	char shown[160];

	file->present = false;
	model->build->bundle->incomplete = true;
	(void)wd_escape_short(shown, sizeof(shown), name);
	if (wd_slice_starts(name, "/") || wd_slice_starts(name, "..") ||
	    memmem(name.data, name.len, "/..", 3) != NULL)
		return wd_draft_note(model->build, WD_NOTE_MALFORMED,
		    model->err,
		    "external data \"%s\" lead out of the model's folder; "
		    "they are never opened",
		    shown);
	return wd_draft_note(model->build, WD_NOTE_INCOMPLETE, model->err,
	    "external data \"%s\" do not lie beside the model; files in other "
	    "folders are not opened",
	    shown);
}

static enum wd_status
open_file(struct wd_onnx_model *model, struct wd_bundle_file *file)
{
	struct wd_slice name = { (const uint8_t *)file->name, file->name_len };
	struct wd_opened opened = { .folder = NULL };
	struct wd_error why;
	char shown[160];
	enum wd_status st;

	if (!wd_folder_name_allowed(name))
		return refused(model, file);
	wd_error_init(&why);
	st = wd_draft_open(model->build, name, &opened, &why);
	if (st == WD_NOMEM)
		return wd_fail(model->err, st, "%s", why.message);
	file->present = st == WD_OK;
	file->size_bytes = opened.source.size_bytes;
	wd_opened_close(&opened);
	if (st == WD_OK)
		return WD_OK;
	file->size_bytes = 0;
	return wd_draft_note(model->build, WD_NOTE_INCOMPLETE, model->err,
	    "external data %s: %s", wd_escape_short(shown, sizeof(shown), name),
	    why.message);
}

static int
compare_places(const void *a, const void *b)
{
	const struct wd_tensor *left = *(const struct wd_tensor *const *)a;
	const struct wd_tensor *right = *(const struct wd_tensor *const *)b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left->size_bytes != right->size_bytes)
		return left->size_bytes < right->size_bytes ? -1 : 1;
	return strcmp(left->name, right->name);
}

static enum wd_status
overlap(struct wd_onnx_model *model, const struct wd_tensor *a,
    const struct wd_tensor *b)
{
	char first[WD_SHORT_BYTES], second[WD_SHORT_BYTES];

	return wd_fail_at(model->err, WD_MALFORMED, b->offset,
	    "tensors \"%s\" and \"%s\" share some bytes and not others",
	    wd_draft_short(first, a->name), wd_draft_short(second, b->name));
}

/* Two tensors over the very same bytes are tied: the second has none of its
 * own and counts 0. Any other overlap is a mistake. */
static enum wd_status
hold_places(struct wd_onnx_model *model, struct wd_tensor **sorted,
    size_t count, uint64_t *tied)
{
	const struct wd_tensor *last = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		struct wd_tensor *tensor = sorted[i];

		if (tensor->size_bytes == 0)
			continue;
		if (last == NULL || last->file != tensor->file ||
		    last->offset + last->size_bytes <= tensor->offset) {
			last = tensor;
			continue;
		}
		if (last->offset != tensor->offset ||
		    last->size_bytes != tensor->size_bytes)
			return overlap(model, last, tensor);
		tensor->parameters = 0;
		tensor->size_bytes = 0;
		++*tied;
	}
	return WD_OK;
}

static enum wd_status
hold_tensors(struct wd_onnx_model *model)
{
	WD_CLEANUP(wd_free_scoped) struct wd_tensor **sorted = NULL;
	struct wd_bundle *bundle = model->build->bundle;
	uint64_t tied = 0;
	enum wd_status st;
	size_t i;

	sorted = wd_calloc(bundle->tensor_count, sizeof(struct wd_tensor *));
	if (sorted == NULL)
		return wd_fail(
		    model->err, WD_NOMEM, "no memory for the tensors");
	for (i = 0; i < bundle->tensor_count; i++)
		sorted[i] = &bundle->tensors[i];
	qsort(sorted, bundle->tensor_count, sizeof(struct wd_tensor *),
	    compare_places);
	st = hold_places(model, sorted, bundle->tensor_count, &tied);
	if (st != WD_OK || tied == 0)
		return st;
	return wd_draft_note(model->build, WD_NOTE_DECLARED, model->err,
	    "%llu tensors lie on the bytes of another; such count once",
	    (unsigned long long)tied);
}

/* The files' numbers, and what their tensors need of them. */
static void
number_tensors(struct wd_bundle *bundle, const uint32_t *numbers)
{
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++) {
		struct wd_tensor *tensor = &bundle->tensors[i];
		struct wd_bundle_file *file;

		tensor->file = numbers[tensor->file];
		file = &bundle->files[tensor->file];
		if (tensor->offset + tensor->size_bytes > file->needed_bytes)
			file->needed_bytes =
			    tensor->offset + tensor->size_bytes;
		if (tensor->size_bytes > 0 &&
		    (file->data_offset == 0 ||
			tensor->offset < file->data_offset))
			file->data_offset = tensor->offset;
	}
}

static enum wd_status
check_file(struct wd_onnx_model *model, struct wd_bundle_file *file)
{
	struct wd_slice name = { (const uint8_t *)file->name, file->name_len };
	char shown[160];

	if (!file->present || file->needed_bytes <= file->size_bytes)
		return WD_OK;
	return wd_draft_note(model->build, WD_NOTE_INCOMPLETE, model->err,
	    "%s is cut: need %llu bytes, have %llu",
	    wd_escape_short(shown, sizeof(shown), name),
	    (unsigned long long)file->needed_bytes,
	    (unsigned long long)file->size_bytes);
}

enum wd_status
wd_onnx_files(struct wd_onnx_model *model)
{
	WD_CLEANUP(wd_free_scoped) uint32_t *numbers = NULL;
	struct wd_bundle *bundle = model->build->bundle;
	enum wd_status st;
	size_t i;

	numbers = wd_calloc(model->file_count + 1, sizeof(*numbers));
	if (numbers == NULL)
		return wd_fail(model->err, WD_NOMEM, "no memory for the files");
	st = add_files(model, numbers);
	if (st != WD_OK)
		return st;
	number_tensors(bundle, numbers);
	for (i = 0; i < bundle->file_count && st == WD_OK; i++)
		st = open_file(model, &bundle->files[i]);
	/* All of the model's own file is needed, not only its tensors. */
	bundle->files[numbers[0]].needed_bytes =
	    bundle->files[numbers[0]].size_bytes;
	for (i = 0; i < bundle->file_count && st == WD_OK; i++)
		st = check_file(model, &bundle->files[i]);
	return st == WD_OK ? hold_tensors(model) : st;
}
