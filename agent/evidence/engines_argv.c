/*
 * Reading a command line: what is program, script, option and value.
 */
#include <string.h>

#include "base/limits.h"
#include "evidence/engines_table.h"

struct wd_slice
wd_word_base(struct wd_slice path)
{
	struct wd_slice last = path, head;

	while (wd_slice_cut(&path, '/', &head))
		last = head;
	return last;
}

bool
wd_word_contains(struct wd_slice word, const char *text)
{
	size_t len = strlen(text), i;

	for (i = 0; i + len <= word.len; i++)
		if (memcmp(word.data + i, text, len) == 0)
			return true;
	return false;
}

bool
wd_words_complete(const struct wd_process *process)
{
	struct wd_slice rest = wd_bytes_slice(&process->argv), word;
	size_t count = 0;

	if (process->argv_status != WD_OK || rest.len == 0 ||
	    process->argv_truncated || process->argv_overwritten)
		return false;
	while (count <= WD_MAX_ARGUMENTS && wd_slice_cut(&rest, 0, &word))
		count++;
	return count <= WD_MAX_ARGUMENTS;
}

bool
wd_words_next(struct wd_words *words, struct wd_slice *word)
{
	if (words->taken == WD_MAX_ARGUMENTS)
		return false;
	words->taken++;
	return wd_slice_cut(&words->rest, 0, word);
}

/* ---- interpreters -------------------------------------------------------- */

static bool
is_python(struct wd_slice program)
{
	return wd_slice_starts(program, "python") ||
	    wd_slice_starts(program, "Python") ||
	    wd_slice_starts(program, "pypy");
}

static bool
is_node(struct wd_slice program)
{
	return wd_slice_equal(program, wd_slice_text("node")) ||
	    wd_slice_equal(program, wd_slice_text("nodejs")) ||
	    wd_slice_equal(program, wd_slice_text("bun"));
}

/* One group of Python's short options (`-um MODULE`): true when the script's
 * own arguments begin behind it. */
static bool
python_option(struct wd_words *words, struct wd_slice word)
{
	struct wd_slice value = { NULL, 0 };
	size_t i;

	for (i = 1; i < word.len; i++) {
		uint8_t letter = word.data[i];

		if (letter != 'm' && letter != 'c' && letter != 'W' &&
		    letter != 'X')
			continue;
		value.data = word.data + i + 1;
		value.len = word.len - i - 1;
		if (value.len == 0)
			(void)wd_words_next(words, &value);
		if (letter == 'm')
			words->module = value;
		return letter == 'm' || letter == 'c';
	}
	return false;
}

static void
skip_python(struct wd_words *words)
{
	struct wd_slice word;

	while (wd_words_next(words, &word)) {
		if (!wd_slice_starts(word, "-") || word.len == 1) {
			words->script = word;
			return;
		}
		if (wd_slice_starts(word, "--")) {
			if (wd_slice_equal(
				word, wd_slice_text("--check-hash-based-pycs")))
				(void)wd_words_next(words, &word);
			continue;
		}
		if (python_option(words, word))
			return;
	}
}

/* node's options take their value behind '=', but for these. */
static void
skip_node(struct wd_words *words)
{
	struct wd_slice word;

	while (wd_words_next(words, &word)) {
		if (!wd_slice_starts(word, "-")) {
			words->script = word;
			return;
		}
		if (wd_word_is(NULL, word, "-e --eval -p --print"))
			return;
		if (wd_word_is(NULL, word,
			"-r --require --import --loader --env-file"))
			(void)wd_words_next(words, &word);
	}
}

struct wd_words
wd_words_of(const struct wd_process *process)
{
	struct wd_words words;
	struct wd_slice first = { NULL, 0 };

	memset(&words, 0, sizeof(words));
	if (process->argv_status == WD_OK)
		words.rest = wd_bytes_slice(&process->argv);
	(void)wd_words_next(&words, &first);
	words.program = wd_word_base(process->exe_status == WD_OK ?
		wd_bytes_slice(&process->exe_path) :
		first);
	if (process->argv_overwritten)
		return words;
	words.interpreter = is_python(words.program) || is_node(words.program);
	if (is_python(words.program))
		skip_python(&words);
	else if (is_node(words.program))
		skip_node(&words);
	return words;
}

/* ---- options ------------------------------------------------------------- */

static bool
same_byte(bool underscores, uint8_t word, uint8_t name)
{
	return word == name || (underscores && word == '_' && name == '-');
}

/* Whether `word` begins `name`; equal ones do too. */
static bool
begins(
    const struct wd_engine *engine, struct wd_slice word, struct wd_slice name)
{
	bool underscores = engine != NULL && engine->underscores &&
	    wd_slice_starts(word, "--");
	size_t i;

	if (word.len > name.len)
		return false;
	for (i = 0; i < word.len; i++)
		if (!same_byte(underscores, word.data[i], name.data[i]))
			return false;
	return true;
}

bool
wd_word_is(
    const struct wd_engine *engine, struct wd_slice word, const char *names)
{
	struct wd_slice rest = wd_slice_text(names), name;

	while (wd_slice_cut(&rest, ' ', &name))
		if (word.len == name.len && word.len > 0 &&
		    begins(engine, word, name))
			return true;
	return false;
}

/* Shorter beginnings than these would be ambiguous in any real parser. */
#define SHORTEST_ABBREVIATION 4

bool
wd_word_abbreviates(
    const struct wd_engine *engine, struct wd_slice word, const char *names)
{
	struct wd_slice rest = wd_slice_text(names), name;

	if (engine == NULL || !engine->abbreviates ||
	    word.len < SHORTEST_ABBREVIATION || !wd_slice_starts(word, "--"))
		return false;
	while (wd_slice_cut(&rest, ' ', &name))
		if (word.len < name.len && begins(engine, word, name))
			return true;
	return false;
}

bool
wd_word_cut(struct wd_slice word, struct wd_slice *name, struct wd_slice *value)
{
	*name = word;
	*value = (struct wd_slice){ NULL, 0 };
	if (!wd_slice_starts(word, "-") || word.len == 0 ||
	    memchr(word.data, '=', word.len) == NULL)
		return false;
	*value = word;
	return wd_slice_cut(value, '=', name);
}

bool
wd_words_value(const struct wd_engine *engine, struct wd_words *words,
    bool inlined, struct wd_slice *value)
{
	struct wd_words ahead = *words;

	if (inlined)
		return true;
	if (!wd_words_next(&ahead, value))
		return false;
	/* argparse never takes an option for a value; llama.cpp does. */
	if (engine != NULL && engine->abbreviates &&
	    wd_slice_starts(*value, "--"))
		return false;
	*words = ahead;
	return true;
}

const struct wd_variable *
wd_words_variable(const struct wd_process *process, const char *names)
{
	struct wd_slice rest = wd_slice_text(names), name;
	size_t i;

	while (wd_slice_cut(&rest, ' ', &name))
		for (i = 0; i < process->env_count; i++)
			if (wd_slice_equal(
				wd_slice_text(process->env[i].name), name))
				return &process->env[i];
	return NULL;
}

/* ---- JSON -----------------------------------------------------------------
 */

/* From behind a quote to the next: false without one, or with an escape. */
static bool
json_string(struct wd_slice json, size_t *at, struct wd_slice *text)
{
	bool plain = true;
	size_t start = *at;

	for (; *at < json.len && json.data[*at] != '"'; (*at)++) {
		if (json.data[*at] == '\\') {
			plain = false;
			(*at)++;
		}
	}
	if (*at >= json.len)
		return false;
	text->data = json.data + start;
	text->len = *at - start;
	return plain;
}

bool
wd_word_json(struct wd_slice json, const char *key, struct wd_slice *value)
{
	struct wd_slice name = { NULL, 0 }, text;
	bool found = false, after_colon = false;
	int64_t depth = 0;
	size_t at;

	for (at = 0; at < json.len; at++) {
		uint8_t byte = json.data[at];

		if (byte == '{' || byte == '[')
			depth++;
		else if (byte == '}' || byte == ']')
			depth--;
		if (byte == ':' || byte == ',' || byte == '{')
			after_colon = byte == ':';
		if (byte != '"')
			continue;
		at++;
		if (!json_string(json, &at, &text))
			text = (struct wd_slice){ NULL, 0 };
		if (depth != 1)
			continue;
		if (!after_colon) {
			name = text;
		} else if (wd_slice_equal(name, wd_slice_text(key))) {
			*value = text;
			found = text.len > 0;
		}
	}
	return found;
}
