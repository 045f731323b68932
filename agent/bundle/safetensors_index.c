#include "bundle/safetensors_dir.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/plain_json.h"

static int
compare_pairs(const void *a, const void *b)
{
	const struct wd_pair *left = a, *right = b;

	return wd_slice_compare(left->name, right->name);
}

void
wd_pairs_sort(struct wd_pairs *pairs)
{
	if (pairs->count > 0)
		qsort(pairs->items, pairs->count, sizeof(*pairs->items),
		    compare_pairs);
}

const struct wd_pair *
wd_pairs_find(const struct wd_pairs *pairs, struct wd_slice name)
{
	struct wd_pair key = { .name = name };

	if (pairs->count == 0)
		return NULL;
	return bsearch(
	    &key, pairs->items, pairs->count, sizeof(key), compare_pairs);
}

static enum wd_status
copy_slice(struct wd_dir *dir, struct wd_slice bytes, struct wd_slice *copy)
{
	char *text;
	enum wd_status st = wd_draft_copy(dir->build, bytes, &text, dir->err);

	if (st == WD_OK)
		*copy = (struct wd_slice){ (const uint8_t *)text, bytes.len };
	return st;
}

enum wd_status
wd_dir_add(struct wd_dir *dir, struct wd_pairs *pairs, struct wd_slice name,
    struct wd_slice file, size_t max)
{
	void *items = pairs->items;
	struct wd_pair pair;
	enum wd_status st = wd_grow(
	    &items, pairs->count, &pairs->capacity, sizeof(*pairs->items), max);

	pairs->items = items;
	if (st == WD_LIMIT)
		return wd_fail(dir->err, st,
		    "there are more than %zu files or tensors to look at", max);
	if (st != WD_OK)
		return wd_fail(dir->err, st, "no memory for the folder");
	st = copy_slice(dir, name, &pair.name);
	if (st == WD_OK)
		st = copy_slice(dir, file, &pair.file);
	if (st == WD_OK)
		pairs->items[pairs->count++] = pair;
	return st;
}

/* Tensors are named as in the bundle, escaped; files by their bytes. */
static enum wd_status
add_entry(struct wd_dir *dir, const char *tensor, const json_t *file)
{
	struct wd_slice name;
	enum wd_status st;
	char *escaped;

	if (!json_is_string(file))
		return wd_fail(dir->err, WD_MALFORMED,
		    "its weight_map names something that is no file");
	name = (struct wd_slice){ (const uint8_t *)json_string_value(file),
		json_string_length(file) };
	st = wd_draft_escaped(
	    dir->build, wd_slice_text(tensor), &escaped, dir->err);
	if (st != WD_OK)
		return st;
	return wd_dir_add(
	    dir, &dir->entries, wd_slice_text(escaped), name, WD_MAX_TENSORS);
}

static enum wd_status
add_entries(struct wd_dir *dir, json_t *map)
{
	enum wd_status st = WD_OK;
	void *at;

	for (at = json_object_iter(map); at != NULL && st == WD_OK;
	     at = json_object_iter_next(map, at))
		st = add_entry(
		    dir, json_object_iter_key(at), json_object_iter_value(at));
	return st;
}

/* Entries that stand together often lead to one file. */
static enum wd_status
add_plain(struct wd_dir *dir, struct wd_slice name, struct wd_slice file)
{
	struct wd_pairs *pairs = &dir->entries;
	void *items = pairs->items;
	struct wd_pair pair = { .file = file };
	enum wd_status st = wd_grow(&items, pairs->count, &pairs->capacity,
	    sizeof(*pairs->items), WD_MAX_TENSORS);

	pairs->items = items;
	if (st == WD_OK)
		st = copy_slice(dir, name, &pair.name);
	if (st == WD_OK && pairs->count > 0 &&
	    wd_slice_equal(file, pairs->items[pairs->count - 1].file))
		pair.file = pairs->items[pairs->count - 1].file;
	else if (st == WD_OK)
		st = copy_slice(dir, file, &pair.file);
	if (st == WD_OK)
		pairs->items[pairs->count++] = pair;
	return st;
}

static enum wd_status
read_plain_map(struct wd_dir *dir, struct wd_plain *text)
{
	enum wd_status st = WD_OK;

	wd_plain_expect(text, '{');
	do {
		struct wd_slice name = wd_plain_string(text), file;

		wd_plain_expect(text, ':');
		file = wd_plain_string(text);
		if (!text->plain)
			return WD_OK;
		st = add_plain(dir, name, file);
	} while (st == WD_OK && wd_plain_take(text, ','));
	wd_plain_expect(text, '}');
	return st;
}

/* What is not the map must be JSON all the same. */
static enum wd_status
check_object(struct wd_plain *text)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	struct wd_slice object = wd_plain_object(text);
	enum wd_status st;

	if (!text->plain)
		return WD_OK;
	st = wd_json_parse(object, WD_MAX_JSON_MEMORY, &root, NULL);
	text->plain = st == WD_OK;
	return st == WD_NOMEM ? st : WD_OK;
}

static bool
names_differ(const struct wd_pairs *pairs)
{
	size_t i;

	for (i = 1; i < pairs->count; i++)
		if (wd_slice_equal(
			pairs->items[i].name, pairs->items[i - 1].name))
			return false;
	return true;
}

/* An index as the usual writers write it: "metadata", an object, and
 * "weight_map". `*plain` is false for any other; the entries are then
 * forgotten. */
static enum wd_status
read_plain_index(struct wd_dir *dir, struct wd_slice bytes, bool *plain)
{
	struct wd_plain text = { bytes, true };
	bool has_map = false, has_metadata = false;
	enum wd_status st = WD_OK;

	wd_plain_expect(&text, '{');
	do {
		struct wd_slice key = wd_plain_string(&text);

		wd_plain_expect(&text, ':');
		if (wd_slice_equal(key, wd_slice_text("weight_map")) &&
		    !has_map) {
			has_map = true;
			st = read_plain_map(dir, &text);
		} else if (wd_slice_equal(key, wd_slice_text("metadata")) &&
		    !has_metadata) {
			has_metadata = true;
			st = check_object(&text);
		} else {
			text.plain = false;
		}
	} while (st == WD_OK && text.plain && wd_plain_take(&text, ','));
	wd_plain_expect(&text, '}');
	wd_plain_end(&text);
	wd_pairs_sort(&dir->entries);
	*plain =
	    st == WD_OK && text.plain && has_map && names_differ(&dir->entries);
	/* A limit is for the tree to name. */
	if (st == WD_LIMIT)
		st = WD_OK;
	if (!*plain)
		dir->entries.count = 0;
	return st == WD_OK ? st :
			     wd_fail(dir->err, st, "no memory for the index");
}

/* The index's weight_map, sorted by tensor. */
static enum wd_status
parse_index(struct wd_dir *dir, const struct wd_source *source)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	json_t *map;
	bool plain = false;
	enum wd_status st;

	dir->entries.count = 0;
	wd_buf_init(&text, WD_MAX_JSON_FILE);
	st = wd_source_all(source, &text, dir->err);
	if (st == WD_OK)
		st = read_plain_index(dir, wd_buf_slice(&text), &plain);
	if (plain)
		return WD_OK;
	if (st == WD_OK)
		st = wd_json_parse(
		    wd_buf_slice(&text), WD_MAX_JSON_MEMORY, &root, dir->err);
	if (st != WD_OK)
		return st;
	map = json_object_get(root, "weight_map");
	if (!json_is_object(map))
		return wd_fail(
		    dir->err, WD_MALFORMED, "the index has no weight_map");
	st = add_entries(dir, map);
	wd_pairs_sort(&dir->entries);
	return st;
}

static enum wd_status
load_index(struct wd_dir *dir, struct wd_slice name)
{
	struct wd_opened opened = { .folder = NULL };
	enum wd_status st = wd_draft_open(dir->build, name, &opened, dir->err);

	if (st == WD_OK)
		st = parse_index(dir, &opened.source);
	wd_opened_close(&opened);
	return st;
}

static bool
index_lists(const struct wd_dir *dir, struct wd_slice file)
{
	size_t i;

	for (i = 0; i < dir->entries.count; i++)
		if (wd_slice_equal(dir->entries.items[i].file, file))
			return true;
	return false;
}

bool
wd_dir_is_weights(struct wd_slice name)
{
	return name.len > 0 && !wd_safetensors_side_file(name);
}

/* Whether an index that has just been loaded is the bundle's. */
static bool
index_fits(const struct wd_dir *dir, struct wd_slice index)
{
	struct wd_slice given = dir->build->given_name;

	if (wd_dir_is_weights(given))
		return index_lists(dir, given);
	return !wd_slice_ends(given, INDEX_ENDING) ||
	    wd_slice_equal(given, index);
}

/* An index that cannot be read may be the one that counts. */
static enum wd_status
lost_index(struct wd_dir *dir, struct wd_slice name, const struct wd_error *why)
{
	char shown[128];

	if (why->status == WD_NOMEM ||
	    wd_slice_equal(name, dir->build->given_name)) {
		if (dir->err != NULL)
			*dir->err = *why;
		return why->status;
	}
	return wd_draft_note(dir->build, WD_NOTE_INCOMPLETE, dir->err,
	    "the index %s could not be read: %s",
	    wd_escape_short(shown, sizeof(shown), name), why->message);
}

#define USUAL_INDEX "model" INDEX_ENDING

/* Looks into one index; `*fits` when it is the bundle's. */
static enum wd_status
try_index(struct wd_dir *dir, struct wd_slice name, bool *fits)
{
	struct wd_error *err = dir->err, why;
	enum wd_status st;

	wd_error_init(&why);
	dir->err = &why;
	st = load_index(dir, name);
	dir->err = err;
	if (st != WD_OK)
		return lost_index(dir, name, &why);
	*fits = index_fits(dir, name);
	if (*fits)
		dir->index = name;
	return WD_OK;
}

/* The names to try: the given file when it is an index, else all, the usual
 * name first. Writes at most WD_MAX_INDEX_FILES and returns how many there
 * are. */
static size_t
index_names(const struct wd_dir *dir, struct wd_slice names[WD_MAX_INDEX_FILES])
{
	struct wd_slice usual = wd_slice_text(USUAL_INDEX);
	size_t i, count = 0;

	names[0] = dir->build->given_name;
	if (wd_slice_ends(names[0], INDEX_ENDING))
		return 1;
	if (wd_pairs_find(&dir->names, usual) != NULL)
		names[count++] = usual;
	for (i = 0; i < dir->names.count; i++) {
		struct wd_slice name = dir->names.items[i].name;

		if (!wd_slice_ends(name, INDEX_ENDING) ||
		    wd_slice_equal(name, usual))
			continue;
		if (count < WD_MAX_INDEX_FILES)
			names[count] = name;
		count++;
	}
	return count;
}

enum wd_status
wd_dir_index(struct wd_dir *dir)
{
	struct wd_slice names[WD_MAX_INDEX_FILES];
	size_t i, count = index_names(dir, names);
	enum wd_status st = WD_OK;
	bool fits = false;

	for (i = 0; i < count && i < WD_MAX_INDEX_FILES; i++) {
		st = try_index(dir, names[i], &fits);
		if (st != WD_OK || fits)
			return st;
	}
	dir->entries.count = 0;
	if (count <= WD_MAX_INDEX_FILES)
		return WD_OK;
	return wd_draft_note(dir->build, WD_NOTE_INCOMPLETE, dir->err,
	    "there are %zu index files; %d were tried and the others were not "
	    "looked at",
	    count, WD_MAX_INDEX_FILES);
}

static int
compare_to_tensor(const void *key, const void *item)
{
	const struct wd_slice *name = key;
	const struct wd_tensor *tensor = item;

	return wd_slice_compare(*name,
	    (struct wd_slice){
		(const uint8_t *)tensor->name, tensor->name_len });
}

static const struct wd_tensor *
find_tensor(const struct wd_bundle *bundle, struct wd_slice name)
{
	if (bundle->tensor_count == 0)
		return NULL;
	return bsearch(&name, bundle->tensors, bundle->tensor_count,
	    sizeof(*bundle->tensors), compare_to_tensor);
}

/* The index against the shards' own headers; the bundle's tensors are in
 * order by now. */
enum wd_status
wd_dir_hold_index(struct wd_dir *dir)
{
	WD_CLEANUP(wd_faults_release) struct wd_faults absent;
	WD_CLEANUP(wd_faults_release) struct wd_faults moved;
	const struct wd_bundle *bundle = dir->build->bundle;
	enum wd_status st;
	size_t i;

	wd_faults_init(&absent);
	wd_faults_init(&moved);
	for (i = 0; i < dir->entries.count; i++) {
		const struct wd_pair *entry = &dir->entries.items[i];
		const struct wd_tensor *tensor =
		    find_tensor(bundle, entry->name);

		if (tensor == NULL)
			wd_faults_add(&absent, (const char *)entry->name.data);
		else if (!wd_slice_equal(entry->file,
			     wd_dir_file_name(&bundle->files[tensor->file])))
			wd_faults_add(&moved, (const char *)entry->name.data);
	}
	st = wd_faults_note(dir, &absent, WD_NOTE_INCOMPLETE,
	    "tensors that the index names and no shard has");
	if (st == WD_OK)
		st = wd_faults_note(dir, &moved, WD_NOTE_DECLARED,
		    "tensors that lie in another shard than the index says");
	return st;
}

enum wd_status
wd_dir_hold_shards(struct wd_dir *dir)
{
	WD_CLEANUP(wd_faults_release) struct wd_faults extra;
	const struct wd_bundle *bundle = dir->build->bundle;
	size_t i;

	wd_faults_init(&extra);
	for (i = 0; i < bundle->tensor_count; i++) {
		struct wd_slice name = {
			(const uint8_t *)bundle->tensors[i].name,
			bundle->tensors[i].name_len
		};

		if (wd_pairs_find(&dir->entries, name) == NULL)
			wd_faults_add(&extra, bundle->tensors[i].name);
	}
	return wd_faults_note(dir, &extra, WD_NOTE_DECLARED,
	    "tensors that lie in the shards and that the index does not name");
}
