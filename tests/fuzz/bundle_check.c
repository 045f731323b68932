#include "fuzz/bundle_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

#define HOLDS(condition)                                                       \
	do {                                                                   \
		if (!(condition))                                              \
			abort();                                               \
	} while (0)

static enum wd_status
folder_open(void *ctx, struct wd_slice name, struct wd_source *source,
    struct wd_error *err)
{
	struct fuzz_folder *folder = ctx;
	unsigned i;

	HOLDS(wd_folder_name_allowed(name));
	for (i = 0; i < folder->count; i++) {
		if (!wd_slice_equal(name, wd_slice_text(folder->files[i].name)))
			continue;
		*source = wd_source_memory(&folder->files[i].bytes);
		folder->open_now++;
		return WD_OK;
	}
	return wd_fail(err, WD_NOTFOUND, "not there");
}

static void
folder_close(void *ctx, struct wd_source *source)
{
	struct fuzz_folder *folder = ctx;

	HOLDS(folder->open_now > 0);
	folder->open_now--;
	source->read = NULL;
}

static enum wd_status
folder_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	const struct fuzz_folder *folder = ctx;
	unsigned i;

	(void)err;
	for (i = 0; i < folder->count; i++)
		if (!each(each_ctx, wd_slice_text(folder->files[i].name)))
			break;
	return WD_OK;
}

/* Every folder within is the same one. */
static enum wd_status
folder_enter(void *ctx, struct wd_slice name, struct wd_folder *inner,
    struct wd_error *err)
{
	(void)name;
	(void)err;
	*inner = fuzz_folder_of(ctx);
	return WD_OK;
}

struct wd_folder
fuzz_folder_of(struct fuzz_folder *folder)
{
	return (struct wd_folder){ folder_open, folder_close, folder_list,
		folder, folder_enter };
}

static void
check_text(const char *text)
{
	HOLDS(wd_utf8_valid(wd_slice_text(text)));
	HOLDS(strpbrk(text, "\n\t\033") == NULL);
}

static void
check_tensors(const struct wd_bundle *bundle)
{
	uint64_t elements = 0, parameters = 0, bytes = 0;
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++) {
		const struct wd_tensor *tensor = &bundle->tensors[i];

		check_text(tensor->name);
		check_text(tensor->encoding);
		HOLDS(strlen(tensor->name) == tensor->name_len);
		HOLDS(tensor->file < bundle->file_count);
		HOLDS(tensor->dims <= WD_MAX_TENSOR_DIMS);
		HOLDS(tensor->offset <= INT64_MAX - tensor->size_bytes);
		HOLDS(i == 0 ||
		    strcmp(bundle->tensors[i - 1].name, tensor->name) < 0);
		elements += tensor->elements;
		parameters += tensor->parameters;
		bytes += tensor->size_bytes;
	}
	HOLDS(elements == bundle->stored_elements);
	HOLDS(parameters == bundle->parameter_count);
	HOLDS(bytes == bundle->tensor_bytes);
	/* A packed element holds several, of a bit or more each. */
	HOLDS(parameters <= elements || parameters / 8 <= bytes);
}

static void
check_texts(const struct wd_bundle *bundle)
{
	bool incomplete = false;
	size_t i;

	for (i = 0; i < bundle->setting_count; i++) {
		check_text(bundle->settings[i].key);
		check_text(bundle->settings[i].value);
		HOLDS(i == 0 ||
		    strcmp(bundle->settings[i - 1].key,
			bundle->settings[i].key) < 0);
	}
	for (i = 0; i < bundle->note_count; i++) {
		check_text(bundle->notes[i].text);
		HOLDS(bundle->notes[i].text[0] != '\0');
		incomplete |= bundle->notes[i].kind == WD_NOTE_INCOMPLETE;
	}
	/* A refused index entry makes it incomplete as well. */
	HOLDS(!incomplete || bundle->incomplete);
	if (bundle->inner_name != NULL)
		check_text(bundle->inner_name);
	if (bundle->architecture != NULL)
		check_text(bundle->architecture);
	check_text(bundle->derived_recipe);
}

static void
check_coverage(const struct wd_bundle *bundle)
{
	struct wd_range half = { 0, 0 };
	size_t i;

	for (i = 0; i < bundle->file_count; i++) {
		struct wd_coverage found;

		half.size_bytes = bundle->files[i].size_bytes / 2;
		HOLDS(wd_bundle_coverage(bundle, i, &half, 1, &found) == WD_OK);
		HOLDS(found.tensors_covered <= found.tensors);
		HOLDS(found.bytes_covered <= found.tensor_bytes);
		HOLDS(found.bytes_covered <= half.size_bytes);
	}
}

static void
check_content(struct wd_bundle *bundle)
{
	struct wd_sha256 digest = { { 7 } };
	size_t i;

	for (i = 0; i < bundle->file_count; i++) {
		HOLDS(!bundle->has_content_digest);
		HOLDS(wd_bundle_set_digest(bundle, i, &digest, NULL) == WD_OK);
	}
	HOLDS(bundle->has_content_digest == (bundle->file_count > 0));
}

static void
check_answer(const struct fuzz_folder *folder, struct wd_bundle *bundle,
    enum wd_status st, const struct wd_error *err)
{
	HOLDS(folder->open_now == 0);
	HOLDS(err->status == st);
	HOLDS((st == WD_OK) == (bundle != NULL));
	check_text(err->message);
	if (bundle == NULL)
		return;
	HOLDS(!bundle->tensors_unread ||
	    (bundle->tensor_count == 0 && !bundle->parameters_known &&
		bundle->derived_recipe[0] == '\0'));
	check_tensors(bundle);
	check_texts(bundle);
	check_coverage(bundle);
	check_content(bundle);
	wd_bundle_free(&bundle);
}

void
fuzz_describe(struct fuzz_folder *folder, unsigned given)
{
	struct wd_folder vtable = fuzz_folder_of(folder);
	struct wd_source source = wd_source_memory(&folder->files[given].bytes);
	struct wd_bundle *bundle = NULL;
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = wd_bundle_describe(&source,
	    wd_slice_text(folder->files[given].name), &vtable, NULL, &bundle,
	    &err);
	check_answer(folder, bundle, st, &err);
}

void
fuzz_describe_folder(struct fuzz_folder *folder)
{
	struct wd_folder vtable = fuzz_folder_of(folder);
	struct wd_bundle *bundle = NULL;
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = wd_bundle_describe_folder(&vtable, NULL, &bundle, &err);
	check_answer(folder, bundle, st, &err);
}
