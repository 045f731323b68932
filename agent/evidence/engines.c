/*
 * Recognising an engine, and what follows from it.
 */
#include "evidence/engines.h"

#include <string.h>

#include "evidence/engines_table.h"

/* ---- recognising --------------------------------------------------------- */

static bool
command_fits(struct wd_words words, const char *command)
{
	struct wd_slice word;

	return command == NULL ||
	    (wd_words_next(&words, &word) &&
		wd_slice_equal(word, wd_slice_text(command)));
}

static bool
any_word_contains(const struct wd_process *process, const char *text)
{
	struct wd_slice rest = wd_bytes_slice(&process->argv), word;
	unsigned tried;

	for (tried = 0; tried < 64 && wd_slice_cut(&rest, 0, &word); tried++)
		if (wd_word_contains(word, text))
			return true;
	return false;
}

static bool
title_fits(const struct wd_process *process, const char *text)
{
	struct wd_slice comm = wd_slice_text(process->comm),
			title = { NULL, 0 };

	if (process->argv_status == WD_OK)
		title = wd_bytes_slice(&process->argv);
	return wd_slice_starts(title, text) || wd_slice_starts(comm, text);
}

static bool
is_by_program(enum wd_mark_where where)
{
	return where == WD_MARK_PROGRAM || where == WD_MARK_PROGRAM_START;
}

static bool
mark_fits(const struct wd_process *process, const struct wd_words *words,
    const struct wd_mark *mark)
{
	struct wd_slice text = wd_slice_text(mark->text);
	bool fits = false;

	switch (mark->where) {
	case WD_MARK_PROGRAM:
		fits = wd_slice_equal(words->program, text);
		break;
	case WD_MARK_PROGRAM_START:
		fits = wd_slice_starts(words->program, mark->text);
		break;
	case WD_MARK_SCRIPT:
		fits = wd_slice_equal(wd_word_base(words->script), text);
		break;
	case WD_MARK_SCRIPT_PATH:
		fits = wd_slice_ends(words->script, mark->text);
		break;
	case WD_MARK_MODULE:
		fits = wd_slice_equal(words->module, text);
		break;
	case WD_MARK_WORD:
		fits = words->interpreter &&
		    any_word_contains(process, mark->text);
		break;
	case WD_MARK_TITLE:
		fits = title_fits(process, mark->text);
		break;
	}
	return fits && command_fits(*words, mark->command);
}

/* argv[0] is a word like the others: only the kernel names programs. */
static enum wd_engine_how
how_of(const struct wd_process *process, enum wd_mark_where where)
{
	if (is_by_program(where))
		return process->exe_status == WD_OK ? WD_ENGINE_BY_PROGRAM :
						      WD_ENGINE_BY_TITLE;
	return where == WD_MARK_TITLE ? WD_ENGINE_BY_TITLE :
					WD_ENGINE_BY_SCRIPT;
}

/* Whether a word names a model of the engine: `-m FILE`, not `-m ""`. */
static bool
word_names_model(const struct wd_engine *engine, struct wd_words *words,
    struct wd_slice word)
{
	const struct wd_engine_option *o;
	struct wd_slice name, value;
	bool inlined = wd_word_cut(word, &name, &value);

	for (o = engine->options; o->names != NULL; o++) {
		if (o->use != WD_ENGINE_MODEL ||
		    !wd_word_is(engine, name, o->names))
			continue;
		if (o->form == WD_FORM_ALONE)
			return true;
		return wd_words_value(engine, words, inlined, &value) &&
		    value.len > 0;
	}
	return false;
}

static bool
names_model(const struct wd_process *process, const struct wd_engine *engine)
{
	const struct wd_engine_option *o;
	struct wd_words words = wd_words_of(process);
	struct wd_slice word;

	for (o = engine->options; o->names != NULL; o++) {
		const struct wd_variable *variable =
		    wd_words_variable(process, o->environment);

		if (o->use == WD_ENGINE_MODEL && variable != NULL &&
		    variable->value.len > 0)
			return true;
	}
	while (wd_words_next(&words, &word))
		if (word_names_model(engine, &words, word))
			return true;
	return false;
}

/* llama-server without a model is the router; when it cannot be told whether
 * it has one it stays a server of which nothing is denied. */
static bool
is_llama_router(const struct wd_process *process)
{
	return wd_words_complete(process) && process->env_status == WD_OK &&
	    !names_model(process, &wd_engines[WD_ID_LLAMA]);
}

struct wd_recognition
wd_engine_recognise(const struct wd_process *process)
{
	struct wd_recognition found = { NULL, WD_ENGINE_UNKNOWN };
	struct wd_words words = wd_words_of(process);
	size_t i;

	for (i = 0; i < wd_mark_count && found.engine == NULL; i++) {
		if (!mark_fits(process, &words, &wd_marks[i]))
			continue;
		found.engine = &wd_engines[wd_marks[i].engine];
		found.how = how_of(process, wd_marks[i].where);
	}
	if (found.engine == &wd_engines[WD_ID_LLAMA] &&
	    is_llama_router(process))
		found.engine = &wd_engines[WD_ID_LLAMA_ROUTER];
	return found;
}

bool
wd_engine_is_own_server(const struct wd_recognition *child)
{
	return child->how == WD_ENGINE_BY_PROGRAM && child->engine->own_server;
}

bool
wd_engine_is_proxy(const struct wd_recognition *recognition)
{
	return recognition->how == WD_ENGINE_BY_PROGRAM &&
	    recognition->engine->kind == WD_ENGINE_PROXY;
}

bool
wd_engine_passes_on(const struct wd_recognition *recognition)
{
	return recognition->engine != NULL &&
	    (recognition->engine->kind == WD_ENGINE_PROXY ||
		recognition->engine->kind == WD_ENGINE_ROUTER);
}

bool
wd_engine_port_is_internal(
    const struct wd_recognition *parent, const struct wd_recognition *child)
{
	return parent->how == WD_ENGINE_BY_PROGRAM &&
	    child->how == WD_ENGINE_BY_PROGRAM &&
	    child->engine->internal_port &&
	    strcmp(parent->engine->family, child->engine->family) == 0;
}

/* ---- questions ----------------------------------------------------------- */

static bool
is_true(struct wd_slice value)
{
	return value.len > 0 &&
	    !wd_word_is(NULL, value, "0 off OFF false False FALSE no");
}

/* Not a number is above everything: it is not known to be below. */
static bool
is_above(struct wd_slice value, const char *limit)
{
	uint64_t number, least;

	if (wd_slice_starts(value, "-") && value.len > 1) {
		value.data++;
		value.len--;
		return !wd_slice_number(value, 10, &number);
	}
	return !wd_slice_number(value, 10, &number) ||
	    !wd_slice_number(wd_slice_text(limit), 10, &least) ||
	    number > least;
}

static bool
passes(const struct wd_engine_rule *rule, struct wd_slice value)
{
	switch (rule->test) {
	case WD_TEST_ALWAYS:
	case WD_TEST_GIVEN:
		return true;
	case WD_TEST_ABOVE:
		return is_above(value, rule->text);
	case WD_TEST_TRUE:
		return is_true(value);
	case WD_TEST_NOT:
		return !wd_word_is(NULL, value, rule->text);
	case WD_TEST_IS:
		return wd_word_is(NULL, value, rule->text);
	}
	return true;
}

static bool
any_option_passes(const struct wd_process *process,
    const struct wd_engine *engine, const struct wd_engine_rule *rule)
{
	struct wd_words words = wd_words_of(process);
	struct wd_slice word, name, value;

	while (wd_words_next(&words, &word)) {
		bool inlined = wd_word_cut(word, &name, &value);

		if (!wd_word_is(engine, name, rule->names) &&
		    !wd_word_abbreviates(engine, name, rule->names))
			continue;
		if (rule->test == WD_TEST_GIVEN ||
		    !wd_words_value(engine, &words, inlined, &value) ||
		    passes(rule, value))
			return true;
	}
	return false;
}

static bool
rule_applies(const struct wd_process *process, const struct wd_engine *engine,
    const struct wd_engine_rule *rule)
{
	const struct wd_variable *variable;

	if (rule->test == WD_TEST_ALWAYS)
		return true;
	variable = wd_words_variable(process, rule->environment);
	if (variable != NULL && variable->value.len > 0 &&
	    passes(rule, wd_bytes_slice(&variable->value)))
		return true;
	return any_option_passes(process, engine, rule);
}

static enum wd_tristate
without_rule(const struct wd_engine *engine, enum wd_rule_question question)
{
	switch (question) {
	case WD_ASK_MUTABLE:
		return engine->mutable;
	case WD_ASK_UPDATABLE:
		return engine->updatable;
	case WD_ASK_PARTIAL:
		return engine->partial;
	case WD_ASK_SLEEPS:
		break;
	}
	return WD_NOT_KNOWN;
}

/* Where no rule says yes: a no only of a program whose words were read. */
static enum wd_tristate
deny(const struct wd_process *process, const struct wd_recognition *found,
    enum wd_rule_question question, const char **reason)
{
	if (found->how != WD_ENGINE_BY_PROGRAM)
		*reason = "is recognised by words only, which deny nothing";
	else if (!wd_words_complete(process))
		*reason = "has a command line that could not be read whole";
	else if (process->env_status != WD_OK)
		*reason = "has an environment that could not be read";
	else if (without_rule(found->engine, question) != WD_NO)
		*reason = "is not known well enough";
	else
		return WD_NO;
	return WD_NOT_KNOWN;
}

static enum wd_tristate
answer(const struct wd_process *process, enum wd_rule_question question,
    const char **reason)
{
	struct wd_recognition found = wd_engine_recognise(process);
	const char *ignored;
	size_t i;

	if (reason == NULL)
		reason = &ignored;
	*reason = "is no engine of the table";
	if (found.engine == NULL)
		return WD_NOT_KNOWN;
	for (i = 0; i < wd_engine_rule_count; i++) {
		const struct wd_engine_rule *rule = &wd_engine_rules[i];

		if (&wd_engines[rule->engine] != found.engine ||
		    rule->question != question ||
		    !rule_applies(process, found.engine, rule))
			continue;
		*reason = rule->reason;
		return WD_YES;
	}
	*reason = NULL;
	return deny(process, &found, question, reason);
}

enum wd_tristate
wd_engine_mutable(const struct wd_process *process, const char **reason)
{
	return answer(process, WD_ASK_MUTABLE, reason);
}

enum wd_tristate
wd_engine_updatable_without_files(
    const struct wd_process *process, const char **reason)
{
	return answer(process, WD_ASK_UPDATABLE, reason);
}

enum wd_tristate
wd_engine_partial(const struct wd_process *process, const char **reason)
{
	return answer(process, WD_ASK_PARTIAL, reason);
}

enum wd_tristate
wd_engine_sleeps(const struct wd_process *process, const char **reason)
{
	return answer(process, WD_ASK_SLEEPS, reason);
}

bool
wd_engine_maps_drafts(const struct wd_process *process)
{
	struct wd_recognition found = wd_engine_recognise(process);

	return found.how == WD_ENGINE_BY_PROGRAM && found.engine->maps_drafts;
}

bool
wd_engine_may_repack(const struct wd_process *process)
{
	struct wd_recognition found = wd_engine_recognise(process);

	return found.how == WD_ENGINE_BY_PROGRAM && found.engine->may_repack;
}
