#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "bundle/draft.h"

/*
 * The canonical forms are lines of text, so that sort(1) and sha256sum(1) can
 * check them; agent/bundle/README.md has them byte for byte. All texts are in
 * the escaped form of base/escape.h, which has no tab and no line feed.
 */
static void
add_tensor(struct wd_hasher *hasher, const struct wd_tensor *tensor)
{
	char shape[24 * WD_MAX_TENSOR_DIMS];
	size_t len = 0;
	unsigned i;

	wd_hasher_add(hasher, tensor->name, tensor->name_len);
	shape[0] = '\0';
	for (i = 0; i < tensor->dims; i++)
		len +=
		    (size_t)snprintf(shape + len, sizeof(shape) - len, "%s%llu",
			i > 0 ? "," : "", (unsigned long long)tensor->shape[i]);
	wd_hasher_text(hasher, "\t[");
	wd_hasher_text(hasher, shape);
	wd_hasher_text(hasher, "]\t");
	wd_hasher_text(hasher, tensor->encoding);
	wd_hasher_text(hasher, "\n");
}

static enum wd_status
digest_encodings(
    struct wd_bundle *bundle, struct wd_hasher *hasher, struct wd_error *err)
{
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++)
		add_tensor(hasher, &bundle->tensors[i]);
	return wd_hasher_finish(hasher, &bundle->encoding_digest, err);
}

static enum wd_status
digest_settings(
    struct wd_bundle *bundle, struct wd_hasher *hasher, struct wd_error *err)
{
	size_t i;

	for (i = 0; i < bundle->setting_count; i++) {
		wd_hasher_text(hasher, bundle->settings[i].key);
		wd_hasher_text(hasher, "\t");
		wd_hasher_text(hasher, bundle->settings[i].value);
		wd_hasher_text(hasher, "\n");
	}
	return wd_hasher_finish(hasher, &bundle->settings_digest, err);
}

static int
compare_parts(const void *a, const void *b)
{
	const struct wd_token_part *left = a, *right = b;

	return wd_slice_compare(left->name, right->name);
}

static enum wd_status
digest_tokenizer(
    struct wd_draft *build, struct wd_hasher *hasher, struct wd_error *err)
{
	char text[WD_SHA256_TEXT_BYTES];
	size_t i;

	build->bundle->has_tokenizer = build->part_count > 0;
	if (build->part_count == 0)
		return WD_OK;
	qsort(build->parts, build->part_count, sizeof(*build->parts),
	    compare_parts);
	for (i = 0; i < build->part_count; i++) {
		wd_hasher_add(hasher, build->parts[i].name.data,
		    build->parts[i].name.len);
		wd_hasher_text(hasher, "\t");
		wd_hasher_text(
		    hasher, wd_sha256_text(&build->parts[i].sha256, text));
		wd_hasher_text(hasher, "\n");
	}
	return wd_hasher_finish(hasher, &build->bundle->tokenizer_digest, err);
}

/* "derived:", the encoding that holds most bytes, for people, and 128 bits
 * over the digests of encodings and settings, for programs. */
static enum wd_status
derive_recipe(
    struct wd_draft *build, struct wd_hasher *hasher, struct wd_error *err)
{
	struct wd_bundle *bundle = build->bundle;
	const char *encoding = wd_draft_main_encoding(build);
	char text[WD_SHA256_TEXT_BYTES];
	struct wd_sha256 both;
	enum wd_status st;

	wd_hasher_text(hasher, "encodings\t");
	wd_hasher_text(hasher, wd_sha256_text(&bundle->encoding_digest, text));
	wd_hasher_text(hasher, "\nsettings\t");
	wd_hasher_text(hasher, wd_sha256_text(&bundle->settings_digest, text));
	wd_hasher_text(hasher, "\n");
	st = wd_hasher_finish(hasher, &both, err);
	if (st != WD_OK)
		return st;
	(void)wd_sha256_text(&both, text);
	(void)snprintf(bundle->derived_recipe, sizeof(bundle->derived_recipe),
	    "derived:%.60s-%.32s", encoding == NULL ? "none" : encoding,
	    text + strlen("sha256:"));
	return WD_OK;
}

enum wd_status
wd_fingerprint(struct wd_draft *build, struct wd_error *err)
{
	struct wd_hasher *hasher = NULL;
	enum wd_status st = wd_hasher_new(&hasher, err);

	if (st == WD_OK && !build->bundle->tensors_unread)
		st = digest_encodings(build->bundle, hasher, err);
	if (st == WD_OK)
		st = digest_settings(build->bundle, hasher, err);
	if (st == WD_OK)
		st = digest_tokenizer(build, hasher, err);
	/* Neither of nothing: two of it would be equal. */
	if (!build->bundle->tensors_unread && st == WD_OK)
		st = derive_recipe(build, hasher, err);
	wd_hasher_free(&hasher);
	return st;
}

/* "HEX SIZE NAME" */
static enum wd_status
make_line(const struct wd_bundle *bundle, const struct wd_bundle_file *file,
    struct wd_arena *arena, const char **line)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf out;
	char text[WD_SHA256_TEXT_BYTES];

	wd_buf_init(&out, 256 + 4 * file->name_len);
	(void)wd_sha256_text(&file->sha256, text);
	(void)wd_buf_printf(&out, "%s %llu ", text + strlen("sha256:"),
	    (unsigned long long)file->size_bytes);
	if (file->shard > 0)
		(void)wd_buf_printf(&out, "%u", (unsigned)file->shard);
	else if (!bundle->single_file)
		(void)wd_escape(&out,
		    (struct wd_slice){
			(const uint8_t *)file->name, file->name_len });
	if (out.status != WD_OK)
		return out.status;
	*line = wd_arena_copy(arena, wd_buf_slice(&out));
	return *line == NULL ? WD_NOMEM : WD_OK;
}

static int
compare_lines(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

static enum wd_status
hash_lines(const char **lines, size_t count, struct wd_sha256 *digest,
    struct wd_error *err)
{
	WD_CLEANUP(wd_hasher_free) struct wd_hasher *hasher = NULL;
	enum wd_status st = wd_hasher_new(&hasher, err);
	size_t i;

	if (st != WD_OK)
		return st;
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (i = 0; i < count; i++) {
		wd_hasher_text(hasher, lines[i]);
		wd_hasher_text(hasher, "\n");
	}
	return wd_hasher_finish(hasher, digest, err);
}

/* A bundle of which a counted file is missing has no content digest. */
static bool
all_digested(const struct wd_bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->file_count; i++)
		if (bundle->files[i].counted && !bundle->files[i].has_digest)
			return false;
	return bundle->file_count > 0;
}

static enum wd_status
digest_content(struct wd_bundle *bundle, struct wd_error *err)
{
	WD_CLEANUP(wd_arena_free) struct wd_arena *arena = wd_arena_new();
	WD_CLEANUP(wd_free_scoped) const char **lines = NULL;
	enum wd_status st = WD_OK;
	size_t i, count = 0;

	lines = wd_calloc(bundle->file_count, sizeof(*lines));
	if (lines == NULL || arena == NULL)
		return wd_fail(
		    err, WD_NOMEM, "no memory for the content digest");
	for (i = 0; i < bundle->file_count && st == WD_OK; i++)
		if (bundle->files[i].counted)
			st = make_line(
			    bundle, &bundle->files[i], arena, &lines[count++]);
	if (st != WD_OK)
		return wd_fail(err, st, "no memory for the content digest");
	st = hash_lines(lines, count, &bundle->content_digest, err);
	bundle->has_content_digest = st == WD_OK;
	return st;
}

enum wd_status
wd_bundle_set_digest(struct wd_bundle *bundle, size_t file,
    const struct wd_sha256 *sha256, struct wd_error *err)
{
	if (file >= bundle->file_count)
		return wd_fail(
		    err, WD_INVALID, "the bundle has no file number %zu", file);
	bundle->files[file].sha256 = *sha256;
	bundle->files[file].has_digest = true;
	bundle->has_content_digest = false;
	return all_digested(bundle) ? digest_content(bundle, err) : WD_OK;
}
