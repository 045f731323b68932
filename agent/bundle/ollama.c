#include "bundle/ollama.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/draft.h"
#include "bundle/listing.h"

#define TYPE_PREFIX "application/vnd.ollama.image."
#define MOST_LAYERS WD_MAX_LISTED
#define BLOB_NAME_BYTES 72

struct layer {
	const char *kind; /* "model", "template", ... */
	const char *name; /* of a file in a directory; NULL */
	char blob[BLOB_NAME_BYTES];
	uint64_t size_bytes;
};

/* The manifest, and the blobs under the names of its layers. */
struct tag {
	json_t *root;
	struct layer *layers;
	size_t count;
	const struct wd_folder *blobs;
	const struct wd_bundle_options *options;
	struct wd_error *err;
};

/* ---- names ----------------------------------------------------------------
 */

bool
wd_blob_named(struct wd_slice name, struct wd_sha256 *sha256)
{
	char text[WD_SHA256_TEXT_BYTES] = "sha256:";

	if (wd_slice_starts(name, "sha256-")) {
		name.data += 7;
		name.len -= 7;
	}
	if (name.len != 64)
		return false;
	memcpy(text + 7, name.data, 64);
	text[71] = '\0';
	return wd_sha256_parse(text, sha256, NULL) == WD_OK;
}

bool
wd_blob_misnamed(const struct wd_bundle_file *file)
{
	struct wd_slice name = file->stored_name != NULL ?
	    wd_slice_text(file->stored_name) :
	    (struct wd_slice){ (const uint8_t *)file->name, file->name_len };
	struct wd_sha256 named;

	return file->has_digest && wd_blob_named(name, &named) &&
	    !wd_sha256_equal(&named, &file->sha256);
}

static enum wd_status
note_misnamed(struct wd_bundle *bundle, const struct wd_bundle_file *file,
    struct wd_error *err)
{
	const char *stored =
	    file->stored_name != NULL ? file->stored_name : file->name;
	size_t capacity = bundle->note_count;
	void *notes = bundle->notes;
	char digest[WD_SHA256_TEXT_BYTES], text[512];
	struct wd_note note = { WD_NOTE_MALFORMED, NULL };

	(void)snprintf(text, sizeof(text),
	    "the cache is corrupt: the blob %s holds bytes of another digest, "
	    "%s",
	    stored, wd_sha256_text(&file->sha256, digest));
	note.text = wd_arena_copy(bundle->arena, wd_slice_text(text));
	if (note.text == NULL ||
	    wd_grow(&notes, bundle->note_count, &capacity, sizeof(note),
		2 * WD_MAX_BUNDLE_NOTES) != WD_OK)
		return wd_fail(err, WD_NOMEM, "no memory for a note");
	bundle->notes = notes;
	bundle->notes[bundle->note_count++] = note;
	return WD_OK;
}

enum wd_status
wd_blob_check(struct wd_bundle *bundle, size_t *count, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i;

	*count = 0;
	for (i = 0; i < bundle->file_count && st == WD_OK; i++) {
		if (!wd_blob_misnamed(&bundle->files[i]))
			continue;
		st = note_misnamed(bundle, &bundle->files[i], err);
		++*count;
	}
	return st;
}

/* ---- the manifest ---------------------------------------------------------
 */

static enum wd_status
read_layer(struct tag *tag, const json_t *json)
{
	const char *type =
	    json_string_value(json_object_get(json, "mediaType"));
	const char *digest = json_string_value(json_object_get(json, "digest"));
	const json_t *size = json_object_get(json, "size");
	struct layer *layer = &tag->layers[tag->count];

	if (type == NULL || digest == NULL)
		return wd_fail(tag->err, WD_MALFORMED,
		    "a layer has no mediaType or no digest");
	if (!wd_listing_is_digest(wd_slice_text(digest)))
		return wd_fail(tag->err, WD_MALFORMED,
		    "the digest of a layer is no SHA-256");
	if (strncmp(type, TYPE_PREFIX, strlen(TYPE_PREFIX)) != 0)
		return WD_OK;
	layer->kind = type + strlen(TYPE_PREFIX);
	layer->name = json_string_value(json_object_get(json, "name"));
	if (json_is_integer(size) && json_integer_value(size) >= 0)
		layer->size_bytes = (uint64_t)json_integer_value(size);
	(void)snprintf(
	    layer->blob, sizeof(layer->blob), "sha256-%s", digest + 7);
	tag->count++;
	return WD_OK;
}

static enum wd_status
read_manifest(struct tag *tag, const struct wd_source *source)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	const json_t *layers, *layer;
	enum wd_status st;
	size_t i;

	wd_buf_init(&text, WD_MAX_LISTING_FILE);
	st = wd_source_all(source, &text, tag->err);
	if (st == WD_OK)
		st = wd_json_parse(wd_buf_slice(&text),
		    16 * WD_MAX_LISTING_FILE, &tag->root, tag->err);
	if (st != WD_OK)
		return st;
	layers = json_object_get(tag->root, "layers");
	if (!json_is_array(layers) || json_array_size(layers) > MOST_LAYERS)
		return wd_fail(tag->err, WD_MALFORMED,
		    "it is no manifest of an Ollama store: it has no layers, "
		    "or too many");
	tag->layers = wd_calloc(json_array_size(layers), sizeof(struct layer));
	if (tag->layers == NULL)
		return wd_fail(tag->err, WD_NOMEM, "no memory for the layers");
	json_array_foreach(layers, i, layer)
	{
		st = read_layer(tag, layer);
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

/* ---- layers with names: a directory ---------------------------------------
 */

static const struct layer *
find_named(const struct tag *tag, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < tag->count; i++)
		if (tag->layers[i].name != NULL &&
		    wd_slice_equal(name, wd_slice_text(tag->layers[i].name)))
			return &tag->layers[i];
	return NULL;
}

static enum wd_status
named_open(void *ctx, struct wd_slice name, struct wd_source *source,
    struct wd_error *err)
{
	const struct tag *tag = ctx;
	const struct layer *layer = find_named(tag, name);

	if (layer == NULL)
		return wd_fail(err, WD_NOTFOUND, "no layer has that name");
	return tag->blobs->open(
	    tag->blobs->ctx, wd_slice_text(layer->blob), source, err);
}

static void
named_close(void *ctx, struct wd_source *source)
{
	const struct tag *tag = ctx;

	tag->blobs->close(tag->blobs->ctx, source);
}

static enum wd_status
named_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	const struct tag *tag = ctx;
	size_t i;

	(void)err;
	for (i = 0; i < tag->count; i++)
		if (tag->layers[i].name != NULL &&
		    !each(each_ctx, wd_slice_text(tag->layers[i].name)))
			break;
	return WD_OK;
}

static enum wd_status
describe_named(struct tag *tag, struct wd_bundle **bundle)
{
	struct wd_folder folder = { named_open, named_close, named_list, tag,
		NULL };

	return wd_bundle_describe_folder(
	    &folder, tag->options, bundle, tag->err);
}

/* Each file of the directory is the blob of its layer. */
static enum wd_status
store_files(const struct tag *tag, struct wd_bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->file_count; i++) {
		struct wd_bundle_file *file = &bundle->files[i];
		const struct layer *layer = find_named(tag,
		    (struct wd_slice){
			(const uint8_t *)file->name, file->name_len });

		if (layer == NULL)
			continue;
		file->stored_name =
		    wd_arena_copy(bundle->arena, wd_slice_text(layer->blob));
		if (file->stored_name == NULL)
			return wd_fail(
			    tag->err, WD_NOMEM, "no memory for a name");
	}
	return WD_OK;
}

/* ---- a layer that is the model --------------------------------------------
 */

static enum wd_status
describe_model(
    struct tag *tag, const struct layer *model, struct wd_bundle **bundle)
{
	struct wd_slice name = wd_slice_text(model->blob);
	struct wd_source source;
	enum wd_status st =
	    tag->blobs->open(tag->blobs->ctx, name, &source, tag->err);

	if (st != WD_OK)
		return st;
	st = wd_bundle_describe(
	    &source, name, tag->blobs, tag->options, bundle, tag->err);
	tag->blobs->close(tag->blobs->ctx, &source);
	return st;
}

static enum wd_status
describe(struct tag *tag, struct wd_bundle **bundle)
{
	size_t i;
	enum wd_status st;

	for (i = 0; i < tag->count; i++)
		if (strcmp(tag->layers[i].kind, "model") == 0)
			return describe_model(tag, &tag->layers[i], bundle);
	for (i = 0; i < tag->count; i++)
		if (strcmp(tag->layers[i].kind, "tensor") == 0)
			return wd_fail(tag->err, WD_UNSUPPORTED,
			    "the tag keeps each tensor in a layer of its own, "
			    "which is not read yet");
	st = describe_named(tag, bundle);
	if (st == WD_NOTFOUND)
		return wd_fail(
		    tag->err, WD_UNSUPPORTED, "no layer of the tag is a model");
	return st == WD_OK ? store_files(tag, *bundle) : st;
}

/* ---- what else the tag brings ---------------------------------------------
 */

static bool
is_weights(const struct layer *layer)
{
	return strcmp(layer->kind, "adapter") == 0 ||
	    strcmp(layer->kind, "projector") == 0 ||
	    strcmp(layer->kind, "model") == 0;
}

static bool
has_blob(const struct wd_bundle *bundle, const char *blob)
{
	size_t i;

	for (i = 0; i < bundle->file_count; i++)
		if (strcmp(bundle->files[i].name, blob) == 0 ||
		    (bundle->files[i].stored_name != NULL &&
			strcmp(bundle->files[i].stored_name, blob) == 0))
			return true;
	return false;
}

static enum wd_status
read_value(struct tag *tag, struct wd_draft *draft, const struct layer *layer,
    const struct wd_source *source)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	char key[64];
	enum wd_status st;

	(void)snprintf(key, sizeof(key), "tag.%.48s", layer->kind);
	wd_buf_init(&text, WD_MAX_LISTING_FILE);
	st = wd_source_all(source, &text, tag->err);
	if (st != WD_OK)
		return st;
	if (strcmp(layer->kind, "params") == 0) {
		st = wd_json_parse(wd_buf_slice(&text),
		    16 * WD_MAX_LISTING_FILE, &root, tag->err);
		if (st == WD_OK && !json_is_object(root))
			st = wd_fail(tag->err, WD_MALFORMED, "no object");
		return st == WD_OK ?
		    wd_settings_json(draft, key, root, tag->err) :
		    st;
	}
	wd_canon_reset(&draft->canon);
	wd_canon_bytes(&draft->canon, text.data, text.len);
	return wd_draft_setting(draft, wd_slice_text(key), NULL, tag->err);
}

/* The layer as a file of the draft, and its value as settings. */
static enum wd_status
add_layer(struct tag *tag, struct wd_draft *draft, size_t at)
{
	static const char *const texts[] = { "template", "system", "params",
		"messages", "prompt" };
	const struct layer *layer = &tag->layers[at];
	struct wd_bundle_file *file;
	struct wd_source source;
	struct wd_error why;
	char name[96];
	enum wd_status st;
	size_t i;

	(void)snprintf(name, sizeof(name), "tag.%04zu.%.48s", at, layer->kind);
	st = wd_draft_file(draft, wd_slice_text(name),
	    is_weights(layer) ? WD_ROLE_WEIGHTS : WD_ROLE_SETTINGS, tag->err);
	if (st != WD_OK)
		return st;
	file = &draft->bundle->files[draft->bundle->file_count - 1];
	file->counted = false;
	st = wd_draft_copy(
	    draft, wd_slice_text(layer->blob), &file->stored_name, tag->err);
	if (st != WD_OK)
		return st;
	wd_error_init(&why);
	st = tag->blobs->open(
	    tag->blobs->ctx, wd_slice_text(layer->blob), &source, &why);
	file->present = st == WD_OK;
	if (st == WD_NOMEM)
		return wd_fail(tag->err, st, "%s", why.message);
	if (st != WD_OK)
		return wd_draft_note(draft, WD_NOTE_INCOMPLETE, tag->err,
		    "the %s of the tag: %s: %s", name, layer->blob,
		    why.message);
	file->size_bytes = source.size_bytes;
	if (layer->size_bytes > file->size_bytes)
		file->needed_bytes = layer->size_bytes;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(layer->kind, texts[i]) == 0)
			st = read_value(tag, draft, layer, &source);
	tag->blobs->close(tag->blobs->ctx, &source);
	if (st != WD_MALFORMED && st != WD_TRUNCATED && st != WD_LIMIT)
		return st;
	return wd_draft_note(draft, WD_NOTE_MALFORMED, tag->err,
	    "the %s of the tag, %s, cannot be read", name, layer->blob);
}

/* Into the finished bundle: texts are copied, since each arena goes with its
 * bundle. */
static enum wd_status
take_over(
    struct wd_bundle *into, const struct wd_bundle *from, struct wd_error *err)
{
	size_t files = into->file_count, settings = into->setting_count,
	       notes = into->note_count, i;
	void *grown[3] = { into->files, into->settings, into->notes };
	bool failed = false;

	for (i = 0; i < from->file_count && !failed; i++) {
		failed =
		    wd_grow(&grown[0], into->file_count, &files,
			sizeof(*into->files), 2 * WD_MAX_BUNDLE_FILES) != WD_OK;
		into->files = grown[0];
		if (failed)
			break;
		into->files[into->file_count] = from->files[i];
		into->files[into->file_count].name = wd_arena_copy(
		    into->arena, wd_slice_text(from->files[i].name));
		into->files[into->file_count].stored_name = wd_arena_copy(
		    into->arena, wd_slice_text(from->files[i].stored_name));
		failed = into->files[into->file_count].name == NULL ||
		    into->files[into->file_count].stored_name == NULL;
		into->file_count += !failed;
	}
	for (i = 0; i < from->setting_count && !failed; i++) {
		struct wd_setting copy = {
			wd_arena_copy(
			    into->arena, wd_slice_text(from->settings[i].key)),
			wd_arena_copy(
			    into->arena, wd_slice_text(from->settings[i].value))
		};

		failed = copy.key == NULL || copy.value == NULL ||
		    wd_grow(&grown[1], into->setting_count, &settings,
			sizeof(copy), 2 * WD_MAX_SETTINGS) != WD_OK;
		into->settings = grown[1];
		if (!failed)
			into->settings[into->setting_count++] = copy;
	}
	for (i = 0; i < from->note_count && !failed; i++) {
		struct wd_note copy = { from->notes[i].kind,
			wd_arena_copy(
			    into->arena, wd_slice_text(from->notes[i].text)) };

		failed = copy.text == NULL ||
		    wd_grow(&grown[2], into->note_count, &notes, sizeof(copy),
			2 * WD_MAX_BUNDLE_NOTES) != WD_OK;
		into->notes = grown[2];
		if (!failed)
			into->notes[into->note_count++] = copy;
	}
	into->incomplete |= from->incomplete;
	return failed ? wd_fail(err, WD_NOMEM, "no memory for the tag") : WD_OK;
}

static enum wd_status
add_rest(struct tag *tag, struct wd_bundle *bundle)
{
	struct wd_draft draft;
	enum wd_status st = wd_draft_init(&draft, tag->err);
	size_t i;

	for (i = 0; i < tag->count && st == WD_OK; i++)
		if (!has_blob(bundle, tag->layers[i].blob))
			st = add_layer(tag, &draft, i);
	if (st == WD_OK)
		st = wd_settings_order(&draft, tag->err);
	if (st == WD_OK)
		st = take_over(bundle, draft.bundle, tag->err);
	wd_draft_release(&draft);
	return st;
}

enum wd_status
wd_ollama_describe(const struct wd_source *manifest,
    const struct wd_folder *blobs, const struct wd_bundle_options *options,
    struct wd_bundle **bundle, struct wd_error *err)
{
	struct tag tag = { .blobs = blobs, .options = options, .err = err };
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *made = NULL;
	enum wd_status st = read_manifest(&tag, manifest);

	if (st == WD_OK)
		st = describe(&tag, &made);
	if (st == WD_OK)
		st = add_rest(&tag, made);
	wd_free(tag.layers);
	wd_json_free(&tag.root);
	if (st == WD_OK)
		*bundle = wd_steal(&made);
	return st;
}
