#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/draft.h"

/* One object whose members are being turned into settings. The parser has
 * bounded the depth, so the stack is a fixed array. */
struct frame {
	json_t *object;
	void *at;
	size_t path_len; /* of the path before this member's key */
};

static struct frame
frame_of(const json_t *object, size_t path_len)
{
	struct frame frame = { .path_len = path_len };

	/* jansson's iterators ask for a pointer that is not const. */
	memcpy(&frame.object, &object, sizeof(frame.object));
	frame.at = json_object_iter(frame.object);
	return frame;
}

/* An empty object has no members to stand for it, so it is a value. */
static bool
has_members(const json_t *value)
{
	return json_is_object(value) && json_object_size(value) > 0;
}

static void
cut_path(struct wd_buf *path, size_t len)
{
	path->len = len;
	path->data[len] = '\0';
}

static enum wd_status
put_value(struct wd_draft *build, const struct wd_buf *path,
    const json_t *value, struct wd_error *err)
{
	wd_canon_reset(&build->canon);
	wd_canon_json(&build->canon, value);
	return wd_draft_setting(build, wd_buf_slice(path), NULL, err);
}

/* Handles the frame's present member; `*deeper` is the object to enter. */
static enum wd_status
take_member(struct wd_draft *build, struct frame *frame, struct wd_buf *path,
    const json_t **deeper, struct wd_error *err)
{
	const json_t *value = json_object_iter_value(frame->at);
	enum wd_status st;

	cut_path(path, frame->path_len);
	(void)wd_buf_byte(path, '.');
	st = wd_buf_text(path, json_object_iter_key(frame->at));
	if (st != WD_OK)
		return wd_fail(err, st, "a setting's name is too long");
	frame->at = json_object_iter_next(frame->object, frame->at);
	if (has_members(value)) {
		*deeper = value;
		return WD_OK;
	}
	return put_value(build, path, value, err);
}

enum wd_status
wd_settings_json(struct wd_draft *build, const char *prefix,
    const json_t *object, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf path;
	struct frame frames[WD_MAX_JSON_DEPTH + 1];
	size_t depth = 1;
	enum wd_status st;

	wd_buf_init(&path, WD_MAX_SETTING_TEXT);
	st = wd_buf_text(&path, prefix);
	if (st != WD_OK)
		return wd_fail(err, st, "no memory for the settings");
	frames[0] = frame_of(object, path.len);
	while (depth > 0 && st == WD_OK) {
		const json_t *deeper = NULL;

		if (frames[depth - 1].at == NULL) {
			depth--;
			continue;
		}
		st =
		    take_member(build, &frames[depth - 1], &path, &deeper, err);
		if (deeper == NULL)
			continue;
		if (depth > WD_MAX_JSON_DEPTH)
			return wd_fail(
			    err, WD_LIMIT, "the settings are nested too deep");
		frames[depth++] = frame_of(deeper, path.len);
	}
	return st;
}

static int
compare_settings(const void *a, const void *b)
{
	const struct wd_setting *left = a, *right = b;
	int order = strcmp(left->key, right->key);

	return order != 0 ? order : strcmp(left->value, right->value);
}

/* One value for settings [first, last) that have one key: theirs when they
 * agree, else one that nobody can pin by accident. {"a.b":1,"a":{"b":2}} is
 * such a case; which of the two an engine reads we do not know. */
static enum wd_status
one_value(struct wd_draft *build, size_t first, size_t last, char **value,
    struct wd_error *err)
{
	const struct wd_setting *all = build->bundle->settings;
	struct wd_slice text;
	enum wd_status st;
	size_t i;

	*value = all[first].value;
	if (strcmp(all[first].value, all[last - 1].value) == 0)
		return WD_OK;
	wd_canon_reset(&build->canon);
	wd_canon_bytes(&build->canon, "ambiguous:", 10);
	for (i = first; i < last; i++) {
		wd_canon_bytes(&build->canon, " ", 1);
		wd_canon_bytes(
		    &build->canon, all[i].value, strlen(all[i].value));
	}
	st = wd_canon_value(&build->canon, &text);
	if (st != WD_OK)
		return wd_fail(err, st, "cannot write a setting's value");
	*value = wd_arena_copy(build->bundle->arena, text);
	if (*value == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for a setting");
	return WD_OK;
}

static enum wd_status
note_ambiguous(struct wd_draft *build, const char *key, struct wd_error *err)
{
	char shown[128];

	return wd_draft_note(build, WD_NOTE_DECLARED, err,
	    "setting %s stands more than once, with different values",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(key)));
}

enum wd_status
wd_settings_order(struct wd_draft *build, struct wd_error *err)
{
	struct wd_setting *all = build->bundle->settings;
	size_t count = build->bundle->setting_count, kept = 0, first, last;

	if (count == 0)
		return WD_OK;
	qsort(all, count, sizeof(*all), compare_settings);
	for (first = 0; first < count; first = last) {
		char *value;
		enum wd_status st;

		for (last = first + 1;
		     last < count && strcmp(all[first].key, all[last].key) == 0;
		     last++)
			;
		st = one_value(build, first, last, &value, err);
		if (st == WD_OK && value != all[first].value)
			st = note_ambiguous(build, all[first].key, err);
		if (st != WD_OK)
			return st;
		all[kept] = (struct wd_setting){ all[first].key, value };
		kept++;
	}
	build->bundle->setting_count = kept;
	return WD_OK;
}
