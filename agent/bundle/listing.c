#include "bundle/listing.h"

#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/arena.h"
#include "bundle/listing_parts.h"

/* A revision is 40 digits; a branch's name is no revision. */
#define MAX_REVISION 64

/* ---- items ---------------------------------------------------------------
 */

enum wd_status
wd_listing_init(struct wd_listing *listing)
{
	memset(listing, 0, sizeof(*listing));
	listing->complete = true;
	listing->arena = wd_arena_new();
	return listing->arena == NULL ? WD_NOMEM : WD_OK;
}

enum wd_status
wd_listing_put(struct wd_listing *listing, enum wd_listed_use use,
    struct wd_slice entry, struct wd_slice key, struct wd_slice value)
{
	struct wd_listed item = { .use = use };
	enum wd_status st;
	char *copy;

	if (value.len == 0 || value.len >= WD_MAX_PATH ||
	    memchr(value.data, 0, value.len) != NULL ||
	    listing->count == WD_MAX_LISTED) {
		listing->complete = false;
		return WD_OK;
	}
	st = wd_grow((void **)&listing->items, listing->count,
	    &listing->capacity, sizeof(item), WD_MAX_LISTED);
	if (st != WD_OK)
		return st;
	copy = wd_arena_copy(listing->arena, value);
	item.entry = wd_arena_copy(listing->arena, entry);
	item.key = wd_arena_copy(listing->arena, key);
	if (copy == NULL || item.entry == NULL || item.key == NULL)
		return WD_NOMEM;
	item.value = (struct wd_slice){ (const uint8_t *)copy, value.len };
	listing->items[listing->count++] = item;
	return WD_OK;
}

enum wd_status
wd_listing_add(struct wd_listing *listing, enum wd_listed_use use,
    struct wd_slice entry, struct wd_slice key, struct wd_slice value)
{
	char shown[2][256];

	(void)wd_escape_short(shown[0], sizeof(shown[0]), entry);
	(void)wd_escape_short(shown[1], sizeof(shown[1]), key);
	return wd_listing_put(listing, use, wd_slice_text(shown[0]),
	    wd_slice_text(shown[1]), value);
}

static const struct {
	const char *option;
	enum wd_listed_use use;
} options[] = {
	{ "m", WD_LISTED_MODEL },
	{ "model", WD_LISTED_MODEL },
	{ "model-path", WD_LISTED_MODEL },
	{ "model-id", WD_LISTED_MODEL },
	{ "hf", WD_LISTED_MODEL },
	{ "hfr", WD_LISTED_MODEL },
	{ "hf-repo", WD_LISTED_MODEL },
	{ "LLAMA-ARG-MODEL", WD_LISTED_MODEL },
	{ "LLAMA-ARG-HF-REPO", WD_LISTED_MODEL },
	{ "model-param", WD_LISTED_MODEL }, /* KoboldCpp */
	{ "md", WD_LISTED_DRAFT },
	{ "draftmodel", WD_LISTED_DRAFT },
	{ "model-draft", WD_LISTED_DRAFT },
	{ "spec-draft-model", WD_LISTED_DRAFT },
	{ "speculative-model", WD_LISTED_DRAFT },
	{ "speculative-draft-model-path", WD_LISTED_DRAFT },
	{ "LLAMA-ARG-MODEL-DRAFT", WD_LISTED_DRAFT },
	{ "lora", WD_LISTED_ADAPTER },
	{ "adapter-path", WD_LISTED_ADAPTER },
	{ "mm", WD_LISTED_PROJECTOR },
	{ "mmproj", WD_LISTED_PROJECTOR },
	{ "LLAMA-ARG-MMPROJ", WD_LISTED_PROJECTOR },
	{ "clip-model-path", WD_LISTED_PROJECTOR }, /* llama-cpp-python */
	{ "model-alias", WD_LISTED_NAME },
	{ "a", WD_LISTED_NAME },
	{ "alias", WD_LISTED_NAME },
	{ "served-model-name", WD_LISTED_NAME },
};

static bool
same_option(struct wd_slice written, struct wd_slice option)
{
	size_t i;

	if (written.len != option.len)
		return false;
	for (i = 0; i < written.len; i++)
		if (written.data[i] != option.data[i] &&
		    !(written.data[i] == '_' && option.data[i] == '-'))
			return false;
	return true;
}

bool
wd_listing_option(struct wd_slice option, enum wd_listed_use *use)
{
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!same_option(option, wd_slice_text(options[i].option)))
			continue;
		*use = options[i].use;
		return true;
	}
	return false;
}

/* ---- a branch of a hub cache ----------------------------------------------
 */

bool
wd_listing_is_revision(struct wd_slice text)
{
	size_t i;

	if (text.len > MAX_REVISION || !wd_folder_name_allowed(text))
		return false;
	for (i = 0; i < text.len; i++)
		if (memchr("0123456789abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-",
			text.data[i], 65) == NULL)
			return false;
	return true;
}

static enum wd_status
read_ref(struct wd_slice text, struct wd_listing *listing, struct wd_error *err)
{
	static const struct wd_slice none;

	while (text.len > 0 &&
	    (text.data[text.len - 1] == '\n' ||
		text.data[text.len - 1] == '\r'))
		text.len--;
	if (!wd_listing_is_revision(text))
		return wd_fail_at(
		    err, WD_MALFORMED, 0, "it does not hold one revision");
	listing->entries = 1;
	return wd_listing_add(listing, WD_LISTED_REVISION, none, none, text);
}

/* ---- a tag of an Ollama store ---------------------------------------------
 */

bool
wd_listing_is_digest(struct wd_slice text)
{
	size_t i;

	if (text.len != 71 || !wd_slice_starts(text, "sha256:"))
		return false;
	for (i = 7; i < text.len; i++)
		if (memchr("0123456789abcdef", text.data[i], 16) == NULL)
			return false;
	return true;
}

static bool
layer_use(const char *type, enum wd_listed_use *use)
{
	static const struct {
		const char *type;
		enum wd_listed_use use;
	} types[] = {
		{ "application/vnd.ollama.image.model", WD_LISTED_MODEL },
		{ "application/vnd.ollama.image.adapter", WD_LISTED_ADAPTER },
		{ "application/vnd.ollama.image.projector",
		    WD_LISTED_PROJECTOR },
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i].type) != 0)
			continue;
		*use = types[i].use;
		return true;
	}
	return false;
}

static enum wd_status
read_layer(
    const json_t *layer, struct wd_listing *listing, struct wd_error *err)
{
	static const struct wd_slice none;
	const char *type =
	    json_string_value(json_object_get(layer, "mediaType"));
	const char *digest =
	    json_string_value(json_object_get(layer, "digest"));
	enum wd_listed_use use;

	if (type == NULL || digest == NULL)
		return wd_fail(
		    err, WD_MALFORMED, "a layer has no mediaType or no digest");
	if (!layer_use(type, &use))
		return WD_OK;
	if (!wd_listing_is_digest(wd_slice_text(digest)))
		return wd_fail(
		    err, WD_MALFORMED, "the digest of a layer is no SHA-256");
	return wd_listing_add(listing, use, none, none, wd_slice_text(digest));
}

static enum wd_status
read_manifest(
    struct wd_slice text, struct wd_listing *listing, struct wd_error *err)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	const json_t *layers, *layer;
	enum wd_status st =
	    wd_json_parse(text, 16 * WD_MAX_LISTING_FILE, &root, err);
	size_t i;

	if (st != WD_OK)
		return st;
	layers = json_object_get(root, "layers");
	if (!json_is_array(layers))
		return wd_fail(err, WD_MALFORMED, "the manifest has no layers");
	listing->entries = 1;
	json_array_foreach(layers, i, layer)
	{
		st = read_layer(layer, listing, err);
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

/* ---- any -----------------------------------------------------------------
 */

static enum wd_status
read_kind(struct wd_slice text, enum wd_listing_kind kind,
    struct wd_listing *listing, struct wd_error *err)
{
	switch (kind) {
	case WD_LISTING_REF:
		return read_ref(text, listing, err);
	case WD_LISTING_MANIFEST:
		return read_manifest(text, listing, err);
	case WD_LISTING_PRESET:
		return wd_listing_preset(text, listing, err);
	case WD_LISTING_OPTIONS:
	case WD_LISTING_SWAP:
	case WD_LISTING_PROXY:
		return wd_listing_yaml(text, kind, listing, err);
	}
	return wd_fail(err, WD_INVALID, "an unknown kind of list");
}

enum wd_status
wd_listing_read(const struct wd_source *source, enum wd_listing_kind kind,
    struct wd_listing *listing, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	enum wd_status st;

	memset(listing, 0, sizeof(*listing));
	wd_buf_init(&text, WD_MAX_LISTING_FILE);
	st = wd_source_all(source, &text, err);
	if (st != WD_OK)
		return st;
	st = wd_listing_init(listing);
	if (st == WD_OK)
		st = read_kind(wd_buf_slice(&text), kind, listing, err);
	if (st == WD_OK)
		return WD_OK;
	wd_listing_release(listing);
	return st == WD_NOMEM ? wd_fail(err, st, "no memory for a list") : st;
}

void
wd_listing_release(struct wd_listing *listing)
{
	wd_free(listing->items);
	wd_arena_free(&listing->arena);
	memset(listing, 0, sizeof(*listing));
}
