#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/gguf.h"
#include "bundle/onnx.h"
#include "bundle/safetensors.h"

#define HEAD_BYTES 9
#define ONNX_ENDING ".onnx"
#define ONNX_FIRST_TAG 0x08 /* ir_version, a number */

/* As many of the first bytes as there are. */
static enum wd_status
read_head(const struct wd_source *source, uint8_t head[HEAD_BYTES], size_t *len,
    struct wd_error *err)
{
	*len = source->size_bytes < HEAD_BYTES ? (size_t)source->size_bytes :
						 HEAD_BYTES;
	return wd_source_exact(source, 0, head, *len, err);
}

/* ONNX has no magic, so more than the first bytes must fit. */
static enum wd_status
sniff_onnx(const struct wd_source *source, enum wd_bundle_format *format,
    struct wd_error *err)
{
	bool is = false;
	enum wd_status st = wd_onnx_looks_like(source, &is, err);

	if (st == WD_OK && is)
		*format = WD_FORMAT_ONNX;
	return st;
}

enum wd_status
wd_bundle_sniff(const struct wd_source *source, enum wd_bundle_format *format,
    struct wd_error *err)
{
	uint8_t head[HEAD_BYTES] = { 0 };
	bool big_endian;
	size_t len;
	enum wd_status st = read_head(source, head, &len, err);

	/* Shorter than it was a moment ago: no weights. */
	if (st != WD_OK && st != WD_TRUNCATED)
		return st;
	*format = WD_FORMAT_UNKNOWN;
	if (st == WD_OK && len >= 8 && wd_gguf_starts(head, &big_endian))
		*format = WD_FORMAT_GGUF;
	else if (st == WD_OK && len == HEAD_BYTES &&
	    wd_safetensors_starts(head))
		*format = WD_FORMAT_SAFETENSORS;
	else if (st == WD_OK && len > 0 && head[0] == ONNX_FIRST_TAG)
		return sniff_onnx(source, format, err);
	return WD_OK;
}

/* A name does not make a format, but a file that is called what it is not
 * should hear why it cannot be read. */
static enum wd_bundle_format
format_by_name(struct wd_slice name)
{
	if (wd_slice_ends(name, ".gguf"))
		return WD_FORMAT_GGUF;
	if (wd_slice_ends(name, ".safetensors") ||
	    wd_safetensors_side_file(name))
		return WD_FORMAT_SAFETENSORS;
	if (wd_slice_ends(name, ONNX_ENDING))
		return WD_FORMAT_ONNX;
	return WD_FORMAT_UNKNOWN;
}

static enum wd_status
describe_as(
    struct wd_draft *build, enum wd_bundle_format format, struct wd_error *err)
{
	switch (format) {
	case WD_FORMAT_GGUF:
		return wd_gguf_describe(build, err);
	case WD_FORMAT_SAFETENSORS:
		return wd_safetensors_describe(build, err);
	case WD_FORMAT_ONNX:
		return wd_onnx_describe(build, err);
	case WD_FORMAT_UNKNOWN:
		break;
	}
	return wd_fail(
	    err, WD_UNSUPPORTED, "it is neither GGUF, safetensors nor ONNX");
}

static enum wd_status
describe(struct wd_draft *build, enum wd_bundle_format format,
    struct wd_bundle **bundle, struct wd_error *err)
{
	enum wd_status st = describe_as(build, format, err);

	if (st == WD_OK)
		*bundle = wd_steal(&build->bundle);
	return st;
}

static void
set_options(struct wd_draft *build, const struct wd_bundle_options *options)
{
	if (options != NULL)
		build->options = options;
}

enum wd_status
wd_bundle_describe(const struct wd_source *source, struct wd_slice name,
    const struct wd_folder *folder, const struct wd_bundle_options *options,
    struct wd_bundle **bundle, struct wd_error *err)
{
	enum wd_bundle_format format;
	struct wd_draft build;
	enum wd_status st = wd_bundle_sniff(source, &format, err);

	if (st != WD_OK)
		return st;
	if (format == WD_FORMAT_UNKNOWN)
		format = format_by_name(name);
	st = wd_draft_init(&build, err);
	build.given = source;
	build.given_name = name;
	build.folder = folder;
	set_options(&build, options);
	if (st == WD_OK)
		st = describe(&build, format, bundle, err);
	wd_draft_release(&build);
	return st;
}

/* What a folder holds, by names that end as weights do. */
struct found {
	struct wd_arena *arena;
	struct wd_slice single[2]; /* two GGUF or ONNX bundles, at most */
	size_t singles;
	struct wd_slice safetensors;
	bool failed;
};

/* Shards of one set count once, by the first that is seen. */
static bool
same_set(struct wd_slice a, struct wd_slice b)
{
	struct wd_slice prefix_a, prefix_b;
	uint64_t number, count_a, count_b;

	return wd_gguf_shard_name(a, &prefix_a, &number, &count_a) &&
	    wd_gguf_shard_name(b, &prefix_b, &number, &count_b) &&
	    count_a == count_b && wd_slice_equal(prefix_a, prefix_b);
}

static bool
keep(struct found *found, struct wd_slice *place, struct wd_slice name)
{
	char *copy = wd_arena_copy(found->arena, name);

	if (copy == NULL) {
		found->failed = true;
		return false;
	}
	*place = (struct wd_slice){ (const uint8_t *)copy, name.len };
	return true;
}

static bool
find_one(void *ctx, struct wd_slice name)
{
	struct found *found = ctx;

	if (wd_slice_ends(name, ".safetensors") ||
	    wd_slice_ends(name, ".safetensors.index.json"))
		return found->safetensors.len > 0 ||
		    keep(found, &found->safetensors, name);
	if ((!wd_slice_ends(name, ".gguf") &&
		!wd_slice_ends(name, ONNX_ENDING)) ||
	    found->singles == 2)
		return true;
	if (found->singles == 1 && same_set(found->single[0], name))
		return true;
	return keep(found, &found->single[found->singles++], name);
}

static enum wd_status
several(struct wd_slice a, struct wd_slice b, struct wd_error *err)
{
	char first[128], second[128];

	return wd_fail(err, WD_INVALID,
	    "the folder holds several bundles, such as %s and %s; name one of "
	    "their files",
	    wd_escape_short(first, sizeof(first), a),
	    wd_escape_short(second, sizeof(second), b));
}

static enum wd_status
describe_file_in(const struct wd_folder *folder, struct wd_slice name,
    const struct wd_bundle_options *options, struct wd_bundle **bundle,
    struct wd_error *err)
{
	struct wd_source source;
	enum wd_status st = folder->open(folder->ctx, name, &source, err);

	if (st != WD_OK)
		return st;
	st = wd_bundle_describe(&source, name, folder, options, bundle, err);
	folder->close(folder->ctx, &source);
	return st;
}

static enum wd_status
describe_found(const struct wd_folder *folder, const struct found *found,
    const struct wd_bundle_options *options, struct wd_bundle **bundle,
    struct wd_error *err)
{
	struct wd_draft build;
	enum wd_status st;

	if (found->singles > 1)
		return several(found->single[0], found->single[1], err);
	if (found->singles > 0 && found->safetensors.len > 0)
		return several(found->single[0], found->safetensors, err);
	if (found->singles > 0)
		return describe_file_in(
		    folder, found->single[0], options, bundle, err);
	if (found->safetensors.len == 0)
		return wd_fail(err, WD_NOTFOUND,
		    "there are no GGUF, safetensors or ONNX files in the "
		    "folder");
	st = wd_draft_init(&build, err);
	build.folder = folder;
	set_options(&build, options);
	if (st == WD_OK)
		st = describe(&build, WD_FORMAT_SAFETENSORS, bundle, err);
	wd_draft_release(&build);
	return st;
}

enum wd_status
wd_bundle_describe_folder(const struct wd_folder *folder,
    const struct wd_bundle_options *options, struct wd_bundle **bundle,
    struct wd_error *err)
{
	struct found found = { .arena = wd_arena_new() };
	enum wd_status st;

	if (found.arena == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for the folder");
	st = folder->list(folder->ctx, find_one, &found, err);
	if (st == WD_OK && found.failed)
		st = wd_fail(err, WD_NOMEM, "no memory for the folder");
	if (st == WD_OK)
		st = describe_found(folder, &found, options, bundle, err);
	wd_arena_free(&found.arena);
	return st;
}
