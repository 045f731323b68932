/*
 * What command line and environment name.
 */
#include <string.h>

#include "evidence/engines_table.h"

/* Bare words that are tried as paths, for each process. */
#define MAX_BARE 256

#define TABLES 2

struct reading {
	const struct wd_process *process;
	const struct wd_engine *engine; /* NULL: unknown */
	const struct wd_engine_option *tables[TABLES];
	bool (*take)(void *ctx, const struct wd_engine_claim *claim);
	void *ctx;
	enum wd_engine_source source;
	/* Where an option stands last, counted from 1, to tell which of its
	 * occurrences is overridden. */
	size_t last[TABLES][WD_ENGINE_MAX_OPTIONS];
	size_t position;
	unsigned bare;
	bool ended;
};

/* An option in one of the tables. */
struct place {
	const struct wd_engine_option *option; /* NULL: none */
	size_t table, index;
};

static struct place
find_place(const struct reading *r, struct wd_slice name)
{
	struct place place = { NULL, 0, 0 };
	const struct wd_engine_option *o;
	size_t t, i;

	if (!wd_slice_starts(name, "-"))
		return place;
	for (t = 0; t < TABLES; t++) {
		for (i = 0; i < WD_ENGINE_MAX_OPTIONS; i++) {
			o = &r->tables[t][i];
			if (o->names == NULL)
				break;
			if (o->use != WD_ENGINE_NO_USE &&
			    wd_word_is(r->engine, name, o->names))
				return (struct place){ o, t, i };
		}
	}
	return place;
}

/* ---- values ---------------------------------------------------------------
 */

static void
emit(struct reading *r, struct wd_engine_claim claim, struct wd_slice value)
{
	claim.value = value;
	if (!r->ended && value.len > 0)
		r->ended = !r->take(r->ctx, &claim);
}

/* FILE:SCALE without the scale. */
static struct wd_slice
without_scale(struct wd_slice value)
{
	size_t i;

	for (i = value.len; i > 0; i--) {
		uint8_t byte = value.data[i - 1];

		if (byte == ':') {
			value.len = i == value.len ? value.len : i - 1;
			return value;
		}
		if (memchr("0123456789.+-eE", byte, 15) == NULL)
			return value;
	}
	return value;
}

/* FILE, NAME=FILE, or JSON as vLLM and SGLang take it. */
static struct wd_slice
without_name(struct wd_slice value)
{
	struct wd_slice rest = value, name, path = { NULL, 0 };

	if (wd_slice_starts(value, "{")) {
		if (!wd_word_json(value, "path", &path))
			(void)wd_word_json(value, "lora_path", &path);
		return path;
	}
	if (memchr(value.data, '=', value.len) == NULL)
		return value;
	(void)wd_slice_cut(&rest, '=', &name);
	return rest;
}

static void
emit_list(struct reading *r, struct wd_engine_claim claim, bool scaled,
    struct wd_slice value)
{
	struct wd_slice item;

	while (!r->ended && wd_slice_cut(&value, ',', &item))
		emit(r, claim, scaled ? without_scale(item) : item);
}

static void
emit_value(struct reading *r, const struct wd_engine_option *option,
    struct wd_engine_claim claim, struct wd_slice value)
{
	struct wd_slice model = { NULL, 0 };

	if (value.len == 0)
		return;
	switch (option->shape) {
	case WD_SHAPE_PLAIN:
		emit(r, claim, value);
		break;
	case WD_SHAPE_COMMAS:
	case WD_SHAPE_SCALED:
		emit_list(r, claim, option->shape == WD_SHAPE_SCALED, value);
		break;
	case WD_SHAPE_NAMED:
		emit(r, claim, without_name(value));
		break;
	case WD_SHAPE_JSON:
		if (wd_word_json(value, "model", &model))
			emit(r, claim, model);
		break;
	}
}

/* ---- command line ---------------------------------------------------------
 */

/* Values up to the next option. */
static void
take_many(struct reading *r, const struct wd_engine_option *option,
    struct wd_engine_claim claim, struct wd_words *words)
{
	struct wd_words ahead = *words;
	struct wd_slice value;

	while (!r->ended && wd_words_next(&ahead, &value) &&
	    !wd_slice_starts(value, "-")) {
		*words = ahead;
		emit_value(r, option, claim, value);
	}
}

static bool
is_overridden(const struct reading *r, const struct place *place)
{
	if (place->option->form != WD_FORM_VALUE)
		return false;
	if (r->engine != NULL && r->engine->environment_wins &&
	    wd_words_variable(r->process, place->option->environment) != NULL)
		return true;
	return r->last[place->table][place->index] != r->position;
}

static void
take_option(struct reading *r, const struct place *place,
    struct wd_words *words, struct wd_slice name, bool inlined,
    struct wd_slice value)
{
	struct wd_engine_claim claim;

	memset(&claim, 0, sizeof(claim));
	claim.source = r->source;
	claim.use = place->option->use;
	claim.key = name;
	claim.known = true;
	claim.overridden = is_overridden(r, place);
	if (place->option->form == WD_FORM_ALONE)
		return;
	if (place->option->form == WD_FORM_MANY && !inlined)
		take_many(r, place->option, claim, words);
	else if (wd_words_value(r->engine, words, inlined, &value))
		emit_value(r, place->option, claim, value);
}

/* A word that is no known option: it counts when it leads to weights. */
static void
take_bare(struct reading *r, struct wd_slice name, bool inlined,
    struct wd_slice word, struct wd_slice value)
{
	struct wd_engine_claim claim;

	memset(&claim, 0, sizeof(claim));
	claim.source = r->source;
	claim.use = WD_ENGINE_MODEL;
	if (inlined)
		claim.key = name;
	else if (wd_slice_starts(word, "-"))
		return;
	if (word.len == 0 || ++r->bare > MAX_BARE)
		return;
	emit(r, claim, inlined ? value : word);
}

/* `vllm serve MODEL`, `trtllm-serve MODEL`. */
static void
take_positional(struct reading *r, struct wd_words *words)
{
	struct wd_words ahead = *words;
	struct wd_engine_claim claim;
	struct wd_slice word;

	if (r->engine == NULL || !r->engine->positional_model ||
	    !wd_words_next(&ahead, &word))
		return;
	if (wd_slice_equal(word, wd_slice_text("serve")) &&
	    !wd_words_next(&ahead, &word))
		return;
	if (wd_slice_starts(word, "-") ||
	    wd_slice_equal(word, wd_slice_text("disaggregated")))
		return;
	*words = ahead;
	memset(&claim, 0, sizeof(claim));
	claim.source = r->source;
	claim.use = WD_ENGINE_MODEL;
	claim.known = true;
	emit(r, claim, word);
}

/* Notes where each option stands last; skips its value as the reading does. */
static void
find_last(struct reading *r)
{
	struct wd_words words = wd_words_of(r->process);
	struct wd_slice word, name, value;
	size_t position = 0;

	while (wd_words_next(&words, &word)) {
		bool inlined = wd_word_cut(word, &name, &value);
		struct place place = find_place(r, name);

		position = words.taken;
		if (place.option == NULL)
			continue;
		r->last[place.table][place.index] = position;
		if (place.option->form == WD_FORM_VALUE)
			(void)wd_words_value(
			    r->engine, &words, inlined, &value);
	}
}

static void
take_command_line(struct reading *r)
{
	struct wd_words words = wd_words_of(r->process);
	struct wd_slice word, name, value;

	r->source =
	    r->process->argv_overwritten ? WD_ENGINE_TITLE : WD_ENGINE_ARGV;
	take_positional(r, &words);
	while (!r->ended && wd_words_next(&words, &word)) {
		bool inlined = wd_word_cut(word, &name, &value);
		struct place place = find_place(r, name);

		r->position = words.taken;
		if (place.option != NULL)
			take_option(r, &place, &words, name, inlined, value);
		else
			take_bare(r, name, inlined, word, value);
	}
}

/* ---- environment ----------------------------------------------------------
 */

static void
take_variable(struct reading *r, const struct wd_variable *variable)
{
	struct wd_slice name = wd_slice_text(variable->name);
	struct wd_engine_claim claim;
	size_t t, i;

	memset(&claim, 0, sizeof(claim));
	claim.source = WD_ENGINE_ENVIRONMENT;
	claim.key = name;
	claim.known = true;
	for (t = 0; t < TABLES; t++) {
		for (i = 0; i < WD_ENGINE_MAX_OPTIONS; i++) {
			const struct wd_engine_option *o = &r->tables[t][i];

			if (o->names == NULL)
				break;
			if (o->use == WD_ENGINE_NO_USE ||
			    !wd_word_is(NULL, name, o->environment))
				continue;
			claim.use = o->use;
			claim.overridden = r->last[t][i] != 0 &&
			    !(r->engine != NULL && r->engine->environment_wins);
			emit_value(
			    r, o, claim, wd_bytes_slice(&variable->value));
			return;
		}
	}
}

bool
wd_engine_claims(const struct wd_process *process,
    bool (*take)(void *ctx, const struct wd_engine_claim *claim), void *ctx)
{
	struct wd_recognition found = wd_engine_recognise(process);
	struct reading r;
	size_t i;

	memset(&r, 0, sizeof(r));
	r.process = process;
	r.engine = found.engine;
	r.take = take;
	r.ctx = ctx;
	r.tables[0] =
	    found.engine == NULL ? wd_no_options : found.engine->options;
	/* Words make no claim disappear. */
	r.tables[1] = found.how == WD_ENGINE_BY_PROGRAM ? wd_no_options :
							  wd_generic_options;
	find_last(&r);
	take_command_line(&r);
	for (i = 0; i < process->env_count && !r.ended; i++)
		take_variable(&r, &process->env[i]);
	return wd_words_complete(process) && process->env_status == WD_OK;
}
