/* Secrets in command lines and environments. */
#include "host/redact.h"

#include <string.h>

#include "base/mem.h"
#include "support/suite.h"

#define R "[redacted]"

/* Arguments are separated by '|' here. */
static const struct {
	const char *before, *after;
} lines[] = {
	{ "llama-server|--api-key|abc|-m|/m/a.gguf",
	    "llama-server|--api-key|" R "|-m|/m/a.gguf" },
	{ "llama-server|--api-key=abc def&x|-m|a",
	    "llama-server|--api-key=" R "|-m|a" },
	{ "s|--hf-token|x|-hft|y|--token|z",
	    "s|--hf-token|" R "|-hft|" R "|--token|" R },
	{ "s|--ssl-key-password|p w|--ssl-key-file|/k.pem",
	    "s|--ssl-key-password|" R "|--ssl-key-file|/k.pem" },
	{ "s|--api-key-file|/etc/key|--tokenizer|/m/t.json",
	    "s|--api-key-file|/etc/key|--tokenizer|/m/t.json" },
	{ "s|--max-tokens|512|--n-tokens|3|--tokens|4",
	    "s|--max-tokens|512|--n-tokens|3|--tokens|4" },
	{ "s|--api-key|--port|80", "s|--api-key|--port|80" },
	{ "vllm|--api-key|k1|k2|/models/m.gguf|-x",
	    "vllm|--api-key|" R "|" R "|/models/m.gguf|-x" },
	{ "env|HF_TOKEN=hf_x|OPENAI_API_KEY=1|prog",
	    "env|HF_TOKEN=" R "|OPENAI_API_KEY=" R "|prog" },
	{ "sh|-c|HF_TOKEN=x llama-server --api-key y -m /m/a.gguf",
	    "sh|-c|HF_TOKEN=" R " llama-server --api-key " R " -m /m/a.gguf" },
	{ "llama-server --api-key=abc -m /m/a.gguf",
	    "llama-server --api-key=" R " -m /m/a.gguf" },
	{ "curl|-H|Authorization: Bearer abc.def/ghi",
	    "curl|-H|Authorization: Bearer " R },
	{ "x|Bearer|abc|y.z", "x|Bearer|" R "|y.z" },
	{ "x|http://user:pw@host/m.gguf", "x|http://" R "@host/m.gguf" },
	{ "x|--model-url=https://tok@h:8/a@b",
	    "x|--model-url=https://" R "@h:8/a@b" },
	{ "x|https://host/path@v1/a.gguf", "x|https://host/path@v1/a.gguf" },
	{ "x|https://h/a?token=abc&v=1#f", "x|https://h/a?token=" R "&v=1#f" },
	{ "x|{\"api_key\": \"s3\", \"model\": \"m\"}",
	    "x|{\"api_key\": \"" R "\", \"model\": \"m\"}" },
	{ "x|hf_AbCdEfGh12345678", "x|" R },
	{ "x|--x=sk-abc123DEF456ghi", "x|--x=" R },
	{ "x|-m|/m/hf_cache/sk-model1234.gguf",
	    "x|-m|/m/hf_cache/sk-model1234.gguf" },
	{ "x|-m|hf_model12345.gguf|hf_transfer",
	    "x|-m|hf_model12345.gguf|hf_transfer" },
	{ "x|-m|/tokens/secret-model/password.gguf",
	    "x|-m|/tokens/secret-model/password.gguf" },
	{ "x|--password|", "x|--password|" R },
	{ "", "" },
	{ "|", "|" },
};

static struct wd_bytes
arguments(const char *text)
{
	struct wd_bytes argv = { NULL, 0 };
	size_t i;

	ck_assert_int_eq(wd_bytes_set(&argv, wd_slice_text(text)), WD_OK);
	for (i = 0; i < argv.len; i++)
		if (argv.data[i] == '|')
			argv.data[i] = '\0';
	return argv;
}

static struct wd_bytes
ended(const char *text)
{
	char with_end[512];
	size_t len = strlen(text);

	memcpy(with_end, text, len);
	with_end[len] = '|';
	with_end[len + 1] = '\0';
	return arguments(with_end);
}

START_TEST(argv_table)
{
	struct wd_bytes argv = ended(lines[_i].before);
	struct wd_bytes wanted = ended(lines[_i].after);
	bool redacted;

	ck_assert_int_eq(wd_redact_argv(&argv, &redacted), WD_OK);
	ck_assert_int_eq(
	    redacted, strcmp(lines[_i].before, lines[_i].after) != 0);
	ck_assert_msg(
	    wd_slice_equal(wd_bytes_slice(&argv), wd_bytes_slice(&wanted)),
	    "row %d: %zu bytes, \"%s\"", _i, argv.len, (const char *)argv.data);
	wd_bytes_release(&argv);
	wd_bytes_release(&wanted);
}
END_TEST

START_TEST(argv_without_an_end)
{
	struct wd_bytes argv = arguments("x|--api-key|secret");
	bool redacted;

	ck_assert_int_eq(wd_redact_argv(&argv, &redacted), WD_OK);
	ck_assert(redacted);
	ck_assert_uint_eq(argv.len, strlen("x|--api-key|" R));
	ck_assert_str_eq((char *)argv.data + 12, R);
	wd_bytes_release(&argv);
}
END_TEST

START_TEST(test_B14_other_bytes_pass)
{
	struct wd_bytes argv = arguments("x|-m|/\xff\xfe.gguf|--token|\xff");
	bool redacted;

	ck_assert_int_eq(wd_redact_argv(&argv, &redacted), WD_OK);
	ck_assert_mem_eq(argv.data, "x\0-m\0/\xff\xfe.gguf\0--token\0" R, 33);
	wd_bytes_release(&argv);
}
END_TEST

static const struct {
	const char *name;
	bool secret;
} names[] = {
	{ "HF_TOKEN", true },
	{ "--hf-token", true },
	{ "OPENAI_API_KEY", true },
	{ "LLAMA_API_KEY", true },
	{ "VLLM_API_KEY", true },
	{ "AWS_SECRET_ACCESS_KEY", true },
	{ "DB_PASSWORD", true },
	{ "HUGGING_FACE_HUB_TOKEN", true },
	{ "LITELLM_MASTER_KEY", true },
	{ "-hft", true },
	{ "LOCALAI_API_KEY", true },
	{ "LOCALAI_P2P_TOKEN", true },
	{ "MAX_TOTAL_TOKENS", false },
	{ "HF_TOKEN_PATH", false },
	{ "TOKENIZERS_PARALLELISM", false },
	{ "--tokenizer", false },
	{ "--max-tokens", false },
	{ "--eos-token", false },
	{ "--key", false },
	{ "--keyfile", false },
	{ "MODEL", false },
	{ "", false },
	{ "--", false },
};

START_TEST(name_table)
{
	ck_assert_int_eq(
	    wd_name_is_secret(wd_slice_text(names[_i].name)), names[_i].secret);
}
END_TEST

static const struct {
	const char *name;
	bool chosen;
} chosen[] = {
	{ "LLAMA_ARG_MODEL", true },
	{ "HF_HOME", true },
	{ "HF_HUB_CACHE", true },
	{ "OLLAMA_MODELS", true },
	{ "CUDA_VISIBLE_DEVICES", true },
	{ "LISTEN_FDS", true },
	{ "LOCALAI_MODELS_PATH", true },
	{ "LOCALAI_CONTEXT_SIZE", true },
	{ "DTYPE", true },
	{ "KV_CACHE_DTYPE", true },
	{ "NUM_SHARD", true },
	{ "SPECULATE", true },
	{ "MAX_TOTAL_TOKENS", true },
	{ "MAX_BATCH_PREFILL_TOKENS", true },
	{ "MAX_BATCH_SIZE", true },
	{ "ROPE_SCALING", true },
	{ "ROPE_FACTOR", true },
	{ "LORA_ADAPTERS", true },
	{ "WEIGHTS_CACHE_OVERRIDE", true },
	{ "LOCALAI", false },
	{ "MAX_BATCH", false },
	{ "PATH", false },
	{ "HF_HOMER", false },
	{ "AWS_SECRET_ACCESS_KEY", false },
	{ "", false },
};

START_TEST(chosen_table)
{
	ck_assert_int_eq(wd_env_name_chosen(wd_slice_text(chosen[_i].name)),
	    chosen[_i].chosen);
}
END_TEST

START_TEST(variable_values)
{
	struct wd_bytes out = { NULL, 0 };
	bool redacted;

	ck_assert_int_eq(
	    wd_redact_variable(wd_slice_text("HF_ENDPOINT"),
		wd_slice_text("https://u:p@hub.lab/x"), &out, &redacted),
	    WD_OK);
	ck_assert(redacted);
	ck_assert_str_eq((char *)out.data, "https://" R "@hub.lab/x");
	ck_assert_int_eq(wd_redact_variable(wd_slice_text("HF_TOKEN"),
			     wd_slice_text(""), &out, &redacted),
	    WD_OK);
	ck_assert(!redacted);
	ck_assert_uint_eq(out.len, 0);
	wd_bytes_release(&out);
}
END_TEST

START_TEST(out_of_memory_is_an_error)
{
	uint64_t n;

	for (n = 0; n < 64; n++) {
		struct wd_bytes argv = ended("x|--api-key|abc");
		enum wd_status st;
		bool redacted;

		wd_mem_fail_after(n);
		st = wd_redact_argv(&argv, &redacted);
		if (!wd_mem_has_failed()) {
			wd_mem_fail_after(UINT64_MAX);
			ck_assert_int_eq(st, WD_OK);
			wd_bytes_release(&argv);
			ck_assert_uint_gt(n, 0);
			return;
		}
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_int_eq(st, WD_NOMEM);
		wd_bytes_release(&argv);
	}
	ck_abort_msg("never succeeded");
}
END_TEST

WD_SUITE_BEGIN("host redact")
WD_LOOP(argv_table, lines);
WD_TEST(argv_without_an_end);
WD_TEST(test_B14_other_bytes_pass);
WD_LOOP(name_table, names);
WD_LOOP(chosen_table, chosen);
WD_TEST(variable_values);
WD_TEST(out_of_memory_is_an_error);
WD_SUITE_END
