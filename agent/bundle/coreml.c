/* Core ML: a package is a folder with Manifest.json and, as coremltools write
 * it, Data/com.apple.CoreML/model.mlmodel and .../weights/; a compiled model is
 * a folder with coremldata.bin, model.mil and weights/. Only these places are
 * looked at; a path that a manifest names elsewhere is named and not followed.
 *
 * The weights are one or several files of blobs: 64 bytes of header (a count, a
 * version), then 64 bytes about each blob, which begin with 0xdeadbeef
 * (coremltools, mlmodel/src/MILBlob/Blob/StorageFormat.hpp). Which tensor a
 * blob is, the model's program says. */
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/file_level.h"

#define MODEL "com.apple.CoreML/model.mlmodel"
#define BLOB_HEAD 68
#define BLOB_BYTES 64
#define SETTINGS_FILE WD_MAX_LISTING_FILE

/* A folder within the bundle's, with the path that leads there. */
struct place {
	struct wd_folder folder;
	const char *prefix; /* "", or ends in '/' */
	bool there;
};

static uint32_t
little32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
	    (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool
starts_blobs(const uint8_t head[BLOB_HEAD])
{
	return little32(head) > 0 && little32(head + 4) == 2 &&
	    little32(head + BLOB_BYTES) == 0xdeadbeef;
}

enum wd_status
wd_coreml_looks_like(
    const struct wd_source *source, bool *is, struct wd_error *err)
{
	uint8_t head[BLOB_HEAD];
	enum wd_status st;

	*is = false;
	if (source->size_bytes < sizeof(head))
		return WD_OK;
	st = wd_source_exact(source, 0, head, sizeof(head), err);
	if (st == WD_TRUNCATED) {
		if (err != NULL)
			wd_error_init(err);
		return WD_OK;
	}
	*is = st == WD_OK && starts_blobs(head);
	return st;
}

bool
wd_coreml_name(struct wd_slice name)
{
	return wd_slice_ends(name, ".mlmodel") ||
	    wd_slice_equal(name, wd_slice_text("coremldata.bin"));
}

/* Each blob has its 64 bytes about it, so their number is bounded. */
static enum wd_status
read_blobs(struct wd_draft *build, const struct wd_source *source,
    struct wd_slice name, struct wd_error *err)
{
	uint8_t head[BLOB_HEAD];
	char shown[160];
	enum wd_status st = wd_source_exact(source, 0, head, sizeof(head), err);
	uint64_t count;

	if (st != WD_OK)
		return st;
	if (!starts_blobs(head))
		return wd_fail_at(err, WD_MALFORMED, 0,
		    "the file does not begin as Core ML's weights do");
	count = little32(head);
	if (BLOB_BYTES + count * BLOB_BYTES > source->size_bytes)
		return wd_fail_at(err, WD_TRUNCATED, source->size_bytes,
		    "the file is cut: it says that it holds %llu blobs",
		    (unsigned long long)count);
	return wd_draft_note(build, WD_NOTE_UNKNOWN, err,
	    "parameters unknown: %s holds %llu blobs, and which tensors they "
	    "are is said by the model's program",
	    wd_escape_short(shown, sizeof(shown), name),
	    (unsigned long long)count);
}

/* A model is a protobuf message that begins with its version. */
static enum wd_status
read_model(struct wd_draft *build, const struct wd_source *source,
    struct wd_error *err)
{
	uint8_t first;
	enum wd_status st = wd_source_exact(source, 0, &first, 1, err);

	if (st != WD_OK)
		return st;
	if (first != 0x08)
		return wd_fail_at(err, WD_MALFORMED, 0,
		    "the file does not begin as a Core ML model does");
	return wd_draft_note(build, WD_NOTE_UNKNOWN, err,
	    "parameters unknown: the layers of a Core ML model are not read");
}

static enum wd_status
read_weights(struct wd_draft *build, const struct wd_source *source,
    struct wd_slice name, struct wd_error *err)
{
	if (wd_slice_ends(name, ".mlmodel"))
		return read_model(build, source, err);
	return read_blobs(build, source, name, err);
}

/* ---- Manifest.json --------------------------------------------------------
 */

static bool
usual_item(const char *path)
{
	return path != NULL &&
	    (strcmp(path, MODEL) == 0 ||
		strcmp(path, "com.apple.CoreML/weights") == 0);
}

static enum wd_status
check_items(struct wd_draft *build, const json_t *root, struct wd_error *err)
{
	const json_t *items = json_object_get(root, "itemInfoEntries");
	json_t *same;
	void *at;
	char shown[160];

	if (!json_is_object(items))
		return wd_fail(err, WD_MALFORMED, "the manifest has no items");
	memcpy(&same, &items, sizeof(same));
	for (at = json_object_iter(same); at != NULL;
	     at = json_object_iter_next(same, at)) {
		const char *path = json_string_value(
		    json_object_get(json_object_iter_value(at), "path"));
		enum wd_status st;

		if (usual_item(path))
			continue;
		st = wd_draft_note(build, WD_NOTE_INCOMPLETE, err,
		    "the manifest names \"%s\", which is not where packages "
		    "have their parts; it was not looked at",
		    wd_escape_short(shown, sizeof(shown),
			wd_slice_text(path == NULL ? "" : path)));
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

/* Its keys are made anew whenever a package is saved, so they are no
 * settings. */
static enum wd_status
read_manifest(struct wd_draft *build, const struct wd_source *source,
    struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	enum wd_status st;

	wd_buf_init(&text, SETTINGS_FILE);
	st = wd_source_all(source, &text, err);
	if (st == WD_OK)
		st = wd_json_parse(
		    wd_buf_slice(&text), WD_MAX_JSON_MEMORY, &root, err);
	return st == WD_OK ? check_items(build, root, err) : st;
}

/* ---- folders --------------------------------------------------------------
 */

static enum wd_status
add_file(struct wd_draft *build, const struct place *place,
    struct wd_slice name, enum wd_file_role role, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf path;
	enum wd_status st;

	wd_buf_init(&path, 512);
	(void)wd_buf_text(&path, place->prefix);
	if (wd_buf_append(&path, name.data, name.len) != WD_OK)
		return wd_fail(err, path.status, "no room for a name");
	st = wd_draft_file(build, wd_buf_slice(&path), role, err);
	return st;
}

static enum wd_status
read_file(struct wd_draft *build, const struct place *place,
    struct wd_slice name, enum wd_file_role role, struct wd_error *err)
{
	struct wd_bundle_file *file;
	struct wd_source source;
	struct wd_error why;
	char shown[160];
	enum wd_status st = add_file(build, place, name, role, err);

	if (st != WD_OK)
		return st;
	wd_error_init(&why);
	file = &build->bundle->files[build->bundle->file_count - 1];
	st = place->folder.open(place->folder.ctx, name, &source, &why);
	file->present = st == WD_OK;
	if (st == WD_OK) {
		file->size_bytes = source.size_bytes;
		if (role == WD_ROLE_WEIGHTS)
			st = read_weights(build, &source, name, &why);
		else if (wd_slice_equal(name, wd_slice_text("Manifest.json")))
			st = read_manifest(build, &source, &why);
		place->folder.close(place->folder.ctx, &source);
	}
	if (st == WD_OK)
		return WD_OK;
	if (st == WD_NOMEM)
		return wd_fail(err, st, "%s", why.message);
	return wd_draft_note(build, WD_NOTE_INCOMPLETE, err, "%s%s: %s",
	    place->prefix, wd_escape_short(shown, sizeof(shown), name),
	    why.message);
}

static bool
list_weights(void *ctx, struct wd_slice name)
{
	struct wd_dir *dir = ctx;
	struct wd_slice none = { NULL, 0 };

	if (!wd_slice_ends(name, ".bin"))
		return true;
	dir->status =
	    wd_dir_add(dir, &dir->names, name, none, WD_MAX_BUNDLE_FILES);
	return dir->status == WD_OK;
}

static enum wd_status
add_weights(
    struct wd_draft *build, const struct place *place, struct wd_error *err)
{
	WD_CLEANUP(wd_dir_release)
	struct wd_dir dir = { .build = build, .status = WD_OK, .err = err };
	enum wd_status st;
	size_t i;

	if (!place->there)
		return WD_OK;
	st = place->folder.list(place->folder.ctx, list_weights, &dir, err);
	if (st == WD_OK)
		st = dir.status;
	wd_pairs_sort(&dir.names);
	for (i = 0; i < dir.names.count && st == WD_OK; i++)
		st = read_file(build, place, dir.names.items[i].name,
		    WD_ROLE_WEIGHTS, err);
	return st;
}

static enum wd_status
step_into(const struct place *outer, const char *name, const char *prefix,
    struct place *inner, struct wd_error *err)
{
	enum wd_status st;

	*inner = (struct place){ .prefix = prefix };
	if (outer->folder.enter == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "a Core ML model is described from its folder on disk "
		    "only");
	st = outer->folder.enter(
	    outer->folder.ctx, wd_slice_text(name), &inner->folder, err);
	inner->there = st == WD_OK;
	return st;
}

/* A folder of weights need not be: small models have none. */
static enum wd_status
step_to_weights(const struct place *outer, const char *prefix,
    struct place *inner, struct wd_error *err)
{
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	st = step_into(outer, "weights", prefix, inner, &why);
	if (st == WD_OK || st == WD_NOTFOUND)
		return WD_OK;
	return wd_fail(err, st, "%sweights: %s", outer->prefix, why.message);
}

static enum wd_status
describe_package(
    struct wd_draft *build, const struct place *root, struct wd_error *err)
{
	struct place data, inner, weights;
	enum wd_status st = step_into(root, "Data", "Data/", &data, err);

	if (st == WD_OK)
		st = step_into(&data, "com.apple.CoreML",
		    "Data/com.apple.CoreML/", &inner, err);
	if (st == WD_OK)
		st = step_to_weights(
		    &inner, "Data/com.apple.CoreML/weights/", &weights, err);
	if (st == WD_OK)
		st = read_file(build, &inner, wd_slice_text("model.mlmodel"),
		    WD_ROLE_WEIGHTS, err);
	if (st == WD_OK)
		st = add_weights(build, &weights, err);
	if (st == WD_OK)
		st = read_file(build, root, wd_slice_text("Manifest.json"),
		    WD_ROLE_SETTINGS, err);
	return st;
}

static enum wd_status
describe_compiled(
    struct wd_draft *build, const struct place *root, struct wd_error *err)
{
	struct place weights;
	enum wd_status st = read_file(build, root,
	    wd_slice_text("coremldata.bin"), WD_ROLE_SETTINGS, err);

	if (st == WD_OK)
		st = read_file(build, root, wd_slice_text("model.mil"),
		    WD_ROLE_SETTINGS, err);
	if (st == WD_OK)
		st = step_to_weights(root, "weights/", &weights, err);
	return st == WD_OK ? add_weights(build, &weights, err) : st;
}

/* ---- a file ---------------------------------------------------------------
 */

/* The folders above a file are out of reach, so only a lone .mlmodel is known
 * to be whole. */
static enum wd_status
describe_given(struct wd_draft *build, struct wd_error *err)
{
	struct wd_slice name = build->given_name;
	enum wd_status st = wd_draft_file(build, name, WD_ROLE_WEIGHTS, err);

	if (st != WD_OK)
		return st;
	build->bundle->files[0].size_bytes = build->given->size_bytes;
	build->bundle->single_file = true;
	st = read_weights(build, build->given, name, err);
	if (st != WD_OK || wd_slice_ends(name, ".mlmodel"))
		return st;
	return wd_draft_note(build, WD_NOTE_INCOMPLETE, err,
	    "the file holds the weights of a Core ML model; the folder of "
	    "the model was not looked at");
}

enum wd_status
wd_coreml_describe(struct wd_draft *build, struct wd_error *err)
{
	struct place root = { .prefix = "", .there = true };
	struct wd_source source;
	enum wd_status st;

	wd_file_level_begin(build, WD_FORMAT_COREML);
	if (build->given != NULL) {
		st = describe_given(build, err);
	} else {
		root.folder = *build->folder;
		st = root.folder.open(root.folder.ctx,
		    wd_slice_text("Manifest.json"), &source, err);
		if (st == WD_OK) {
			root.folder.close(root.folder.ctx, &source);
			st = describe_package(build, &root, err);
		} else if (st == WD_NOTFOUND) {
			if (err != NULL)
				wd_error_init(err);
			st = describe_compiled(build, &root, err);
		}
	}
	return st == WD_OK ? wd_draft_finish(build, err) : st;
}
