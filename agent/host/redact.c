#include "host/redact.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

/* ---- names --------------------------------------------------------------- */

/* A '*' at the end stands for any rest. Engines' own variables, where model
 * caches are, which devices are visible, and what socket activation set. */
static const char *const chosen_names[] = {
	"LLAMA_ARG_*",
	"LLAMA_CACHE",
	"LLAMA_SERVER_*",
	"LLAMA_LOG_*",
	"GGML_*",
	"HF_HOME",
	"HF_HUB_*",
	"HF_ENDPOINT",
	"HF_MODEL_ID",
	"HF_REVISION",
	"HF_TOKEN",
	"HF_TOKEN_PATH",
	"HUGGINGFACE_HUB_CACHE",
	"HUGGING_FACE_HUB_TOKEN",
	"TRANSFORMERS_CACHE",
	"TRANSFORMERS_OFFLINE",
	"XDG_CACHE_HOME",
	"HOME",
	"OLLAMA_*",
	"VLLM_*",
	"SGLANG_*",
	"MLX_*",
	"LMSTUDIO_*",
	"LOCALAI_*",
	"TGI_*",
	"MODEL",
	"MODEL_*",
	"MODEL_ID",
	"MODELS_*",
	"REVISION",
	"QUANTIZE",
	"SERVED_MODEL_NAME",
	"DTYPE",
	"KV_CACHE_DTYPE",
	"NUM_SHARD",
	"SPECULATE",
	"MAX_TOTAL_TOKENS",
	"MAX_BATCH_PREFILL_TOKENS",
	"MAX_BATCH_SIZE",
	"ROPE_SCALING",
	"ROPE_FACTOR",
	"LORA_ADAPTERS",
	"WEIGHTS_CACHE_OVERRIDE",
	"CUDA_VISIBLE_DEVICES",
	"NVIDIA_VISIBLE_DEVICES",
	"ROCR_VISIBLE_DEVICES",
	"HIP_VISIBLE_DEVICES",
	"ZE_AFFINITY_MASK",
	"LISTEN_FDS",
	"LISTEN_PID",
	"LISTEN_FDNAMES",
	"NOTIFY_SOCKET",
	"RANK",
	"WORLD_SIZE",
	"LOCAL_RANK",
};

bool
wd_env_name_chosen(struct wd_slice name)
{
	size_t i, len;

	for (i = 0; i < sizeof(chosen_names) / sizeof(chosen_names[0]); i++) {
		len = strlen(chosen_names[i]);
		if (chosen_names[i][len - 1] == '*') {
			if (name.len >= len - 1 &&
			    memcmp(name.data, chosen_names[i], len - 1) == 0)
				return true;
		} else if (wd_slice_equal(
			       name, wd_slice_text(chosen_names[i]))) {
			return true;
		}
	}
	return false;
}

static bool
part_is(struct wd_slice part, const char *const *words)
{
	for (; *words != NULL; words++)
		if (part.len == strlen(*words) &&
		    memcmp(part.data, *words, part.len) == 0)
			return true;
	return false;
}

/* A name in lower case with '_' for '-', cut into its parts. */
#define NAME_BYTES 96
#define NAME_PARTS 16

struct name_parts {
	char text[NAME_BYTES];
	struct wd_slice parts[NAME_PARTS];
	size_t count;
};

static bool
split_name(struct wd_slice name, struct name_parts *split)
{
	struct wd_slice rest, part;
	size_t i;

	while (name.len > 0 && name.data[0] == '-') {
		name.data++;
		name.len--;
	}
	if (name.len == 0 || name.len > NAME_BYTES)
		return false;
	for (i = 0; i < name.len; i++) {
		uint8_t byte = name.data[i];

		if (!isalnum(byte) && byte != '-' && byte != '_')
			return false;
		split->text[i] = byte == '-' ? '_' : (char)tolower((int)byte);
	}
	split->count = 0;
	rest = (struct wd_slice){ (const uint8_t *)split->text, name.len };
	while (split->count < NAME_PARTS && wd_slice_cut(&rest, '_', &part))
		if (part.len > 0)
			split->parts[split->count++] = part;
	return split->count > 0;
}

/* Nouns that make a name speak *about* a secret, or of text tokens. */
static bool
is_harmless(const struct name_parts *split)
{
	static const char *const last[] = { "path", "file", "files", "dir",
		"limit", "count", "id", "ids", "index", "len", "length", "size",
		"budget", "ratio", "type", "name", "header", "env", "url",
		"endpoint", "disabled", "required", "enabled", NULL };
	static const char *const first[] = { "bos", "eos", "pad", "unk", "mask",
		"sep", "cls", "image", "stop", "max", "min", "num", "n", "no",
		"per", "special", NULL };

	return part_is(split->parts[split->count - 1], last) ||
	    (split->count > 1 && part_is(split->parts[0], first));
}

bool
wd_name_is_secret(struct wd_slice name)
{
	static const char *const alone[] = { "token", "secret", "secrets",
		"password", "passwd", "passphrase", "apikey", "apikeys", "hft",
		"credential", "credentials", "authtoken", "authorization",
		"accesstoken", "bearer", NULL };
	static const char *const before_key[] = { "api", "secret", "access",
		"private", "auth", "encryption", "signing", "license",
		"service", "master", "admin", "ssh", NULL };
	static const char *const keys[] = { "key", "keys", NULL };
	struct name_parts split;
	size_t i;

	if (!split_name(name, &split) || is_harmless(&split))
		return false;
	for (i = 0; i < split.count; i++) {
		if (part_is(split.parts[i], alone))
			return true;
		if (i > 0 && part_is(split.parts[i], keys) &&
		    part_is(split.parts[i - 1], before_key))
			return true;
	}
	return false;
}

/* ---- words --------------------------------------------------------------- */

static bool
is_separator(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Ends a value within a word. */
static bool
ends_value(uint8_t byte)
{
	return is_separator(byte) || byte == '&' || byte == ',' ||
	    byte == ';' || byte == '"' || byte == '\'' || byte == '}' ||
	    byte == ')' || byte == '\0';
}

static bool
is_name_byte(uint8_t byte)
{
	return isalnum(byte) || byte == '-' || byte == '_';
}

struct redactor {
	struct wd_slice text; /* one argument */
	size_t at;
	struct wd_buf *out;
	bool any;
	bool next_is_secret; /* the next word is a value to replace */
};

static void
replace(struct redactor *r)
{
	wd_buf_text(r->out, WD_REDACTED);
	r->any = true;
}

static size_t
value_end(const struct redactor *r, size_t from)
{
	while (from < r->text.len && !ends_value(r->text.data[from]))
		from++;
	return from;
}

static size_t
word_end(const struct redactor *r, size_t from)
{
	while (from < r->text.len && !is_separator(r->text.data[from]))
		from++;
	return from;
}

/* Keys that providers hand out have a telling beginning and are then letters
 * and digits to the end; a word that goes on with '.' or '/' is a path. */
static bool
looks_like_key(struct wd_slice word)
{
	static const struct {
		const char *start;
		size_t least; /* bytes behind it */
	} known[] = { { "hf_", 8 }, { "sk-", 8 }, { "ghp_", 16 },
		{ "gho_", 16 }, { "github_pat_", 16 }, { "glpat-", 12 },
		{ "xoxb-", 12 }, { "AKIA", 16 }, { "nvapi-", 16 },
		{ "AIza", 30 } };
	size_t i, j, start;
	bool mixed = false;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		start = strlen(known[i].start);
		if (word.len < start + known[i].least ||
		    memcmp(word.data, known[i].start, start) != 0)
			continue;
		for (j = start; j < word.len; j++) {
			if (!is_name_byte(word.data[j]))
				return false;
			mixed |= isdigit(word.data[j]) || isupper(word.data[j]);
		}
		return mixed || word.len >= start + 20;
	}
	return false;
}

/* "scheme://USER@host": replaces USER. True when something was written. */
static bool
take_url(struct redactor *r)
{
	size_t i, end = word_end(r, r->at), at = 0;

	if (r->text.len - r->at < 3 ||
	    memcmp(r->text.data + r->at, "://", 3) != 0)
		return false;
	for (i = r->at + 3; i < end; i++) {
		uint8_t byte = r->text.data[i];

		if (byte == '/' || byte == '?' || byte == '#')
			break;
		if (byte == '@')
			at = i;
	}
	if (at == 0)
		return false;
	wd_buf_text(r->out, "://");
	replace(r);
	r->at = at;
	return true;
}

/* The blanks, quotes and sign between a name and its value; 0 when there is
 * no value: NAME=V, NAME: V, "NAME":"V". */
static size_t
value_start(const struct redactor *r, size_t at)
{
	const uint8_t *data = r->text.data;
	size_t len = r->text.len;

	if (at < len && (data[at] == '"' || data[at] == '\''))
		at++;
	if (at >= len || (data[at] != '=' && data[at] != ':'))
		return 0;
	at++;
	while (at < len && is_separator(data[at]))
		at++;
	if (at < len && (data[at] == '"' || data[at] == '\''))
		at++;
	return at < len ? at : 0;
}

/* "Authorization: Bearer KEY" has a word between name and value. */
static size_t
skip_scheme(const struct redactor *r, size_t at)
{
	static const char *const schemes[] = { "Bearer ", "Basic ", "Token " };
	size_t i;

	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t len = strlen(schemes[i]);

		if (r->text.len - at > len &&
		    strncasecmp(
			(const char *)r->text.data + at, schemes[i], len) == 0)
			return at + len;
	}
	return at;
}

/* A name at the start of an argument owns the whole rest of it, blanks and
 * all; unless options follow, which shows a whole command line in there. */
static size_t
assigned_end(const struct redactor *r, size_t name, size_t value)
{
	size_t i;

	for (i = 0; i < name; i++)
		if (r->text.data[i] != '-')
			return value_end(r, value);
	for (i = value; i + 1 < r->text.len; i++)
		if (is_separator(r->text.data[i]) && r->text.data[i + 1] == '-')
			return value_end(r, value);
	return r->text.len;
}

static void
copy_to(struct redactor *r, size_t end)
{
	wd_buf_append(r->out, r->text.data + r->at, end - r->at);
	r->at = end;
}

static bool
is_word(struct wd_slice name, const char *word)
{
	return name.len == strlen(word) &&
	    strncasecmp((const char *)name.data, word, name.len) == 0;
}

/* A run of name bytes: a secret's name with its value, the option before a
 * value, a key, or just text. */
static void
take_name(struct redactor *r)
{
	size_t start = r->at, end = start, value;
	struct wd_slice name;

	while (end < r->text.len && is_name_byte(r->text.data[end]))
		end++;
	name = (struct wd_slice){ r->text.data + start, end - start };
	value = wd_name_is_secret(name) ? value_start(r, end) : 0;
	if (value != 0) {
		size_t after_scheme = skip_scheme(r, value);

		copy_to(r, after_scheme);
		r->at = assigned_end(r, start, after_scheme);
		replace(r);
		return;
	}
	/* The run may go on as a path or a dotted name: then it is no key. */
	if (looks_like_key((struct wd_slice){
		r->text.data + start, value_end(r, start) - start })) {
		r->at = value_end(r, start);
		replace(r);
		return;
	}
	copy_to(r, end);
	if (end < r->text.len && is_separator(r->text.data[end]))
		r->next_is_secret = is_word(name, "bearer") ||
		    is_word(name, "basic") ||
		    (name.data[0] == '-' && wd_name_is_secret(name));
}

static void
take_argument(struct redactor *r)
{
	while (r->at < r->text.len) {
		uint8_t byte = r->text.data[r->at];

		if (r->next_is_secret && !is_separator(byte)) {
			r->next_is_secret = false;
			r->at = word_end(r, r->at);
			replace(r);
		} else if (is_name_byte(byte)) {
			take_name(r);
		} else if (byte != ':' || !take_url(r)) {
			copy_to(r, r->at + 1);
		}
	}
}

static enum wd_status
redact_text(struct wd_slice text, struct wd_buf *out, bool *any)
{
	struct redactor r = { text, 0, out, false, false };

	take_argument(&r);
	*any |= r.any;
	return out->status;
}

/* ---- whole values -------------------------------------------------------- */

static bool
is_option(struct wd_slice argument)
{
	return argument.len > 1 && argument.data[0] == '-';
}

static bool
looks_like_path(struct wd_slice argument)
{
	return argument.len > 0 &&
	    (memchr(argument.data, '/', argument.len) != NULL ||
		memchr(argument.data, '.', argument.len) != NULL);
}

static bool
is_bare_scheme(struct wd_slice argument)
{
	return is_word(argument, "bearer");
}

/* How an argument stands to the option before it. */
enum expecting {
	NOTHING,
	A_SECRET,     /* right behind a secret's option */
	MORE_SECRETS, /* options that take several values */
};

static enum expecting
redact_argument(struct wd_slice argument, enum expecting expecting,
    struct wd_buf *out, bool *any)
{
	bool replaced =
	    (expecting == A_SECRET && !wd_slice_starts(argument, "--")) ||
	    (expecting == MORE_SECRETS && !is_option(argument) &&
		!looks_like_path(argument));

	if (replaced) {
		wd_buf_text(out, WD_REDACTED);
		*any = true;
		return MORE_SECRETS;
	}
	(void)redact_text(argument, out, any);
	if ((is_option(argument) && wd_name_is_secret(argument)) ||
	    is_bare_scheme(argument))
		return A_SECRET;
	return NOTHING;
}

enum wd_status
wd_redact_argv(struct wd_bytes *argv, bool *redacted)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf out = { 0 };
	struct wd_slice rest = wd_bytes_slice(argv), argument;
	enum expecting expecting = NOTHING;
	bool ended = rest.len > 0 && rest.data[rest.len - 1] == '\0';
	bool any = false;

	wd_buf_init(&out, SIZE_MAX / 2);
	while (wd_slice_cut(&rest, '\0', &argument)) {
		expecting = redact_argument(argument, expecting, &out, &any);
		if (rest.len > 0 || ended)
			wd_buf_byte(&out, '\0');
	}
	*redacted = any;
	if (out.status != WD_OK)
		return WD_NOMEM;
	return any ? wd_bytes_set(argv, wd_buf_slice(&out)) : WD_OK;
}

enum wd_status
wd_redact_variable(struct wd_slice name, struct wd_slice value,
    struct wd_bytes *out, bool *redacted)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	bool any = false;

	wd_buf_init(&text, SIZE_MAX / 2);
	if (value.len > 0 && wd_name_is_secret(name)) {
		wd_buf_text(&text, WD_REDACTED);
		any = true;
	} else {
		(void)redact_text(value, &text, &any);
	}
	*redacted = any;
	if (text.status != WD_OK)
		return WD_NOMEM;
	return wd_bytes_set(out, wd_buf_slice(&text));
}
