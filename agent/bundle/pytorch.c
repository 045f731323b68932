/* Checkpoints of torch.save (torch/serialization.py): a zip archive with one
 * folder in it, in which are data.pkl and data/0, data/1, ...: the bytes of
 * the storages. Which tensor lies where is said by data.pkl alone, a program
 * for Python's pickle machine; it is not run, and not guessed at. */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/file_level.h"
#include "bundle/zip.h"

#define MEMBER_KEY "bundle.member."
#define INDEX_TAIL ".index.json"

static const char *const endings[] = { ".bin", ".pt", ".pth", ".ckpt" };

/* Protocol 2 to 5, and the number 0x1950a86a20f9469cfc6c as a long of ten
 * bytes: serialization.py, MAGIC_NUMBER. */
bool
wd_pytorch_pickle(const uint8_t *head)
{
	static const uint8_t magic[] = { 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
		0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.' };

	return head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 &&
	    memcmp(head + 2, magic, sizeof(magic)) == 0;
}

/* The member's name without the archive's folder, which is called as the file
 * was when it was saved. */
static bool
inner_name(struct wd_slice member, struct wd_slice *inner)
{
	struct wd_slice folder;

	*inner = member;
	return wd_slice_cut(inner, '/', &folder) && folder.len > 0 &&
	    folder.len < member.len && inner->len > 0;
}

static bool
has_pickle(const struct wd_zip *zip)
{
	struct wd_slice inner;
	size_t i;

	for (i = 0; i < zip->count; i++)
		if (inner_name(zip->members[i].name, &inner) &&
		    wd_slice_equal(inner, wd_slice_text("data.pkl")))
			return true;
	return false;
}

enum wd_status
wd_pytorch_looks_like(
    const struct wd_source *source, bool *is, struct wd_error *err)
{
	struct wd_zip zip;
	enum wd_status st = wd_zip_read(source, &zip, err);

	*is = false;
	if (st == WD_OK) {
		*is = has_pickle(&zip);
		wd_zip_release(&zip);
	}
	/* Broken archives are no checkpoints that anybody can load. */
	if (st == WD_MALFORMED || st == WD_TRUNCATED || st == WD_LIMIT) {
		if (err != NULL)
			wd_error_init(err);
		return WD_OK;
	}
	return st;
}

bool
wd_pytorch_name(struct wd_slice name)
{
	return wd_slice_ends(name, ".pt") || wd_slice_ends(name, ".pth") ||
	    wd_slice_ends(name, ".ckpt") ||
	    (wd_slice_ends(name, ".bin") &&
		(wd_slice_starts(name, "pytorch_model") ||
		    wd_slice_starts(name, "adapter_model")));
}

/* "PREFIX-00001-of-00003.bin" */
static bool
shard_name(struct wd_slice name, struct wd_slice *prefix,
    struct wd_slice *ending, uint64_t *count)
{
	static const size_t tail = 1 + 5 + 4 + 5;
	uint64_t number;
	size_t i, len;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (wd_slice_ends(name, endings[i]))
			break;
	if (i == sizeof(endings) / sizeof(endings[0]))
		return false;
	len = strlen(endings[i]);
	if (name.len <= tail + len)
		return false;
	*prefix = (struct wd_slice){ name.data, name.len - tail - len };
	*ending = (struct wd_slice){ name.data + name.len - len, len };
	name.data += prefix->len;
	return name.data[0] == '-' && memcmp(name.data + 6, "-of-", 4) == 0 &&
	    wd_slice_number(
		(struct wd_slice){ name.data + 1, 5 }, 10, &number) &&
	    wd_slice_number(
		(struct wd_slice){ name.data + 10, 5 }, 10, count) &&
	    number >= 1 && number <= *count;
}

bool
wd_pytorch_same_set(struct wd_slice a, struct wd_slice b)
{
	struct wd_slice prefix[2], ending[2];
	uint64_t count[2];

	return shard_name(a, &prefix[0], &ending[0], &count[0]) &&
	    shard_name(b, &prefix[1], &ending[1], &count[1]) &&
	    count[0] == count[1] && wd_slice_equal(prefix[0], prefix[1]) &&
	    wd_slice_equal(ending[0], ending[1]);
}

static enum wd_status
add_shards(struct wd_dir *dir, struct wd_slice prefix, struct wd_slice ending,
    uint64_t count)
{
	enum wd_status st = WD_OK;
	uint64_t i;

	if (count > WD_MAX_BUNDLE_FILES)
		return wd_fail(dir->err, WD_LIMIT,
		    "the name is that of one shard of %llu",
		    (unsigned long long)count);
	for (i = 1; i <= count && st == WD_OK; i++) {
		WD_CLEANUP(wd_buf_release) struct wd_buf name;

		wd_buf_init(&name, 512);
		(void)wd_buf_append(&name, prefix.data, prefix.len);
		(void)wd_buf_printf(&name, "-%05llu-of-%05llu",
		    (unsigned long long)i, (unsigned long long)count);
		if (wd_buf_append(&name, ending.data, ending.len) != WD_OK)
			return wd_fail(
			    dir->err, name.status, "no room for a name");
		st = wd_draft_file(
		    dir->build, wd_buf_slice(&name), WD_ROLE_WEIGHTS, dir->err);
	}
	return st;
}

/* The index only says in which shard a tensor lies. */
static enum wd_status
add_index(struct wd_dir *dir, struct wd_slice prefix, struct wd_slice ending)
{
	size_t i;

	for (i = 0; i < dir->names.count; i++) {
		struct wd_slice name = dir->names.items[i].name, rest = name;

		if (name.len != prefix.len + ending.len + strlen(INDEX_TAIL) ||
		    memcmp(name.data, prefix.data, prefix.len) != 0 ||
		    !wd_slice_ends(name, INDEX_TAIL))
			continue;
		rest.data += prefix.len;
		rest.len = ending.len;
		if (wd_slice_equal(rest, ending))
			return wd_draft_file(
			    dir->build, name, WD_ROLE_INDEX, dir->err);
	}
	return WD_OK;
}

/* ---- one file -------------------------------------------------------------
 */

/* A member as a setting: what differs between two checkpoints shows without a
 * byte of their tensors being read. In a set of shards its file stands before
 * it. */
static enum wd_status
add_member(struct wd_draft *build, struct wd_slice file,
    const struct wd_zip_member *member, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf key;
	struct wd_slice inner;
	char value[96];
	enum wd_status st;

	if (!inner_name(member->name, &inner))
		inner = member->name;
	wd_buf_init(&key, 2 * WD_MAX_ZIP_NAME);
	(void)wd_buf_text(&key, MEMBER_KEY);
	if (file.len > 0) {
		(void)wd_buf_append(&key, file.data, file.len);
		(void)wd_buf_byte(&key, ':');
	}
	if (wd_buf_append(&key, inner.data, inner.len) != WD_OK)
		return wd_fail(err, key.status, "no room for a member's name");
	(void)snprintf(value, sizeof(value), "%llu bytes, crc32 %08x%s",
	    (unsigned long long)member->size_bytes, member->crc32,
	    member->method == 0 ? "" : ", packed");
	wd_canon_reset(&build->canon);
	wd_canon_bytes(&build->canon, value, strlen(value));
	st = wd_draft_setting(build, wd_buf_slice(&key), NULL, err);
	return st;
}

static enum wd_status
read_archive(struct wd_draft *build, const struct wd_source *source,
    struct wd_slice shown_file, struct wd_error *err)
{
	uint64_t storages = 0, bytes = 0;
	struct wd_slice inner;
	struct wd_zip zip;
	enum wd_status st = wd_zip_read(source, &zip, err);
	size_t i;

	if (st != WD_OK)
		return st;
	if (!has_pickle(&zip))
		st = wd_fail(err, WD_MALFORMED,
		    "the archive has no data.pkl: it is no PyTorch checkpoint");
	for (i = 0; i < zip.count && st == WD_OK; i++) {
		st = add_member(build, shown_file, &zip.members[i], err);
		if (!inner_name(zip.members[i].name, &inner) ||
		    !wd_slice_starts(inner, "data/"))
			continue;
		storages++;
		/* Bounded by the file: no two share bytes. */
		bytes += zip.members[i].packed_bytes;
	}
	wd_zip_release(&zip);
	if (st != WD_OK)
		return st;
	return wd_draft_note(build, WD_NOTE_UNKNOWN, err,
	    "parameters unknown: which tensors the %llu storages of %llu bytes "
	    "hold is said by a pickle, which is never run",
	    (unsigned long long)storages, (unsigned long long)bytes);
}

static enum wd_status
read_pickle(struct wd_draft *build, struct wd_error *err)
{
	return wd_draft_note(build, WD_NOTE_UNKNOWN, err,
	    "parameters unknown: the file is a pickle, which is never run");
}

static enum wd_status
read_checkpoint(struct wd_draft *build, const struct wd_source *source,
    uint32_t file, struct wd_error *err)
{
	struct wd_slice name = wd_dir_file_name(&build->bundle->files[file]);
	uint8_t head[WD_PYTORCH_HEAD] = { 0 };
	size_t i, weights = 0;
	enum wd_status st = wd_source_exact(source, 0, head, sizeof(head), err);

	if (st != WD_OK)
		return st;
	for (i = 0; i < build->bundle->file_count; i++)
		weights += build->bundle->files[i].role == WD_ROLE_WEIGHTS;
	if (weights < 2)
		name.len = 0;
	if (memcmp(head, "PK\3\4", 4) == 0)
		return read_archive(build, source, name, err);
	/* Pickles of other programs: their first two bytes, and their name. */
	if (wd_pytorch_pickle(head) ||
	    (head[0] == 0x80 && head[1] >= 2 && head[1] <= 5))
		return read_pickle(build, err);
	return wd_fail_at(err, WD_MALFORMED, 0,
	    "it is no PyTorch checkpoint: neither a zip archive nor a pickle");
}

/* In a folder as the hub's, the files beside the weights belong to them. */
static enum wd_status
add_files(struct wd_dir *dir)
{
	struct wd_slice name = dir->build->given_name, prefix, ending;
	uint64_t count;
	enum wd_status st;
	bool sharded = shard_name(name, &prefix, &ending, &count);
	bool hub = wd_slice_starts(name, "pytorch_model") ||
	    wd_slice_starts(name, "adapter_model");

	if (!sharded && !hub)
		return wd_draft_file(
		    dir->build, name, WD_ROLE_WEIGHTS, dir->err);
	st = wd_file_level_list(dir);
	if (st != WD_OK)
		return st;
	if (sharded)
		st = add_shards(dir, prefix, ending, count);
	else
		st = wd_draft_file(dir->build, name, WD_ROLE_WEIGHTS, dir->err);
	if (st == WD_OK && sharded)
		st = add_index(dir, prefix, ending);
	return st == WD_OK ? wd_file_level_sides(dir) : st;
}

enum wd_status
wd_pytorch_describe(struct wd_draft *build, struct wd_error *err)
{
	WD_CLEANUP(wd_dir_release)
	struct wd_dir dir = { .build = build, .status = WD_OK, .err = err };
	enum wd_status st;

	wd_file_level_begin(build, WD_FORMAT_PYTORCH);
	st = add_files(&dir);
	if (st == WD_OK)
		st = wd_file_level_files(&dir, read_checkpoint);
	if (st != WD_OK)
		return st;
	build->bundle->single_file = build->bundle->file_count == 1;
	if (wd_pairs_find(&dir.names, wd_slice_text("adapter_config.json")) !=
	    NULL)
		build->bundle->kind = WD_KIND_ADAPTER;
	return wd_draft_finish(build, err);
}
