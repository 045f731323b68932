#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "bundle/gguf.h"

#define NAME_BYTES 256

bool
wd_gguf_shard_name(struct wd_slice name, struct wd_slice *prefix,
    uint64_t *number, uint64_t *count)
{
	/* "-00002-of-00005.gguf" */
	static const size_t tail = 1 + 5 + 4 + 5 + 5;
	struct wd_slice end;

	if (name.len <= tail)
		return false;
	end = (struct wd_slice){ name.data + name.len - tail, tail };
	if (end.data[0] != '-' || memcmp(end.data + 6, "-of-", 4) != 0 ||
	    !wd_slice_ends(end, ".gguf"))
		return false;
	*prefix = (struct wd_slice){ name.data, name.len - tail };
	return wd_slice_number(
		   (struct wd_slice){ end.data + 1, 5 }, 10, number) &&
	    wd_slice_number((struct wd_slice){ end.data + 10, 5 }, 10, count);
}

/* The set that the given file is a shard of. */
struct set {
	struct wd_slice prefix; /* of the shards' names */
	bool named;             /* the given file is named as a shard */
	struct wd_gguf_facts given;
	size_t missing;
};

static void
shard_file_name(const struct set *set, uint64_t shard, char name[NAME_BYTES])
{
	if (set->named)
		(void)snprintf(name, NAME_BYTES, "%.*s-%05u-of-%05u.gguf",
		    (int)set->prefix.len, (const char *)set->prefix.data,
		    (unsigned)shard, (unsigned)set->given.split_count);
	else
		(void)snprintf(name, NAME_BYTES, "(shard %u of %u)",
		    (unsigned)shard, (unsigned)set->given.split_count);
}

static enum wd_status
shard_lost(struct wd_draft *build, struct set *set, uint32_t file,
    const char *why, struct wd_error *err)
{
	struct wd_bundle_file *entry = &build->bundle->files[file];
	char shown[160];

	set->missing++;
	return wd_draft_note(build, WD_NOTE_INCOMPLETE, err,
	    "shard %u of %u, %s: %s", entry->shard,
	    (unsigned)set->given.split_count,
	    wd_escape_short(shown, sizeof(shown),
		(struct wd_slice){
		    (const uint8_t *)entry->name, entry->name_len }),
	    why);
}

/* Why the shard is not the one that its name says; NULL when it is. */
static const char *
wrong_shard(
    const struct set *set, const struct wd_gguf_facts *facts, uint64_t number)
{
	if (!facts->has_split || facts->split_count != set->given.split_count)
		return "it says that it belongs to another set";
	if (facts->split_no + 1 != number)
		return "it says that it is another shard";
	if (facts->big_endian != set->given.big_endian)
		return "its byte order is not that of the other shards";
	return NULL;
}

static enum wd_status
read_shard(struct wd_draft *build, struct set *set, uint32_t file,
    const struct wd_source *source, struct wd_error *err)
{
	struct wd_draft_mark mark = wd_draft_mark(build);
	uint64_t number = build->bundle->files[file].shard;
	struct wd_error why;
	struct wd_gguf_facts facts;
	const char *wrong;
	enum wd_status st;

	wd_error_init(&why);
	/* Only the first shard carries the model's metadata. */
	st = wd_gguf_read(build, source, file, number == 1, &facts, &why);
	wrong = st == WD_OK ? wrong_shard(set, &facts, number) : why.message;
	build->bundle->files[file].size_bytes = source->size_bytes;
	if (st == WD_OK && number == 1) {
		set->given.has_file_type = facts.has_file_type;
		set->given.file_type = facts.file_type;
	}
	if (wrong == NULL)
		return WD_OK;
	wd_draft_back(build, &mark);
	if (number == 1)
		wd_draft_unname(build);
	if (st == WD_NOMEM)
		return wd_fail(err, st, "%s", wrong);
	return shard_lost(build, set, file, wrong, err);
}

static enum wd_status
open_shard(struct wd_draft *build, struct set *set, uint32_t file,
    struct wd_error *err)
{
	struct wd_bundle_file *entry = &build->bundle->files[file];
	struct wd_slice name = { (const uint8_t *)entry->name,
		entry->name_len };
	bool is_given = entry->shard == set->given.split_no + 1;
	struct wd_opened opened = { .folder = NULL };
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	if (is_given)
		return read_shard(build, set, file, build->given, err);
	if (!set->named) {
		entry->present = false;
		return shard_lost(build, set, file,
		    "not looked for, as the name of the file at hand does not "
		    "lead to it",
		    err);
	}
	st = wd_draft_open(build, name, &opened, &why);
	if (st == WD_NOMEM)
		return wd_fail(err, st, "%s", why.message);
	if (st != WD_OK) {
		entry->present = false;
		return shard_lost(build, set, file, why.message, err);
	}
	st = read_shard(build, set, file, &opened.source, err);
	wd_opened_close(&opened);
	return st;
}

static enum wd_status
add_shards(struct wd_draft *build, const struct set *set, struct wd_error *err)
{
	char name[NAME_BYTES];
	uint64_t i;

	for (i = 1; i <= set->given.split_count; i++) {
		struct wd_slice bytes;
		enum wd_status st;

		shard_file_name(set, i, name);
		bytes = i == set->given.split_no + 1 ? build->given_name :
						       wd_slice_text(name);
		st = wd_draft_file(build, bytes, WD_ROLE_WEIGHTS, err);
		if (st != WD_OK)
			return st;
		build->bundle->files[i - 1].shard = (uint32_t)i;
	}
	return WD_OK;
}

static enum wd_status
check_total(struct wd_draft *build, const struct set *set, struct wd_error *err)
{
	uint64_t found = build->bundle->tensor_count;

	if (set->missing > 0 || set->given.split_tensors == 0 ||
	    set->given.split_tensors == found)
		return WD_OK;
	return wd_draft_note(build, WD_NOTE_INCOMPLETE, err,
	    "the shards have %llu tensors, and say that they should have %llu",
	    (unsigned long long)found,
	    (unsigned long long)set->given.split_tensors);
}

static enum wd_status
describe_set(struct wd_draft *build, struct set *set, struct wd_error *err)
{
	uint64_t number, count;
	enum wd_status st;
	uint32_t i;

	if (set->given.split_no >= set->given.split_count)
		return wd_fail(err, WD_MALFORMED,
		    "the file says that it is shard %llu of %llu",
		    (unsigned long long)set->given.split_no + 1,
		    (unsigned long long)set->given.split_count);
	if (set->given.split_count > WD_MAX_BUNDLE_FILES)
		return wd_fail(err, WD_LIMIT,
		    "the file says that it is one of %llu shards",
		    (unsigned long long)set->given.split_count);
	set->named = wd_gguf_shard_name(
			 build->given_name, &set->prefix, &number, &count) &&
	    number == set->given.split_no + 1 &&
	    count == set->given.split_count;
	st = add_shards(build, set, err);
	for (i = 0; i < set->given.split_count && st == WD_OK; i++)
		st = open_shard(build, set, i, err);
	if (st == WD_OK)
		st = check_total(build, set, err);
	return st;
}

/* What the bundle is for. llama.cpp's converter writes general.type since
 * 2024; projectors before that had the architecture "clip". */
static enum wd_bundle_kind
kind_of(const struct wd_bundle *bundle)
{
	bool clip = bundle->architecture != NULL &&
	    strcmp(bundle->architecture, "clip") == 0;
	size_t i;

	for (i = 0; i < bundle->setting_count; i++) {
		if (strcmp(bundle->settings[i].key, "bundle.general.type") != 0)
			continue;
		if (strcmp(bundle->settings[i].value, "adapter") == 0)
			return WD_KIND_ADAPTER;
		if (strcmp(bundle->settings[i].value, "mmproj") == 0)
			return WD_KIND_PROJECTOR;
	}
	return clip ? WD_KIND_PROJECTOR : WD_KIND_MODEL;
}

/* general.file_type is a label that converters set; the tensors are what the
 * engine runs. */
static enum wd_status
check_label(struct wd_draft *build, const struct wd_gguf_facts *facts,
    struct wd_error *err)
{
	const char *found = wd_draft_main_encoding(build);
	const char *expected = NULL, *label;

	if (!facts->has_file_type || found == NULL)
		return WD_OK;
	label = wd_gguf_file_type(facts->file_type, &expected);
	if (label == NULL || strcmp(expected, found) == 0)
		return WD_OK;
	return wd_draft_note(build, WD_NOTE_DECLARED, err,
	    "general.file_type is %llu (%s), but most bytes are %s",
	    (unsigned long long)facts->file_type, label, found);
}

static enum wd_status
note_unknown(struct wd_draft *build, struct wd_error *err)
{
	const struct wd_bundle *bundle = build->bundle;
	size_t i;

	for (i = 0; i < bundle->encoding_count; i++) {
		const struct wd_encoding_count *row = &bundle->encodings[i];
		enum wd_status st;

		if (strncmp(row->encoding, "unknown(", 8) != 0)
			continue;
		st = wd_draft_note(build, WD_NOTE_UNKNOWN, err,
		    "%llu tensors are of the ggml type %s; their elements are "
		    "counted, their size is not known",
		    (unsigned long long)row->tensors, row->encoding);
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

enum wd_status
wd_gguf_describe(struct wd_draft *build, struct wd_error *err)
{
	struct set set = { .named = false };
	struct wd_bundle *bundle = build->bundle;
	struct wd_draft_mark mark = wd_draft_mark(build);
	enum wd_status st =
	    wd_draft_file(build, build->given_name, WD_ROLE_WEIGHTS, err);

	if (st == WD_OK)
		st =
		    wd_gguf_read(build, build->given, 0, true, &set.given, err);
	if (st != WD_OK)
		return st;
	bundle->format = WD_FORMAT_GGUF;
	bundle->format_version = set.given.version;
	bundle->big_endian = set.given.big_endian;
	bundle->single_file = set.given.split_count <= 1;
	if (!bundle->single_file) {
		/* Read again, in the order of the shards. */
		wd_draft_back(build, &mark);
		bundle->file_count = 0;
		wd_draft_unname(build);
		st = describe_set(build, &set, err);
	}
	bundle->kind = kind_of(bundle);
	if (st == WD_OK)
		st = wd_draft_finish(build, err);
	if (st == WD_OK)
		st = check_label(build, &set.given, err);
	if (st == WD_OK)
		st = note_unknown(build, err);
	return st;
}
