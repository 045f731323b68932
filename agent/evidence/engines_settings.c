/*
 * The options that count, as the process was started.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "evidence/engines_table.h"

/* More than any engine has keys; a longer value is no option's. */
#define MAX_KEYS 128
#define MAX_VALUE 4096

struct slot {
	struct wd_slice key, value;
	bool doubtful; /* cannot be told what is in force */
};

struct slots {
	const struct wd_engine *engine;
	struct slot items[MAX_KEYS];
	size_t count;
	bool has_file; /* a configuration file is given */
};

static struct slot *
slot_of(struct slots *slots, struct wd_slice key)
{
	size_t i;

	for (i = 0; i < slots->count; i++)
		if (wd_slice_equal(slots->items[i].key, key))
			return &slots->items[i];
	if (slots->count == MAX_KEYS)
		return NULL;
	memset(&slots->items[i], 0, sizeof(slots->items[i]));
	slots->items[i].key = key;
	slots->count++;
	return &slots->items[i];
}

/* on, off and auto as llama.cpp spells them (common/arg.cpp). */
static struct wd_slice
canonical_switch(struct wd_slice value)
{
	if (wd_word_is(NULL, value, "on true 1 enabled"))
		return wd_slice_text("on");
	if (wd_word_is(NULL, value, "off false 0 disabled"))
		return wd_slice_text("off");
	if (wd_word_is(NULL, value, "auto -1"))
		return wd_slice_text("auto");
	return (struct wd_slice){ NULL, 0 };
}

/* Options are numbers, names and JSON: printable ASCII. */
static bool
is_presentable(struct wd_slice value)
{
	size_t i;

	if (value.len == 0 || value.len > MAX_VALUE)
		return false;
	for (i = 0; i < value.len; i++)
		if (value.data[i] < 0x20 || value.data[i] > 0x7e)
			return false;
	return true;
}

/* `value` without bytes: not to be told. */
static void
put(struct slots *slots, const struct wd_engine_option *option,
    struct wd_slice value, bool again)
{
	struct wd_slice keys = wd_slice_text(option->keys), key;

	while (wd_slice_cut(&keys, ' ', &key)) {
		struct slot *slot = slot_of(slots, key);

		if (slot == NULL)
			return;
		if (!is_presentable(value) ||
		    (again && option->form == WD_FORM_ONCE &&
			slot->value.len > 0 &&
			!wd_slice_equal(slot->value, value)))
			slot->doubtful = true;
		slot->value = value;
	}
}

/* ---- environment -----------------------------------------------------------
 */

static void
put_variable(struct slots *slots, const struct wd_process *process,
    const struct wd_engine_option *option)
{
	const struct wd_variable *variable =
	    wd_words_variable(process, option->environment);
	struct wd_slice value;

	if (variable == NULL || variable->value.len == 0)
		return;
	value = wd_bytes_slice(&variable->value);
	if (option->form == WD_FORM_ALONE || option->form == WD_FORM_SWITCH)
		value = canonical_switch(value);
	if (option->use == WD_ENGINE_CONFIG)
		slots->has_file = true;
	if (option->keys != NULL)
		put(slots, option, value, false);
}

/* ---- command line ----------------------------------------------------------
 */

static struct wd_slice
switch_value(struct wd_words *words, bool inlined, struct wd_slice value)
{
	struct wd_words ahead = *words;
	struct wd_slice meant;

	if (inlined)
		return canonical_switch(value);
	if (wd_words_next(&ahead, &value)) {
		meant = canonical_switch(value);
		if (meant.len > 0) {
			*words = ahead;
			return meant;
		}
	}
	return wd_slice_text("on");
}

/* The value of the option that stands before `words`. False when it has none
 * and so changes nothing. */
static bool
value_of(const struct wd_engine *engine, const struct wd_engine_option *option,
    struct wd_words *words, bool inlined, struct wd_slice *value)
{
	switch (option->form) {
	case WD_FORM_ALONE:
		*value = option->says == NULL || inlined ?
		    (struct wd_slice){ NULL, 0 } :
		    wd_slice_text(option->says);
		return true;
	case WD_FORM_SWITCH:
		*value = switch_value(words, inlined, *value);
		return true;
	case WD_FORM_VALUE:
	case WD_FORM_ONCE:
	case WD_FORM_MANY:
		break;
	}
	return wd_words_value(engine, words, inlined, value);
}

static const struct wd_engine_option *
exact_option(const struct wd_engine *engine, struct wd_slice name)
{
	const struct wd_engine_option *o;

	for (o = engine->options; o->names != NULL; o++)
		if (wd_word_is(engine, name, o->names))
			return o;
	return NULL;
}

/* An abbreviation may mean an option that is not in the table. */
static void
doubt_abbreviated(struct slots *slots, struct wd_slice name)
{
	const struct wd_engine_option *o;

	for (o = slots->engine->options; o->names != NULL; o++) {
		if (!wd_word_abbreviates(slots->engine, name, o->names))
			continue;
		if (o->use == WD_ENGINE_CONFIG)
			slots->has_file = true;
		if (o->keys != NULL)
			put(slots, o, (struct wd_slice){ NULL, 0 }, false);
	}
}

static void
put_command_line(struct slots *slots, const struct wd_process *process)
{
	struct wd_words words = wd_words_of(process);
	struct wd_slice word, name, value;

	while (wd_words_next(&words, &word)) {
		bool inlined = wd_word_cut(word, &name, &value);
		const struct wd_engine_option *option =
		    exact_option(slots->engine, name);

		if (option == NULL) {
			doubt_abbreviated(slots, name);
			continue;
		}
		if (option->use == WD_ENGINE_CONFIG)
			slots->has_file = true;
		if (value_of(slots->engine, option, &words, inlined, &value) &&
		    option->keys != NULL)
			put(slots, option, value, true);
	}
}

/* ---- result ----------------------------------------------------------------
 */

static enum wd_status
append(struct wd_run_settings *settings, const struct slot *slot)
{
	struct wd_run_setting setting;
	enum wd_status st;

	st = wd_grow((void **)&settings->items, settings->count,
	    &settings->capacity, sizeof(setting), MAX_KEYS);
	if (st != WD_OK)
		return st;
	setting.key = wd_memdup0(slot->key.data, slot->key.len);
	setting.value = wd_memdup0(slot->value.data, slot->value.len);
	if (setting.key == NULL || setting.value == NULL) {
		wd_free(setting.key);
		wd_free(setting.value);
		return WD_NOMEM;
	}
	settings->items[settings->count++] = setting;
	return WD_OK;
}

static int
compare_settings(const void *a, const void *b)
{
	const struct wd_run_setting *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static enum wd_status
give(const struct slots *slots, struct wd_run_settings *settings)
{
	enum wd_status st;
	size_t i;

	for (i = 0; i < slots->count; i++) {
		if (slots->items[i].doubtful) {
			settings->complete = false;
			continue;
		}
		st = append(settings, &slots->items[i]);
		if (st != WD_OK)
			return st;
	}
	if (settings->count > 1)
		qsort(settings->items, settings->count,
		    sizeof(*settings->items), compare_settings);
	return WD_OK;
}

enum wd_status
wd_engine_run_settings(const struct wd_process *process,
    struct wd_run_settings *settings, struct wd_error *err)
{
	struct wd_recognition found = wd_engine_recognise(process);
	const struct wd_engine_option *o;
	struct slots slots;

	memset(settings, 0, sizeof(*settings));
	/* What an unread command line says would win over the environment. */
	if (found.engine == NULL || !wd_words_complete(process))
		return WD_OK;
	memset(&slots, 0, sizeof(slots));
	slots.engine = found.engine;
	for (o = found.engine->options; o->names != NULL; o++)
		put_variable(&slots, process, o);
	put_command_line(&slots, process);
	if (slots.has_file && !found.engine->file_below_words)
		return WD_OK;
	settings->complete = found.engine->options_whole &&
	    process->env_status == WD_OK && !slots.has_file;
	if (give(&slots, settings) != WD_OK) {
		wd_run_settings_release(settings);
		return wd_fail(err, WD_NOMEM, "run settings: out of memory");
	}
	return WD_OK;
}

void
wd_run_settings_release(struct wd_run_settings *settings)
{
	size_t i;

	for (i = 0; i < settings->count; i++) {
		wd_free(settings->items[i].key);
		wd_free(settings->items[i].value);
	}
	wd_free(settings->items);
	memset(settings, 0, sizeof(*settings));
}
