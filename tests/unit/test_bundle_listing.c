/* Files that say what a name leads to: what is taken from them, and that
 * nothing else is. */
#include "bundle/listing.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "support/suite.h"

#define HEX "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LAYER(type, digest)                                                    \
	"{\"mediaType\": \"application/vnd.ollama.image." type                 \
	"\", \"digest\": \"" digest "\"}"

static struct wd_listing listing;
static struct wd_error err;

static void
set_up(void)
{
	wd_error_init(&err);
	memset(&listing, 0, sizeof(listing));
}

static void
tear_down(void)
{
	wd_listing_release(&listing);
}

static enum wd_status
read_text(enum wd_listing_kind kind, struct wd_slice text)
{
	struct wd_source source = wd_source_memory(&text);

	wd_listing_release(&listing);
	return wd_listing_read(&source, kind, &listing, &err);
}

/* "USE ENTRY KEY VALUE;" of each item. */
static const char *
shown(void)
{
	static const char uses[] = "RMDAPNU";
	static char out[4096];
	size_t i, len = 0;

	out[0] = '\0';
	for (i = 0; i < listing.count; i++) {
		const struct wd_listed *item = &listing.items[i];

		len += (size_t)snprintf(out + len, sizeof(out) - len,
		    "%c %s %s %.*s;", uses[item->use], item->entry, item->key,
		    (int)item->value.len, (const char *)item->value.data);
		ck_assert_uint_lt(len, sizeof(out));
	}
	return out;
}

static const struct {
	enum wd_listing_kind kind;
	const char *text, *items;
	size_t entries;
	bool complete;
} good[] = {
	{ WD_LISTING_REF, "0123abc\n", "R   0123abc;", 1, true },
	{ WD_LISTING_REF, "v1.0_x-Y", "R   v1.0_x-Y;", 1, true },
	{ WD_LISTING_MANIFEST,
	    "{\"schemaVersion\": 2, \"config\": {\"digest\": \"x\"},"
	    " \"layers\": [" LAYER("model", "sha256:" HEX) ", " LAYER(
		"license", "sha256:") ", " LAYER("projector",
		"sha256:" HEX) ", " LAYER("adapter", "sha256:" HEX) "]}",
	    "M   sha256:" HEX ";P   sha256:" HEX ";A   sha256:" HEX ";", 1,
	    true },
	{ WD_LISTING_MANIFEST, "{\"layers\": []}", "", 1, true },
	{ WD_LISTING_PRESET,
	    "version = 1\n; m = no\n#m = no\n[*]\nc = 1\n\n"
	    "[org/name:Q8_0]\nc = 4096\r\n[ small ]\n"
	    "  model = /m/a b.gguf \nmmproj=/m/p.gguf\nLLAMA_ARG_ALIAS = x\n"
	    "alias = x\n[by-env]\nLLAMA_ARG_MODEL = /m/e.gguf",
	    "M org/name:Q8_0  org/name:Q8_0;M small model /m/a b.gguf;"
	    "P small mmproj /m/p.gguf;N small alias x;"
	    "M by-env LLAMA_ARG_MODEL /m/e.gguf;",
	    3, true },
	{ WD_LISTING_PRESET, "", "", 0, true },
	{ WD_LISTING_PRESET, "[a]\nmodel =\n", "", 1, false },
	{ WD_LISTING_OPTIONS,
	    "model: org/name\nport: 8000\nserved_model_name: x\n"
	    "api-key: s3cr3t\nspeculative-config:\n  model: d\n  n: 5\n",
	    "M  model org/name;N  served_model_name x;"
	    "D  speculative-config d;",
	    1, true },
	/* KoboldCpp's .kcpps */
	{ WD_LISTING_OPTIONS,
	    "{\"model\": null, \"model_param\": \"/m/a.gguf\", \"port\": 5001,"
	    " \"mmproj\": \"\", \"lora\": [\"/m/l.gguf\", \"\"],"
	    " \"draftmodel\": \"/m/d.gguf\", \"password\": \"s3cr3t\"}",
	    "M  model_param /m/a.gguf;A  lora /m/l.gguf;"
	    "D  draftmodel /m/d.gguf;",
	    1, true },
	/* TensorRT-LLM */
	{ WD_LISTING_OPTIONS,
	    "max_batch_size: 8\nspeculative_config:\n"
	    "  decoding_type: Eagle\n  speculative_model_dir: /m/e\n",
	    "D  speculative_config /m/e;", 1, true },
	{ WD_LISTING_OPTIONS,
	    "speculative_config: {speculative_model: org/d, model: ~}\n",
	    "D  speculative_config org/d;", 1, true },
	/* llama-cpp-python */
	{ WD_LISTING_OPTIONS,
	    "{\"host\": \"::\", \"models\": [{\"model\": \"/m/a.gguf\","
	    " \"model_alias\": \"a\", \"clip_model_path\": \"/m/c.gguf\"},"
	    " {\"model\": \"/m/b.gguf\"}, 5]}",
	    "M a model /m/a.gguf;N a model_alias a;"
	    "P a clip_model_path /m/c.gguf;M  model /m/b.gguf;",
	    3, true },
	/* A word in quotes is a name, whatever it says. */
	{ WD_LISTING_OPTIONS, "model: \"null\"\nlora: {a: b}\n",
	    "M  model null;", 1, true },
	{ WD_LISTING_SWAP,
	    "macros:\n  dir: /m\n  deep: ${dir}/x\nmodels:\n  q:\n    cmd: |\n"
	    "      llama-server --port ${PORT}\n"
	    "      -m \"${dir}/a b.gguf\" \\\n      --alias x\n"
	    "    proxy: http://127.0.0.1:9\n"
	    "  v:\n    cmd: vllm serve org/name --api-key s3cr3t\n"
	    "  o: {cmd: ollama serve --x}\n"
	    "  i: {cmd: \"s --model=/m/i.gguf -md '/m/d$.gguf'\"}\n"
	    "  d: {cmd: \"s -m ${deep}\"}\n",
	    "M q -m /m/a b.gguf;N q --alias x;U q proxy http://127.0.0.1:9;"
	    "M v serve org/name;M i --model /m/i.gguf;",
	    5, false },
	{ WD_LISTING_PROXY,
	    "model_list:\n- model_name: gpt\n  litellm_params:\n"
	    "    model: openai/q\n    api_base: http://box:8080/v1\n"
	    "    api_key: s3cr3t\n- model_name: b\n"
	    "  litellm_params: {model: ollama/b}\n- 5\n",
	    "U gpt model openai/q;U gpt api_base http://box:8080/v1;"
	    "U b model ollama/b;",
	    3, true },
	{ WD_LISTING_PROXY,
	    "model_list:\n- litellm_params:\n"
	    "    api_base: http://me:s3cr3t@box/v1\n",
	    "", 1, false },
	/* An address behind the first slash is none. */
	{ WD_LISTING_PROXY,
	    "model_list:\n- litellm_params:\n    api_base: http://box/@x\n",
	    "U  api_base http://box/@x;", 1, true },
};

START_TEST(what_is_taken)
{
	ck_assert_msg(
	    read_text(good[_i].kind, wd_slice_text(good[_i].text)) == WD_OK,
	    "%s", err.message);
	ck_assert_str_eq(shown(), good[_i].items);
	ck_assert_uint_eq(listing.entries, good[_i].entries);
	ck_assert_int_eq(listing.complete, good[_i].complete);
}
END_TEST

static const struct {
	enum wd_listing_kind kind;
	const char *text;
} bad[] = {
	{ WD_LISTING_REF, "" },
	{ WD_LISTING_REF, "\n" },
	{ WD_LISTING_REF, ".." },
	{ WD_LISTING_REF, "a/b" },
	{ WD_LISTING_REF, "a b" },
	{ WD_LISTING_REF, "a\nb" },
	{ WD_LISTING_REF,
	    "0123456789012345678901234567890123456789012345678901234567890"
	    "1234" },
	{ WD_LISTING_MANIFEST, "{}" },
	{ WD_LISTING_MANIFEST, "[]" },
	{ WD_LISTING_MANIFEST, "{\"layers\": {}}" },
	{ WD_LISTING_MANIFEST, "{\"layers\": [5]}" },
	{ WD_LISTING_MANIFEST, "{\"layers\": [{\"mediaType\": \"x\"}]}" },
	{ WD_LISTING_MANIFEST,
	    "{\"layers\": [" LAYER("model", "sha256:../../x") "]}" },
	{ WD_LISTING_MANIFEST,
	    "{\"layers\": [" LAYER("model", "sha512:" HEX) "]}" },
	{ WD_LISTING_MANIFEST,
	    "{\"layers\": [" LAYER("model", "sha256:" HEX "a") "]}" },
	{ WD_LISTING_PRESET, "[a\n" },
	{ WD_LISTING_OPTIONS, "- model: x\n" },
	{ WD_LISTING_OPTIONS, "model: x\nmodel: y\n" },
	{ WD_LISTING_SWAP, "models: [a]\n" },
	{ WD_LISTING_SWAP, "x: 1\n" },
	{ WD_LISTING_PROXY, "model_list: {a: 1}\n" },
	{ WD_LISTING_PROXY, "" },
};

START_TEST(what_is_refused)
{
	ck_assert_int_eq(
	    read_text(bad[_i].kind, wd_slice_text(bad[_i].text)), WD_MALFORMED);
	ck_assert_str_ne(err.message, "");
	ck_assert_uint_eq(listing.count, 0);
	ck_assert_ptr_null(listing.arena);
}
END_TEST

START_TEST(a_value_with_a_nul_is_none)
{
	static const char text[] = "[a]\nmodel = x\0y\n";

	ck_assert_int_eq(
	    read_text(WD_LISTING_PRESET,
		(struct wd_slice){ (const uint8_t *)text, sizeof(text) - 1 }),
	    WD_OK);
	ck_assert_uint_eq(listing.count, 0);
	ck_assert(!listing.complete);
}
END_TEST

/* Bytes of a list reach texts escaped, values as they are. */
START_TEST(names_are_escaped)
{
	ck_assert_int_eq(read_text(WD_LISTING_PRESET,
			     wd_slice_text("[\x1b[2J]\nmodel = \xff")),
	    WD_OK);
	ck_assert_str_eq(shown(), "M \\x1b[2J model \xff;");
}
END_TEST

static struct wd_slice
repeated(struct wd_buf *text, const char *head, const char *format, size_t n)
{
	size_t i;

	wd_buf_init(text, 4 * WD_MAX_LISTING_FILE);
	wd_buf_text(text, head);
	for (i = 0; i < n; i++)
		wd_buf_printf(text, "%s%zu", format, i);
	ck_assert_int_eq(text->status, WD_OK);
	return wd_buf_slice(text);
}

START_TEST(caps)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	struct wd_slice all =
	    repeated(&text, "", "\n[a]\nmodel = ", WD_MAX_LISTED);

	ck_assert_int_eq(read_text(WD_LISTING_PRESET, all), WD_OK);
	ck_assert(listing.complete);
	wd_buf_release(&text);
	all = repeated(&text, "", "\n[a]\nmodel = ", WD_MAX_LISTED + 1);
	ck_assert_int_eq(read_text(WD_LISTING_PRESET, all), WD_OK);
	ck_assert_uint_eq(listing.count, WD_MAX_LISTED);
	ck_assert_uint_eq(listing.entries, WD_MAX_LISTED + 1);
	ck_assert(!listing.complete);
	wd_buf_release(&text);
	all = repeated(&text, "", "\n; a comment that fills the file", 40000);
	ck_assert_uint_gt(all.len, WD_MAX_LISTING_FILE);
	ck_assert_int_eq(read_text(WD_LISTING_PRESET, all), WD_LIMIT);
}
END_TEST

/* A short list whose macros would make gigabytes of command lines. */
START_TEST(macros_do_not_multiply)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	size_t i;

	wd_buf_init(&text, WD_MAX_LISTING_FILE);
	wd_buf_text(&text, "macros:\n  a: ");
	for (i = 0; i < 400000; i++)
		wd_buf_byte(&text, 'x');
	wd_buf_text(&text, "\nmodels:\n");
	for (i = 0; i < 200; i++)
		wd_buf_printf(&text, "  m%zu: {cmd: '${a}${a}'}\n", i);
	ck_assert_int_eq(
	    read_text(WD_LISTING_SWAP, wd_buf_slice(&text)), WD_OK);
	ck_assert(!listing.complete);
}
END_TEST

START_TEST(out_of_memory)
{
	uint64_t n;

	for (n = 0;; n++) {
		enum wd_status st;
		int failed;

		wd_listing_release(&listing);
		wd_mem_fail_after(n);
		st = read_text(good[_i].kind, wd_slice_text(good[_i].text));
		failed = wd_mem_has_failed();
		wd_mem_fail_after(UINT64_MAX);
		if (!failed)
			break;
		ck_assert_int_eq(st, WD_NOMEM);
		ck_assert_ptr_null(listing.arena);
	}
}
END_TEST

WD_SUITE_BEGIN("bundle listing")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_LOOP(what_is_taken, good);
WD_LOOP(what_is_refused, bad);
WD_TEST(a_value_with_a_nul_is_none);
WD_TEST(names_are_escaped);
WD_TEST(caps);
WD_TEST(macros_do_not_multiply);
WD_LOOP(out_of_memory, good);
WD_SUITE_END
