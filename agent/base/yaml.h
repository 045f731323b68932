/*
 * yaml.h - YAML text to a tree, under caps. The only user of libyaml.
 *
 * One document of scalars, lists and maps (JSON is YAML as well). Stricter than
 * YAML 1.1 where readers differ or a short text could grow large: aliases,
 * tags, merge keys, keys that are no scalar, a key that stands twice in one
 * map, a second document and NUL bytes are refused. A scalar stays the text
 * that was written: what it means (`no`, `1e3`) is for the reader of the field
 * to say, `quoted` tells whether the writer meant a string.
 *
 * Every error says where, as NAME:LINE:COLUMN, counted from 1.
 */
#ifndef WD_BASE_YAML_H
#define WD_BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/slice.h"

enum wd_yaml_kind { WD_YAML_SCALAR, WD_YAML_LIST, WD_YAML_MAP };

/* A node. As a member of a map it has a key. */
struct wd_yaml_node {
	enum wd_yaml_kind kind;
	bool quoted;           /* scalar: in quotes or a block */
	uint32_t line, column; /* where it begins; from 1 */
	uint32_t key_line, key_column;
	struct wd_slice key;  /* of a member of a map; valid UTF-8, no NUL */
	struct wd_slice text; /* of a scalar; the same */
	size_t count;         /* of members or items */
	/* Private: indexes of nodes, 0: none. */
	uint32_t first, last, next;
};

struct wd_yaml {
	struct wd_yaml_node *nodes; /* the first is the root */
	size_t count, capacity;
	uint8_t *texts; /* all keys and scalars */
	size_t text_len, text_room;
};

/* Parses `text`. `name` stands in errors (escaped by the caller). An empty
 * document is an empty plain scalar. Errors: WD_NOMEM; WD_LIMIT beyond
 * WD_MAX_YAML_FILE bytes, WD_MAX_YAML_NODES nodes or WD_MAX_YAML_DEPTH levels;
 * WD_MALFORMED. On failure nothing is to be released. */
enum wd_status wd_yaml_parse(struct wd_slice text, const char *name,
    struct wd_yaml *yaml, struct wd_error *err) WD_MUST_CHECK;

/* A valid WD_CLEANUP handler; also of a zeroed struct. */
void wd_yaml_release(struct wd_yaml *yaml);

/* Members and items in the order in which they were written; NULL at the end.
 * A scalar has none. */
const struct wd_yaml_node *wd_yaml_first(
    const struct wd_yaml *yaml, const struct wd_yaml_node *node);
const struct wd_yaml_node *wd_yaml_next(
    const struct wd_yaml *yaml, const struct wd_yaml_node *node);

/* The member of a map; NULL when there is none, or `map` is NULL or none. */
const struct wd_yaml_node *wd_yaml_get(const struct wd_yaml *yaml,
    const struct wd_yaml_node *map, const char *key);

#endif
