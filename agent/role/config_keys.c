#include "role/config_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"

#define MAX_NAME 64 /* of a key that is compared letter by letter */
#define MAX_DEPTH 2 /* of maps in the table */

struct reading {
	const char *path;
	const struct wd_yaml *yaml;
	const char *where;
	struct wd_config *config;
	struct wd_error *err;
};

static enum wd_status
refuse(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key, const char *why)
{
	return wd_fail(r->err, WD_INVALID, "%s:%u:%u: %s%s %s", r->path,
	    node->line, node->column, r->where, key->name, why);
}

/* ---- names --------------------------------------------------------------- */

static size_t
least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, delete or change (Levenshtein), row by row. */
static size_t
distance(struct wd_slice a, const char *b)
{
	size_t row[MAX_NAME + 1], len = strlen(b), i, k;

	if (a.len > MAX_NAME || len > MAX_NAME)
		return MAX_NAME;
	for (k = 0; k <= len; k++)
		row[k] = k;
	for (i = 1; i <= a.len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (k = 1; k <= len; k++) {
			size_t above = row[k];

			row[k] = least(row[k] + 1, row[k - 1] + 1,
			    diagonal + (a.data[i - 1] != (uint8_t)b[k - 1]));
			diagonal = above;
		}
	}
	return row[len];
}

const char *
wd_keys_nearest(const struct wd_key *keys, struct wd_slice name)
{
	const char *best = NULL;
	size_t fewest = name.len / 2 + 1, letters;

	for (; keys->kind != WD_KEY_END; keys++) {
		letters = distance(name, keys->name);
		if (letters < fewest) {
			fewest = letters;
			best = keys->name;
		}
	}
	return best;
}

static enum wd_status
unknown_key(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *keys)
{
	const char *nearest = wd_keys_nearest(keys, node->key);
	char shown[128];

	(void)wd_escape_short(shown, sizeof(shown), node->key);
	if (nearest == NULL)
		return wd_fail(r->err, WD_INVALID,
		    "%s:%u:%u: there is no key %s%s; see weightd.yaml(5)",
		    r->path, node->key_line, node->key_column, r->where, shown);
	return wd_fail(r->err, WD_INVALID,
	    "%s:%u:%u: there is no key %s%s; %s%s is the nearest", r->path,
	    node->key_line, node->key_column, r->where, shown, r->where,
	    nearest);
}

/* ---- values -------------------------------------------------------------- */

static void *
place(struct wd_config *config, const struct wd_key *key)
{
	return (char *)config + key->offset;
}

static const void *
place_const(const struct wd_config *config, const struct wd_key *key)
{
	return (const char *)config + key->offset;
}

static enum wd_status
read_number(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key)
{
	uint64_t number;
	uint32_t small;
	char why[96];

	if (node->kind != WD_YAML_SCALAR || node->quoted ||
	    !wd_slice_number(node->text, 10, &number) || number < key->min ||
	    number > key->max) {
		(void)snprintf(why, sizeof(why),
		    "is a number from %" PRIu64 " to %" PRIu64, key->min,
		    key->max);
		return refuse(r, node, key, why);
	}
	number *= key->scale;
	small = (uint32_t)number;
	if (key->kind == WD_KEY_U32)
		memcpy(place(r->config, key), &small, sizeof(small));
	else
		memcpy(place(r->config, key), &number, sizeof(number));
	return WD_OK;
}

static enum wd_status
read_bool(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key)
{
	bool yes = wd_slice_equal(node->text, wd_slice_text("true"));

	if (node->kind != WD_YAML_SCALAR || node->quoted ||
	    (!yes && !wd_slice_equal(node->text, wd_slice_text("false"))))
		return refuse(r, node, key, "is true or false");
	memcpy(place(r->config, key), &yes, sizeof(yes));
	return WD_OK;
}

static enum wd_status
read_word(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key)
{
	char why[128] = "is one of";
	size_t len = strlen(why);
	uint32_t i;

	for (i = 0; key->words[i] != NULL; i++) {
		if (node->kind == WD_YAML_SCALAR &&
		    wd_slice_equal(node->text, wd_slice_text(key->words[i]))) {
			memcpy(place(r->config, key), &i, sizeof(i));
			return WD_OK;
		}
		if (len < sizeof(why))
			len += (size_t)snprintf(
			    why + len, sizeof(why) - len, " %s", key->words[i]);
	}
	return refuse(r, node, key, why);
}

static enum wd_status
copy_text(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key, char **text)
{
	bool is_path = key->kind == WD_KEY_PATH || key->kind == WD_KEY_PATHS;

	if (node->kind != WD_YAML_SCALAR || node->text.len == 0)
		return refuse(r, node, key, "is a text that is not empty");
	if (is_path && node->text.data[0] != '/')
		return refuse(r, node, key, "is an absolute path");
	*text = wd_memdup0(node->text.data, node->text.len);
	return *text != NULL ? WD_OK :
			       wd_fail(r->err, WD_NOMEM, "out of memory");
}

static enum wd_status
read_text(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key)
{
	char *text = NULL, *old;
	enum wd_status st = copy_text(r, node, key, &text);

	if (st != WD_OK)
		return st;
	memcpy(&old, place(r->config, key), sizeof(old));
	wd_free(old);
	memcpy(place(r->config, key), &text, sizeof(text));
	return WD_OK;
}

static enum wd_status
add_text(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key)
{
	struct wd_texts *texts = place(r->config, key);
	void *items = texts->items;
	enum wd_status st = wd_grow(&items, texts->count, &texts->capacity,
	    sizeof(*texts->items), (size_t)key->max);

	texts->items = items;
	if (st == WD_LIMIT)
		return refuse(r, node, key, "has too many entries");
	if (st != WD_OK)
		return wd_fail(r->err, st, "out of memory");
	st = copy_text(r, node, key, &texts->items[texts->count]);
	if (st == WD_OK)
		texts->count++;
	return st;
}

static enum wd_status
read_texts(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key)
{
	const struct wd_yaml_node *item;
	enum wd_status st = WD_OK;

	if (node->kind != WD_YAML_LIST)
		return refuse(r, node, key, "is a list: [a, b]");
	for (item = wd_yaml_first(r->yaml, node); st == WD_OK && item != NULL;
	     item = wd_yaml_next(r->yaml, item))
		st = add_text(r, item, key);
	return st;
}

static enum wd_status
read_map(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key)
{
	char where[MAX_NAME * MAX_DEPTH];

	(void)snprintf(where, sizeof(where), "%s%s.", r->where, key->name);
	return wd_keys_read(
	    r->path, r->yaml, node, where, key->members, r->config, r->err);
}

static enum wd_status
read_value(const struct reading *r, const struct wd_yaml_node *node,
    const struct wd_key *key)
{
	switch (key->kind) {
	case WD_KEY_MAP:
		return read_map(r, node, key);
	case WD_KEY_U32:
	case WD_KEY_U64:
		return read_number(r, node, key);
	case WD_KEY_BOOL:
		return read_bool(r, node, key);
	case WD_KEY_TEXT:
	case WD_KEY_PATH:
		return read_text(r, node, key);
	case WD_KEY_TEXTS:
	case WD_KEY_PATHS:
		return read_texts(r, node, key);
	case WD_KEY_WORD:
		return read_word(r, node, key);
	case WD_KEY_END:
		break;
	}
	return WD_OK;
}

static const struct wd_key *
find(const struct wd_key *keys, struct wd_slice name)
{
	for (; keys->kind != WD_KEY_END; keys++)
		if (wd_slice_equal(name, wd_slice_text(keys->name)))
			return keys;
	return NULL;
}

enum wd_status
wd_keys_read(const char *path, const struct wd_yaml *yaml,
    const struct wd_yaml_node *map, const char *where,
    const struct wd_key *keys, struct wd_config *config, struct wd_error *err)
{
	struct reading r = { path, yaml, where, config, err };
	const struct wd_yaml_node *node;
	const struct wd_key *key;
	enum wd_status st = WD_OK;

	if (map->kind != WD_YAML_MAP)
		return wd_fail(err, WD_INVALID,
		    "%s:%u:%u: %s is a map with keys; see weightd.yaml(5)",
		    path, map->line, map->column,
		    where[0] == '\0' ? "a configuration" : where);
	for (node = wd_yaml_first(yaml, map); st == WD_OK && node != NULL;
	     node = wd_yaml_next(yaml, node)) {
		key = find(keys, node->key);
		st = key == NULL ? unknown_key(&r, node, keys) :
				   read_value(&r, node, key);
	}
	return st;
}

/* ---- two configurations -------------------------------------------------- */

static bool
texts_equal(const struct wd_texts *a, const struct wd_texts *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

static bool
text_equal(const void *a, const void *b)
{
	const char *one, *two;

	memcpy(&one, a, sizeof(one));
	memcpy(&two, b, sizeof(two));
	return one == NULL || two == NULL ? one == two : strcmp(one, two) == 0;
}

bool
wd_key_equal(const struct wd_key *key, const struct wd_config *a,
    const struct wd_config *b)
{
	const void *one = place_const(a, key), *two = place_const(b, key);

	switch (key->kind) {
	case WD_KEY_U32:
	case WD_KEY_WORD:
		return memcmp(one, two, sizeof(uint32_t)) == 0;
	case WD_KEY_U64:
		return memcmp(one, two, sizeof(uint64_t)) == 0;
	case WD_KEY_BOOL:
		return memcmp(one, two, sizeof(bool)) == 0;
	case WD_KEY_TEXT:
	case WD_KEY_PATH:
		return text_equal(one, two);
	case WD_KEY_TEXTS:
	case WD_KEY_PATHS:
		return texts_equal(one, two);
	case WD_KEY_MAP:
	case WD_KEY_END:
		break;
	}
	return true;
}

static void
release_texts(struct wd_texts *texts)
{
	while (texts->count > 0)
		wd_free(texts->items[--texts->count]);
	wd_free(texts->items);
	texts->items = NULL;
}

static void
release_key(const struct wd_key *key, struct wd_config *config)
{
	char *text;

	if (key->kind == WD_KEY_TEXT || key->kind == WD_KEY_PATH) {
		memcpy(&text, place(config, key), sizeof(text));
		wd_free(text);
	} else if (key->kind == WD_KEY_TEXTS || key->kind == WD_KEY_PATHS) {
		release_texts(place(config, key));
	}
}

void
wd_keys_release(const struct wd_key *keys, struct wd_config *config)
{
	const struct wd_key *member;

	for (; keys->kind != WD_KEY_END; keys++) {
		if (keys->kind != WD_KEY_MAP) {
			release_key(keys, config);
			continue;
		}
		for (member = keys->members; member->kind != WD_KEY_END;
		     member++)
			release_key(member, config);
	}
}
