#include "bundle/recipe.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/yaml.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const default_keys[] = { "bundle.general.recipe",
	"bundle.recipe", "bundle.recipe.id", "bundle.recipe.name",
	"bundle.quantization.recipe", "bundle.quantization_config.recipe",
	"bundle.metadata.recipe" };
static const char *const default_files[] = { "recipe.yaml", "recipe.yml",
	"recipe.json" };

const struct wd_bundle_options *
wd_bundle_options_default(void)
{
	static const struct wd_bundle_options options = {
		.recipe_keys = default_keys,
		.recipe_key_count = COUNT(default_keys),
		.recipe_files = default_files,
		.recipe_file_count = COUNT(default_files),
	};

	return &options;
}

bool
wd_recipe_file(const struct wd_bundle_options *options, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < options->recipe_file_count; i++)
		if (wd_slice_equal(
			name, wd_slice_text(options->recipe_files[i])))
			return true;
	return false;
}

static bool
is_one_of(struct wd_slice text, const char *const words[3])
{
	size_t i;

	for (i = 0; i < 3; i++)
		if (wd_slice_equal(text, wd_slice_text(words[i])))
			return true;
	return false;
}

static void
put_quoted(struct wd_buf *out, struct wd_slice text)
{
	size_t i;

	(void)wd_buf_byte(out, '"');
	for (i = 0; i < text.len; i++) {
		uint8_t byte = text.data[i];

		if (byte < 0x20)
			(void)wd_buf_printf(out, "\\u%04x", byte);
		else if (byte == '"' || byte == '\\')
			(void)wd_buf_printf(out, "\\%c", byte);
		else
			(void)wd_buf_byte(out, byte);
	}
	(void)wd_buf_byte(out, '"');
}

/* YAML 1.2's core schema, as far as JSON has the same: null, booleans and
 * numbers; every other scalar is a string. */
static void
put_scalar(struct wd_buf *out, const struct wd_yaml_node *node)
{
	static const char *const nulls[] = { "null", "~", "" };
	static const char *const yes[] = { "true", "True", "TRUE" };
	static const char *const no[] = { "false", "False", "FALSE" };

	if (node->quoted)
		put_quoted(out, node->text);
	else if (is_one_of(node->text, nulls))
		(void)wd_buf_text(out, "null");
	else if (is_one_of(node->text, yes))
		(void)wd_buf_text(out, "true");
	else if (is_one_of(node->text, no))
		(void)wd_buf_text(out, "false");
	else if (wd_json_is_number(node->text))
		(void)wd_buf_append(out, node->text.data, node->text.len);
	else
		put_quoted(out, node->text);
}

struct level {
	const struct wd_yaml_node *node;
	const struct wd_yaml_node *at; /* its next member */
	bool begun;
};

static struct level
enter(const struct wd_yaml *yaml, const struct wd_yaml_node *node,
    struct wd_buf *out)
{
	(void)wd_buf_byte(out, node->kind == WD_YAML_MAP ? '{' : '[');
	return (struct level){ node, wd_yaml_first(yaml, node), false };
}

/* Writes the level's next member, or what comes before it; returns the one to
 * enter, or NULL. */
static const struct wd_yaml_node *
put_member(const struct wd_yaml *yaml, struct level *level, struct wd_buf *out)
{
	const struct wd_yaml_node *member = level->at;

	if (level->begun)
		(void)wd_buf_byte(out, ',');
	level->begun = true;
	level->at = wd_yaml_next(yaml, member);
	if (level->node->kind == WD_YAML_MAP) {
		put_quoted(out, member->key);
		(void)wd_buf_byte(out, ':');
	}
	if (member->kind != WD_YAML_SCALAR)
		return member;
	put_scalar(out, member);
	return NULL;
}

/* The YAML tree as JSON text; its depth was bounded when it was parsed. */
static enum wd_status
write_json(const struct wd_yaml *yaml, struct wd_buf *out, struct wd_error *err)
{
	struct level levels[WD_MAX_YAML_DEPTH + 1];
	size_t depth = 1;

	if (yaml->nodes[0].kind != WD_YAML_MAP)
		return wd_fail(err, WD_MALFORMED, "its root is no map");
	levels[0] = enter(yaml, &yaml->nodes[0], out);
	while (depth > 0) {
		struct level *level = &levels[depth - 1];
		const struct wd_yaml_node *inner;

		if (level->at == NULL) {
			(void)wd_buf_byte(
			    out, level->node->kind == WD_YAML_MAP ? '}' : ']');
			depth--;
			continue;
		}
		inner = put_member(yaml, level, out);
		if (inner != NULL && depth == COUNT(levels))
			return wd_fail(err, WD_LIMIT, "it is nested too deep");
		if (inner != NULL)
			levels[depth++] = enter(yaml, inner, out);
	}
	return out->status == WD_OK ?
	    WD_OK :
	    wd_fail(err, out->status, "no room for the recipe");
}

static enum wd_status
parse_yaml(struct wd_slice text, json_t **root, struct wd_error *err)
{
	WD_CLEANUP(wd_yaml_release) struct wd_yaml yaml = { .nodes = NULL };
	WD_CLEANUP(wd_buf_release) struct wd_buf json;
	enum wd_status st;

	/* A byte becomes six at most, and each scalar gets quotes. */
	wd_buf_init(&json, 16 * WD_MAX_YAML_FILE);
	st = wd_yaml_parse(text, "recipe", &yaml, err);
	if (st == WD_OK)
		st = write_json(&yaml, &json, err);
	if (st == WD_OK)
		st = wd_json_parse(
		    wd_buf_slice(&json), WD_MAX_JSON_MEMORY, root, err);
	return st;
}

static enum wd_status
parse(struct wd_slice text, struct wd_slice name, json_t **root,
    struct wd_error *err)
{
	enum wd_status st;

	if (!wd_slice_ends(name, ".json"))
		return parse_yaml(text, root, err);
	st = wd_json_parse(text, WD_MAX_JSON_MEMORY, root, err);
	if (st == WD_OK && !json_is_object(*root))
		return wd_fail(err, WD_MALFORMED, "its root is no object");
	return st;
}

/* "bundle.recipe" of "recipe.yaml". */
static enum wd_status
make_prefix(struct wd_slice name, struct wd_buf *prefix, struct wd_error *err)
{
	static const char *const endings[] = { ".json", ".yaml", ".yml" };
	enum wd_status st;
	size_t i;

	for (i = 0; i < COUNT(endings); i++)
		if (wd_slice_ends(name, endings[i])) {
			name.len -= strlen(endings[i]);
			break;
		}
	(void)wd_buf_text(prefix, "bundle.");
	st = wd_buf_append(prefix, name.data, name.len);
	return st == WD_OK ? st : wd_fail(err, st, "no room for the recipe");
}

/* What cannot be read is still told apart by its bytes. */
static enum wd_status
keep_digest(struct wd_draft *build, struct wd_slice text, struct wd_slice name,
    const struct wd_buf *prefix, const struct wd_error *why,
    struct wd_error *err)
{
	WD_CLEANUP(wd_hasher_free) struct wd_hasher *hasher = NULL;
	char shown[128], hex[WD_SHA256_TEXT_BYTES];
	struct wd_sha256 digest;
	enum wd_status st = wd_hasher_new(&hasher, err);

	if (st != WD_OK)
		return st;
	wd_hasher_add(hasher, text.data, text.len);
	st = wd_hasher_finish(hasher, &digest, err);
	if (st != WD_OK)
		return st;
	(void)wd_sha256_text(&digest, hex);
	wd_canon_reset(&build->canon);
	wd_canon_bytes(&build->canon, hex, strlen(hex));
	st = wd_draft_setting(build, wd_buf_slice(prefix), NULL, err);
	return st != WD_OK ?
	    st :
	    wd_draft_note(build, WD_NOTE_DECLARED, err,
		"the recipe %s could not be read, so only its SHA-256 is a "
		"setting: %s",
		wd_escape_short(shown, sizeof(shown), name), why->message);
}

enum wd_status
wd_recipe_read(struct wd_draft *build, const struct wd_source *source,
    struct wd_slice name, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	WD_CLEANUP(wd_buf_release) struct wd_buf prefix;
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	wd_buf_init(&text, WD_MAX_JSON_FILE);
	wd_buf_init(&prefix, WD_MAX_PATH);
	st = make_prefix(name, &prefix, err);
	if (st == WD_OK)
		st = wd_source_all(source, &text, err);
	if (st != WD_OK)
		return st;
	st = parse(wd_buf_slice(&text), name, &root, &why);
	if (st == WD_MALFORMED || st == WD_LIMIT)
		return keep_digest(
		    build, wd_buf_slice(&text), name, &prefix, &why, err);
	if (st != WD_OK)
		return wd_fail(err, st, "%s", why.message);
	return wd_settings_json(build, wd_buf_string(&prefix), root, err);
}

/* A text or a number; a list, a map or two values at once name nothing. */
static bool
is_id(const char *value)
{
	static const char *const none[] = { "null", "true", "false" };

	return value[0] != '\0' && value[0] != '[' && value[0] != '{' &&
	    strncmp(value, "ambiguous: ", strlen("ambiguous: ")) != 0 &&
	    !is_one_of(wd_slice_text(value), none);
}

void
wd_recipe_declare(struct wd_draft *build)
{
	struct wd_bundle *bundle = build->bundle;
	size_t i, j;

	for (i = 0; i < build->options->recipe_key_count; i++)
		for (j = 0; j < bundle->setting_count; j++)
			if (strcmp(build->options->recipe_keys[i],
				bundle->settings[j].key) == 0 &&
			    is_id(bundle->settings[j].value)) {
				bundle->declared_recipe =
				    bundle->settings[j].value;
				return;
			}
}
