/*
 * config_keys.h - keys of a YAML map put into a struct by a table. Private to
 * this room.
 */
#ifndef WD_ROLE_CONFIG_KEYS_H
#define WD_ROLE_CONFIG_KEYS_H

#include "base/yaml.h"
#include "role/config.h"

enum wd_key_kind {
	WD_KEY_END, /* behind the last key of a table */
	WD_KEY_MAP,
	WD_KEY_U32, /* times `scale` */
	WD_KEY_U64,
	WD_KEY_BOOL,
	WD_KEY_TEXT,  /* not empty */
	WD_KEY_PATH,  /* absolute */
	WD_KEY_TEXTS, /* a list of them */
	WD_KEY_PATHS,
	WD_KEY_WORD, /* one of `words`; its number is stored, as uint32_t */
};

struct wd_key {
	const char *name;
	enum wd_key_kind kind;
	size_t offset; /* in struct wd_config */
	uint64_t min, max, scale;
	const struct wd_key *members; /* of a map */
	const char *const *words;     /* NULL at the end */
	const char *restart; /* its full name when a restart is needed */
};

/* Puts the members of `map` into `config`. `path` and `where` (its own full
 * name with a dot behind, or "") begin errors. Errors: WD_INVALID, WD_LIMIT,
 * WD_NOMEM. */
enum wd_status wd_keys_read(const char *path, const struct wd_yaml *yaml,
    const struct wd_yaml_node *map, const char *where,
    const struct wd_key *keys, struct wd_config *config,
    struct wd_error *err) WD_MUST_CHECK;

/* Whether both configurations have the same value there. */
bool wd_key_equal(const struct wd_key *key, const struct wd_config *a,
    const struct wd_config *b);

void wd_keys_release(const struct wd_key *keys, struct wd_config *config);

/* The name that is nearest to `name`, by the number of letters to change;
 * NULL when none is near. */
const char *wd_keys_nearest(const struct wd_key *keys, struct wd_slice name);

#endif
