#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/file_level.h"
#include "bundle/gguf.h"
#include "bundle/onnx.h"
#include "bundle/safetensors.h"

#define HEAD_BYTES WD_PYTORCH_HEAD
#define SAFETENSORS_HEAD 9
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

/* An archive with data.pkl in it. */
static enum wd_status
sniff_archive(const struct wd_source *source, enum wd_bundle_format *format,
    struct wd_error *err)
{
	bool is = false;
	enum wd_status st = wd_pytorch_looks_like(source, &is, err);

	if (st == WD_OK && is)
		*format = WD_FORMAT_PYTORCH;
	return st;
}

/* Core ML's weights begin with numbers that anything may begin with. */
static enum wd_status
sniff_blobs(const struct wd_source *source, bool is_onnx,
    enum wd_bundle_format *format, struct wd_error *err)
{
	bool is = false;
	enum wd_status st = wd_coreml_looks_like(source, &is, err);

	if (st == WD_OK && is)
		*format = WD_FORMAT_COREML;
	else if (st == WD_OK && is_onnx)
		st = sniff_onnx(source, format, err);
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
	if (st != WD_OK)
		return WD_OK;
	if (len >= 8 && wd_gguf_starts(head, &big_endian))
		*format = WD_FORMAT_GGUF;
	else if (len >= SAFETENSORS_HEAD && wd_safetensors_starts(head))
		*format = WD_FORMAT_SAFETENSORS;
	else if (len == HEAD_BYTES && wd_pytorch_pickle(head))
		*format = WD_FORMAT_PYTORCH;
	else if (len == HEAD_BYTES && memcmp(head, "PK\3\4", 4) == 0)
		return sniff_archive(source, format, err);
	else if (len >= 8 && memcmp(head + 4, "\2\0\0\0", 4) == 0)
		return sniff_blobs(
		    source, head[0] == ONNX_FIRST_TAG, format, err);
	else if (len > 0 && head[0] == ONNX_FIRST_TAG)
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
	if (wd_tensorrt_name(name))
		return WD_FORMAT_TENSORRT;
	if (wd_pytorch_name(name))
		return WD_FORMAT_PYTORCH;
	if (wd_coreml_name(name))
		return WD_FORMAT_COREML;
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
	case WD_FORMAT_PYTORCH:
		return wd_pytorch_describe(build, err);
	case WD_FORMAT_TENSORRT:
		return wd_tensorrt_describe(build, err);
	case WD_FORMAT_COREML:
		return wd_coreml_describe(build, err);
	case WD_FORMAT_UNKNOWN:
		break;
	}
	return wd_fail(err, WD_UNSUPPORTED,
	    "it is neither GGUF, safetensors, ONNX, PyTorch, TensorRT-LLM nor "
	    "Core ML");
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
	/* What is read at file level counts when there is nothing else: the
	 * same weights often lie in several formats. */
	struct wd_slice others[2];
	size_t other_count;
	bool failed;
};

/* Its parts lie in folders within, so it is described from its own. */
static bool
is_coreml_part(struct wd_slice name)
{
	return wd_slice_equal(name, wd_slice_text("Manifest.json")) ||
	    wd_slice_equal(name, wd_slice_text("coremldata.bin"));
}

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

/* All ranks are one bundle, and so are all shards: for them the first stands,
 * whatever is in their order. */
static bool
same_group(struct wd_slice a, struct wd_slice b)
{
	return (wd_tensorrt_name(a) && wd_tensorrt_name(b)) ||
	    wd_pytorch_same_set(a, b) ||
	    (is_coreml_part(a) && is_coreml_part(b));
}

static bool
find_other(struct found *found, struct wd_slice name)
{
	if (found->other_count == 2 ||
	    (!wd_tensorrt_name(name) && !wd_pytorch_name(name) &&
		!is_coreml_part(name)))
		return true;
	if (found->other_count == 1 && same_group(found->others[0], name))
		return true;
	return keep(found, &found->others[found->other_count++], name);
}

static bool
find_one(void *ctx, struct wd_slice name)
{
	struct found *found = ctx;

	if (wd_slice_ends(name, ".safetensors") ||
	    wd_slice_ends(name, ".safetensors.index.json"))
		return found->safetensors.len > 0 ||
		    keep(found, &found->safetensors, name);
	if (!wd_slice_ends(name, ".gguf") && !wd_slice_ends(name, ONNX_ENDING))
		return find_other(found, name);
	if (found->singles == 2)
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
describe_whole(const struct wd_folder *folder, enum wd_bundle_format format,
    const struct wd_bundle_options *options, struct wd_bundle **bundle,
    struct wd_error *err)
{
	struct wd_draft build;
	enum wd_status st = wd_draft_init(&build, err);

	build.folder = folder;
	set_options(&build, options);
	if (st == WD_OK)
		st = describe(&build, format, bundle, err);
	wd_draft_release(&build);
	return st;
}

static enum wd_status
describe_other(const struct wd_folder *folder, const struct found *found,
    const struct wd_bundle_options *options, struct wd_bundle **bundle,
    struct wd_error *err)
{
	if (found->other_count > 1)
		return several(found->others[0], found->others[1], err);
	if (is_coreml_part(found->others[0]))
		return describe_whole(
		    folder, WD_FORMAT_COREML, options, bundle, err);
	if (wd_tensorrt_name(found->others[0]))
		return describe_whole(
		    folder, WD_FORMAT_TENSORRT, options, bundle, err);
	return describe_file_in(folder, found->others[0], options, bundle, err);
}

static enum wd_status
describe_found(const struct wd_folder *folder, const struct found *found,
    const struct wd_bundle_options *options, struct wd_bundle **bundle,
    struct wd_error *err)
{
	if (found->singles > 1)
		return several(found->single[0], found->single[1], err);
	if (found->singles > 0 && found->safetensors.len > 0)
		return several(found->single[0], found->safetensors, err);
	if (found->singles > 0)
		return describe_file_in(
		    folder, found->single[0], options, bundle, err);
	if (found->safetensors.len > 0)
		return describe_whole(
		    folder, WD_FORMAT_SAFETENSORS, options, bundle, err);
	if (found->other_count > 0)
		return describe_other(folder, found, options, bundle, err);
	return wd_fail(err, WD_NOTFOUND,
	    "there are no GGUF, safetensors, ONNX, PyTorch, TensorRT-LLM or "
	    "Core ML files in the folder");
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
