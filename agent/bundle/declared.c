#include <string.h>

#include "base/escape.h"
#include "bundle/draft.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The member `find` looks for, at the top or in an object below it: models
 * with several parts keep it in text_config, llm_config, ... */
static const json_t *
find_in(const json_t *config, const json_t *(*find)(const json_t *object))
{
	const json_t *found = find(config);
	json_t *same;
	void *at;

	if (found != NULL || !json_is_object(config))
		return found;
	memcpy(&same, &config, sizeof(same));
	for (at = json_object_iter(same); at != NULL && found == NULL;
	     at = json_object_iter_next(same, at))
		if (json_is_object(json_object_iter_value(at)))
			found = find(json_object_iter_value(at));
	return found;
}

static const json_t *
dtype_in(const json_t *object)
{
	const json_t *value = json_object_get(object, "torch_dtype");

	return json_is_string(value) ? value : json_object_get(object, "dtype");
}

static enum wd_status
check_dtype(struct wd_draft *build, const json_t *config, struct wd_error *err)
{
	static const char *const names[][2] = { { "float16", "F16" },
		{ "bfloat16", "BF16" }, { "float32", "F32" } };
	const char *declared = json_string_value(find_in(config, dtype_in));
	const char *found = wd_draft_main_encoding(build);
	size_t i;

	if (declared == NULL || found == NULL ||
	    !build->bundle->parameters_known)
		return WD_OK;
	for (i = 0; i < COUNT(names); i++)
		if (strcmp(declared, names[i][0]) == 0 &&
		    strcmp(found, names[i][1]) != 0)
			return wd_draft_note(build, WD_NOTE_DECLARED, err,
			    "config.json says %s, but most bytes are %s",
			    declared, found);
	return WD_OK;
}

static const struct wd_tensor *
ending_with(const struct wd_bundle *bundle, const char *ending)
{
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++)
		if (wd_slice_ends(
			(struct wd_slice){
			    (const uint8_t *)bundle->tensors[i].name,
			    bundle->tensors[i].name_len },
			ending))
			return &bundle->tensors[i];
	return NULL;
}

static const json_t *
tied_in(const json_t *object)
{
	const json_t *value = json_object_get(object, "tie_word_embeddings");

	return json_is_true(value) ? value : NULL;
}

/* Tied tensors count as they are stored: once when one of them is there, twice
 * when both are, and then people should know. */
static enum wd_status
check_tied(struct wd_draft *build, const json_t *config, struct wd_error *err)
{
	const struct wd_tensor *embedding, *head;

	if (find_in(config, tied_in) == NULL)
		return WD_OK;
	embedding = ending_with(build->bundle, "embed_tokens.weight");
	head = ending_with(build->bundle, "lm_head.weight");
	if (embedding == NULL || head == NULL ||
	    embedding->elements != head->elements)
		return WD_OK;
	return wd_draft_note(build, WD_NOTE_DECLARED, err,
	    "tied: tie_word_embeddings is true, yet embeddings and head are "
	    "both stored; both are counted");
}

enum wd_status
wd_declared_check(
    struct wd_draft *build, const json_t *config, struct wd_error *err)
{
	enum wd_status st = check_dtype(build, config, err);

	return st == WD_OK ? check_tied(build, config, err) : st;
}
