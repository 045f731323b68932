/*
 * The lists that engines and routers keep in YAML.
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "bundle/listing_parts.h"

struct reading {
	const struct wd_yaml *yaml;
	struct wd_listing *listing;
	struct wd_error *err;
	const struct wd_yaml_node *macros; /* NULL: none */
	size_t room; /* for command lines with their macros put in */
};

#define MAX_MACROS 256
#define MAX_MACRO_NAME 128

static const struct wd_slice no_text;

/* An address without the name and password that may stand in it. */
static enum wd_status
add_upstream(const struct reading *r, struct wd_slice entry,
    struct wd_slice key, struct wd_slice value)
{
	struct wd_slice rest = value, host = value;
	size_t i;

	for (i = 0; i + 3 <= value.len; i++)
		if (memcmp(value.data + i, "://", 3) == 0)
			break;
	if (i + 3 <= value.len) {
		rest.data += i + 3;
		rest.len -= i + 3;
		(void)wd_slice_cut(&rest, '/', &host);
		if (memchr(host.data, '@', host.len) != NULL) {
			r->listing->complete = false;
			return WD_OK;
		}
	}
	return wd_listing_add(
	    r->listing, WD_LISTED_UPSTREAM, entry, key, value);
}

static enum wd_status
add_node(const struct reading *r, enum wd_listed_use use, struct wd_slice entry,
    struct wd_slice key, const struct wd_yaml_node *node)
{
	if (node == NULL || node->kind != WD_YAML_SCALAR)
		return WD_OK;
	if (use == WD_LISTED_UPSTREAM)
		return add_upstream(r, entry, key, node->text);
	return wd_listing_add(r->listing, use, entry, key, node->text);
}

/* ---- vLLM, SGLang, TensorRT-LLM, KoboldCpp, llama-cpp-python --------------
 */

/* JSON of KoboldCpp has every option, most of them null, false or "". */
static bool
says_nothing(const struct wd_yaml_node *node)
{
	return node->kind == WD_YAML_SCALAR &&
	    (node->text.len == 0 ||
		(!node->quoted &&
		    (wd_slice_equal(node->text, wd_slice_text("null")) ||
			wd_slice_equal(node->text, wd_slice_text("~")) ||
			wd_slice_equal(node->text, wd_slice_text("false")))));
}

/* A value, or a list of them. */
static enum wd_status
add_values(const struct reading *r, enum wd_listed_use use,
    struct wd_slice entry, const struct wd_yaml_node *m)
{
	const struct wd_yaml_node *item;
	enum wd_status st = WD_OK;

	if (m->kind == WD_YAML_SCALAR)
		return says_nothing(m) ? WD_OK :
					 add_node(r, use, entry, m->key, m);
	if (m->kind != WD_YAML_LIST)
		return WD_OK;
	for (item = wd_yaml_first(r->yaml, m); item != NULL && st == WD_OK;
	     item = wd_yaml_next(r->yaml, item))
		if (!says_nothing(item))
			st = add_node(r, use, entry, m->key, item);
	return st;
}

/* The draft's model, by the names that engines have for it. */
static enum wd_status
add_speculative(const struct reading *r, const struct wd_yaml_node *m)
{
	static const char *const keys[] = { "model", "speculative_model",
		"speculative_model_dir" };
	const struct wd_yaml_node *model;
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < 3 && st == WD_OK; i++) {
		model = wd_yaml_get(r->yaml, m, keys[i]);
		if (model != NULL && !says_nothing(model))
			st = add_node(
			    r, WD_LISTED_DRAFT, no_text, m->key, model);
	}
	return st;
}

static enum wd_status
read_map(const struct reading *r, struct wd_slice entry,
    const struct wd_yaml_node *map)
{
	const struct wd_yaml_node *m;
	enum wd_listed_use use;
	enum wd_status st = WD_OK;

	for (m = wd_yaml_first(r->yaml, map); m != NULL && st == WD_OK;
	     m = wd_yaml_next(r->yaml, m)) {
		if (wd_listing_option(m->key, &use))
			st = add_values(r, use, entry, m);
		else if (wd_slice_equal(
			     m->key, wd_slice_text("speculative-config")) ||
		    wd_slice_equal(m->key, wd_slice_text("speculative_config")))
			st = add_speculative(r, m);
	}
	return st;
}

/* llama-cpp-python: `models` is a list of such maps, each with an alias. */
static enum wd_status
read_options(const struct reading *r, const struct wd_yaml_node *root)
{
	const struct wd_yaml_node *models =
	    wd_yaml_get(r->yaml, root, "models");
	const struct wd_yaml_node *m, *alias;
	enum wd_status st = read_map(r, no_text, root);

	r->listing->entries = 1;
	if (models == NULL || models->kind != WD_YAML_LIST)
		return st;
	r->listing->entries = models->count;
	for (m = wd_yaml_first(r->yaml, models); m != NULL && st == WD_OK;
	     m = wd_yaml_next(r->yaml, m)) {
		alias = wd_yaml_get(r->yaml, m, "model_alias");
		st = read_map(r,
		    alias != NULL && alias->kind == WD_YAML_SCALAR ?
			alias->text :
			no_text,
		    m);
	}
	return st;
}

/* ---- llama-swap ----------------------------------------------------------
 */

/* README.md, "macros": ${NAME} stands for a text of the list. `*len` is what it
 * takes up at `at`. */
static const struct wd_yaml_node *
macro_at(const struct reading *r, struct wd_slice text, size_t at, size_t *len)
{
	size_t left = text.len - at;
	const struct wd_yaml_node *m;
	const uint8_t *end;

	if (r->macros == NULL || left < 4 || text.data[at] != '$' ||
	    text.data[at + 1] != '{')
		return NULL;
	end = memchr(
	    text.data + at, '}', left < MAX_MACRO_NAME ? left : MAX_MACRO_NAME);
	if (end == NULL)
		return NULL;
	*len = (size_t)(end - (text.data + at)) + 1;
	for (m = wd_yaml_first(r->yaml, r->macros); m != NULL;
	     m = wd_yaml_next(r->yaml, m))
		if (m->kind == WD_YAML_SCALAR && m->key.len == *len - 3 &&
		    memcmp(m->key.data, text.data + at + 2, m->key.len) == 0)
			return m;
	return NULL;
}

static void
expand(const struct reading *r, struct wd_slice command, struct wd_buf *line)
{
	size_t at, len = 0;

	for (at = 0; at < command.len && line->status == WD_OK; at++) {
		const struct wd_yaml_node *macro =
		    macro_at(r, command, at, &len);

		if (macro == NULL) {
			(void)wd_buf_byte(line, command.data[at]);
			continue;
		}
		(void)wd_buf_append(line, macro->text.data, macro->text.len);
		at += len - 1;
	}
}

/* Once: a macro within a macro stays, and the value it stands in is left
 * out. */
static enum wd_status
read_command(struct reading *r, struct wd_slice entry, struct wd_slice command)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf line;

	wd_buf_init(&line, r->room);
	expand(r, command, &line);
	if (line.status == WD_LIMIT) {
		r->listing->complete = false;
		return WD_OK;
	}
	if (line.status != WD_OK)
		return line.status;
	r->room -= line.len;
	return wd_listing_command(
	    r->listing, entry, wd_buf_slice(&line), r->err);
}

/* More macros than anybody writes would cost time for each `$`. */
static void
find_macros(struct reading *r, const struct wd_yaml_node *root)
{
	r->macros = wd_yaml_get(r->yaml, root, "macros");
	if (r->macros != NULL && r->macros->count > MAX_MACROS)
		r->macros = NULL;
}

static enum wd_status
read_swap(struct reading *r, const struct wd_yaml_node *root)
{
	const struct wd_yaml_node *models =
	    wd_yaml_get(r->yaml, root, "models");
	const struct wd_yaml_node *m, *cmd;
	enum wd_status st = WD_OK;

	find_macros(r, root);
	if (models == NULL || models->kind != WD_YAML_MAP)
		return wd_fail(r->err, WD_MALFORMED, "it has no models");
	for (m = wd_yaml_first(r->yaml, models); m != NULL && st == WD_OK;
	     m = wd_yaml_next(r->yaml, m)) {
		r->listing->entries++;
		cmd = wd_yaml_get(r->yaml, m, "cmd");
		if (cmd != NULL && cmd->kind == WD_YAML_SCALAR)
			st = read_command(r, m->key, cmd->text);
		if (st == WD_OK)
			st = add_node(r, WD_LISTED_UPSTREAM, m->key,
			    wd_slice_text("proxy"),
			    wd_yaml_get(r->yaml, m, "proxy"));
	}
	return st;
}

/* ---- LiteLLM -------------------------------------------------------------
 */

static enum wd_status
read_proxy(const struct reading *r, const struct wd_yaml_node *root)
{
	static const char *const keys[] = { "model", "api_base" };
	const struct wd_yaml_node *list =
	    wd_yaml_get(r->yaml, root, "model_list");
	const struct wd_yaml_node *m, *name, *with;
	enum wd_status st = WD_OK;
	size_t i;

	if (list == NULL || list->kind != WD_YAML_LIST)
		return wd_fail(r->err, WD_MALFORMED, "it has no model_list");
	for (m = wd_yaml_first(r->yaml, list); m != NULL;
	     m = wd_yaml_next(r->yaml, m)) {
		r->listing->entries++;
		name = wd_yaml_get(r->yaml, m, "model_name");
		with = wd_yaml_get(r->yaml, m, "litellm_params");
		for (i = 0; i < 2 && st == WD_OK; i++)
			st = add_node(r, WD_LISTED_UPSTREAM,
			    name == NULL ? no_text : name->text,
			    wd_slice_text(keys[i]),
			    wd_yaml_get(r->yaml, with, keys[i]));
		if (st != WD_OK)
			break;
	}
	return st;
}

enum wd_status
wd_listing_yaml(struct wd_slice text, enum wd_listing_kind kind,
    struct wd_listing *listing, struct wd_error *err)
{
	WD_CLEANUP(wd_yaml_release) struct wd_yaml yaml;
	struct reading r = { &yaml, listing, err, NULL, WD_MAX_LISTING_FILE };
	const struct wd_yaml_node *root;
	enum wd_status st = wd_yaml_parse(text, "list", &yaml, err);

	if (st != WD_OK)
		return st;
	root = &yaml.nodes[0];
	if (root->kind != WD_YAML_MAP)
		return wd_fail(err, WD_MALFORMED, "its root is no map");
	if (kind == WD_LISTING_SWAP)
		return read_swap(&r, root);
	if (kind == WD_LISTING_PROXY)
		return read_proxy(&r, root);
	return read_options(&r, root);
}
