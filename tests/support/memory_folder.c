#include "support/memory_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
memory_folder_init(struct memory_folder *folder)
{
	memset(folder, 0, sizeof(*folder));
}

void
memory_folder_release(struct memory_folder *folder)
{
	size_t i;

	for (i = 0; i < folder->count; i++)
		wd_buf_release(&folder->files[i].bytes);
	folder->count = 0;
}

struct memory_file *
memory_folder_add(
    struct memory_folder *folder, const char *name, struct wd_slice bytes)
{
	struct memory_file *file = &folder->files[folder->count];

	if (folder->count == MEMORY_FILES || strlen(name) > 255)
		abort();
	folder->count++;
	memset(file, 0, sizeof(*file));
	(void)snprintf(file->name, sizeof(file->name), "%s", name);
	wd_buf_init(&file->bytes, SIZE_MAX / 2);
	if (wd_buf_append(&file->bytes, bytes.data, bytes.len) != WD_OK)
		abort();
	file->slice = wd_buf_slice(&file->bytes);
	file->size_bytes = bytes.len;
	return file;
}

struct memory_file *
memory_folder_text(
    struct memory_folder *folder, const char *name, const char *text)
{
	return memory_folder_add(folder, name, wd_slice_text(text));
}

void
memory_file_rename(struct memory_file *file, const char *name)
{
	(void)snprintf(file->name, sizeof(file->name), "%s", name);
}

struct memory_file *
memory_folder_find(struct memory_folder *folder, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < folder->count; i++)
		if (wd_slice_equal(name, wd_slice_text(folder->files[i].name)))
			return &folder->files[i];
	return NULL;
}

static enum wd_status
folder_open(void *ctx, struct wd_slice name, struct wd_source *source,
    struct wd_error *err)
{
	struct memory_folder *folder = ctx;
	struct memory_file *file = memory_folder_find(folder, name);

	if (!wd_folder_name_allowed(name))
		folder->strange_names++;
	if (file == NULL)
		return wd_fail(err, WD_NOTFOUND, "it is not there");
	if (file->open_status != WD_OK)
		return wd_fail(err, file->open_status, "it cannot be opened");
	*source = wd_source_memory(&file->slice);
	source->size_bytes = file->size_bytes;
	file->opened++;
	folder->open_now++;
	return WD_OK;
}

static void
folder_close(void *ctx, struct wd_source *source)
{
	struct memory_folder *folder = ctx;

	folder->open_now--;
	*source = (struct wd_source){ .read = NULL };
}

static enum wd_status
folder_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	struct memory_folder *folder = ctx;
	size_t i;

	if (folder->list_status != WD_OK)
		return wd_fail(err, folder->list_status, "it cannot be listed");
	for (i = 0; i < folder->count; i++)
		if (strchr(folder->files[i].name, '/') == NULL &&
		    !each(each_ctx, wd_slice_text(folder->files[i].name)))
			break;
	return WD_OK;
}

/* ---- folders within: files whose names have a path ------------------------
 */

static enum wd_status inner_enter(void *ctx, struct wd_slice name,
    struct wd_folder *folder, struct wd_error *err);

static enum wd_status
inner_open(void *ctx, struct wd_slice name, struct wd_source *source,
    struct wd_error *err)
{
	const struct memory_inner *inner = ctx;
	struct memory_file *file;
	char path[600];

	(void)snprintf(path, sizeof(path), "%s%.*s", inner->prefix,
	    (int)name.len, (const char *)name.data);
	file = memory_folder_find(inner->folder, wd_slice_text(path));
	if (file == NULL)
		return wd_fail(err, WD_NOTFOUND, "it is not there");
	*source = wd_source_memory(&file->slice);
	source->size_bytes = file->size_bytes;
	inner->folder->open_now++;
	return WD_OK;
}

static void
inner_close(void *ctx, struct wd_source *source)
{
	const struct memory_inner *inner = ctx;

	folder_close(inner->folder, source);
}

static enum wd_status
inner_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	const struct memory_inner *inner = ctx;
	size_t len = strlen(inner->prefix), i;

	(void)err;
	for (i = 0; i < inner->folder->count; i++) {
		const char *name = inner->folder->files[i].name;

		if (strncmp(name, inner->prefix, len) == 0 &&
		    strchr(name + len, '/') == NULL &&
		    !each(each_ctx, wd_slice_text(name + len)))
			break;
	}
	return WD_OK;
}

static enum wd_status
enter_from(struct memory_folder *folder, const char *prefix,
    struct wd_slice name, struct wd_folder *inner, struct wd_error *err)
{
	struct memory_inner *place = &folder->inner[folder->inner_count];
	size_t i, len;

	if (folder->inner_count == MEMORY_INNER)
		abort();
	len = (size_t)snprintf(place->prefix, sizeof(place->prefix), "%s%.*s/",
	    prefix, (int)name.len, (const char *)name.data);
	for (i = 0; i < folder->count; i++)
		if (strncmp(folder->files[i].name, place->prefix, len) == 0)
			break;
	if (i == folder->count)
		return wd_fail(err, WD_NOTFOUND, "it is not there");
	folder->inner_count++;
	place->folder = folder;
	*inner = (struct wd_folder){ inner_open, inner_close, inner_list, place,
		inner_enter };
	return WD_OK;
}

static enum wd_status
inner_enter(void *ctx, struct wd_slice name, struct wd_folder *folder,
    struct wd_error *err)
{
	const struct memory_inner *inner = ctx;

	return enter_from(inner->folder, inner->prefix, name, folder, err);
}

static enum wd_status
folder_enter(void *ctx, struct wd_slice name, struct wd_folder *inner,
    struct wd_error *err)
{
	return enter_from(ctx, "", name, inner, err);
}

struct wd_folder
memory_folder_of(struct memory_folder *folder)
{
	return (struct wd_folder){ folder_open, folder_close, folder_list,
		folder, folder_enter };
}

enum wd_status
memory_folder_describe(struct memory_folder *folder, const char *name,
    struct wd_bundle **bundle, struct wd_error *err)
{
	struct memory_file *file =
	    memory_folder_find(folder, wd_slice_text(name));
	struct wd_folder vtable = memory_folder_of(folder);
	struct wd_source source;

	if (file == NULL)
		abort();
	source = wd_source_memory(&file->slice);
	source.size_bytes = file->size_bytes;
	return wd_bundle_describe(
	    &source, wd_slice_text(name), &vtable, NULL, bundle, err);
}

enum wd_status
describe_bytes(struct wd_slice bytes, const char *name,
    struct wd_bundle **bundle, struct wd_error *err)
{
	struct wd_source source = wd_source_memory(&bytes);

	return wd_bundle_describe(
	    &source, wd_slice_text(name), NULL, NULL, bundle, err);
}

const char *
note_with(
    const struct wd_bundle *bundle, enum wd_note_kind kind, const char *part)
{
	size_t i;

	for (i = 0; i < bundle->note_count; i++)
		if (bundle->notes[i].kind == kind &&
		    strstr(bundle->notes[i].text, part) != NULL)
			return bundle->notes[i].text;
	return NULL;
}

const char *
setting_of(const struct wd_bundle *bundle, const char *key)
{
	size_t i;

	for (i = 0; i < bundle->setting_count; i++)
		if (strcmp(bundle->settings[i].key, key) == 0)
			return bundle->settings[i].value;
	return NULL;
}

static enum wd_status
counting_read(void *ctx, uint64_t offset, void *bytes, size_t len, size_t *got,
    struct wd_error *err)
{
	struct counting_source *counting = ctx;

	counting->reads++;
	if (len > counting->largest)
		counting->largest = len;
	return counting->inner.read(
	    counting->inner.ctx, offset, bytes, len, got, err);
}

struct wd_source
counting_source_of(struct counting_source *counting)
{
	return (struct wd_source){ counting_read, counting,
		counting->inner.size_bytes };
}
