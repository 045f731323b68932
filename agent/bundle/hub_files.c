#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/recipe.h"
#include "bundle/safetensors.h"

/* What Hugging Face libraries and MLX read from a model's directory. `prefix`
 * is where a settings file's members go. */
static const struct {
	const char *name;
	enum wd_file_role role;
	const char *prefix;
	enum wd_hub_tree tree;
} hub_files[] = {
#define TOKENIZER(name)                                                        \
	{                                                                      \
		name, WD_ROLE_TOKENIZER, NULL, WD_TREE_NONE                    \
	}
#define SETTINGS(stem, tree)                                                   \
	{                                                                      \
		stem ".json", WD_ROLE_SETTINGS, "bundle." stem, tree           \
	}
	SETTINGS("adapter_config", WD_TREE_NONE),
	TOKENIZER("added_tokens.json"),
	TOKENIZER("chat_template.jinja"),
	TOKENIZER("chat_template.json"),
	{ "config.json", WD_ROLE_SETTINGS, "bundle", WD_TREE_CONFIG },
	SETTINGS("generation_config", WD_TREE_NONE),
	SETTINGS("hf_quant_config", WD_TREE_MODELOPT),
	TOKENIZER("merges.txt"),
	SETTINGS("preprocessor_config", WD_TREE_NONE),
	SETTINGS("processor_config", WD_TREE_NONE),
	SETTINGS("quant_config", WD_TREE_AWQ),
	SETTINGS("quantize_config", WD_TREE_GPTQ),
	TOKENIZER("sentencepiece.bpe.model"),
	TOKENIZER("special_tokens_map.json"),
	TOKENIZER("spiece.model"),
	TOKENIZER("tekken.json"),
	TOKENIZER("tiktoken.model"),
	TOKENIZER("tokenizer.json"),
	TOKENIZER("tokenizer.model"),
	TOKENIZER("tokenizer_config.json"),
	SETTINGS("video_preprocessor_config", WD_TREE_NONE),
	TOKENIZER("vocab.json"),
	TOKENIZER("vocab.txt"),
#undef TOKENIZER
#undef SETTINGS
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static size_t
find(struct wd_slice name)
{
	size_t i;

	for (i = 0; i < COUNT(hub_files); i++)
		if (wd_slice_equal(name, wd_slice_text(hub_files[i].name)))
			break;
	return i;
}

bool
wd_hub_file_role(struct wd_slice name, enum wd_file_role *role)
{
	size_t at = find(name);

	if (at == COUNT(hub_files))
		return false;
	*role = hub_files[at].role;
	return true;
}

/* In steps, so that a tokenizer of 30 MB costs no memory. */
static enum wd_status
hash_source(const struct wd_source *source, struct wd_hasher *hasher,
    uint8_t *chunk, size_t chunk_len, struct wd_error *err)
{
	uint64_t at = 0;

	while (at < source->size_bytes) {
		uint64_t left = source->size_bytes - at;
		size_t len = left < chunk_len ? (size_t)left : chunk_len;
		enum wd_status st =
		    wd_source_exact(source, at, chunk, len, err);

		if (st != WD_OK)
			return st;
		wd_hasher_add(hasher, chunk, len);
		at += len;
	}
	return WD_OK;
}

static enum wd_status
read_tokenizer(struct wd_draft *build, const struct wd_source *source,
    struct wd_slice name, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) uint8_t *chunk = NULL;
	WD_CLEANUP(wd_hasher_free) struct wd_hasher *hasher = NULL;
	const size_t chunk_len = 65536;
	struct wd_sha256 digest;
	enum wd_status st;

	if (source->size_bytes > WD_MAX_JSON_FILE)
		return wd_fail(err, WD_LIMIT,
		    "it has %llu bytes, more than any known tokenizer",
		    (unsigned long long)source->size_bytes);
	chunk = wd_calloc(chunk_len, 1);
	if (chunk == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for the tokenizer");
	st = wd_hasher_new(&hasher, err);
	if (st == WD_OK)
		st = hash_source(source, hasher, chunk, chunk_len, err);
	if (st == WD_OK)
		st = wd_hasher_finish(hasher, &digest, err);
	if (st == WD_OK)
		st = wd_draft_part(build, name, &digest, err);
	return st;
}

static enum wd_status
keep_text(struct wd_draft *build, const json_t *root, const char *key,
    char **place, struct wd_error *err)
{
	const char *text = json_string_value(json_object_get(root, key));

	if (text == NULL)
		return WD_OK;
	return wd_draft_escaped(build, wd_slice_text(text), place, err);
}

static enum wd_status
read_settings(struct wd_draft *build, const struct wd_source *source,
    const char *prefix, json_t **root, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	enum wd_status st;

	wd_buf_init(&text, WD_MAX_JSON_FILE);
	st = wd_source_all(source, &text, err);
	if (st == WD_OK)
		st = wd_json_parse(
		    wd_buf_slice(&text), WD_MAX_JSON_MEMORY, root, err);
	if (st != WD_OK)
		return st;
	if (!json_is_object(*root))
		return wd_fail_at(
		    err, WD_MALFORMED, 0, "its root is no object");
	return wd_settings_json(build, prefix, *root, err);
}

enum wd_status
wd_hub_file_read(struct wd_draft *build, const struct wd_source *source,
    uint32_t file, struct wd_hub_trees *trees, struct wd_error *err)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	struct wd_bundle_file *entry = &build->bundle->files[file];
	struct wd_slice name = { (const uint8_t *)entry->name,
		entry->name_len };
	size_t at = find(name);
	enum wd_status st;

	entry->size_bytes = source->size_bytes;
	if (at == COUNT(hub_files))
		return wd_recipe_read(build, source, name, err);
	if (hub_files[at].role == WD_ROLE_TOKENIZER)
		return read_tokenizer(build, source, name, err);
	st = read_settings(build, source, hub_files[at].prefix, &root, err);
	if (st == WD_OK && hub_files[at].tree == WD_TREE_CONFIG)
		st = keep_text(build, root, "model_type",
		    &build->bundle->architecture, err);
	if (st == WD_OK && hub_files[at].tree != WD_TREE_NONE) {
		wd_json_free(&trees->trees[hub_files[at].tree]);
		trees->trees[hub_files[at].tree] = wd_steal(&root);
	}
	return st;
}

void
wd_hub_trees_release(struct wd_hub_trees *trees)
{
	size_t i;

	for (i = 0; i < COUNT(trees->trees); i++)
		wd_json_free(&trees->trees[i]);
}
