/*
 * Every mark by which an engine is recognised and every rule about what it can
 * do while it runs, one row each. The rows were written down apart from the
 * table, which tests below hold to have nothing that is not here.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "evidence/engines_table.h"
#include "support/process_make.h"
#include "support/suite.h"

#define PYTHON "/usr/bin/python3"
#define MAX_TEXT 1024

/* ---- marks ----------------------------------------------------------------
 */

/* `text` is the mark's; `not` a command line that nearly fits. */
static const struct {
	const char *text, *exe, *argv, *engine;
	enum wd_engine_how how;
} marks[] = {
#define NAMED(text, engine)                                                    \
	{                                                                      \
		text, "/x/" text, text "|", engine, WD_ENGINE_BY_PROGRAM       \
	}
#define WORDS(text, argv, engine)                                              \
	{                                                                      \
		text, PYTHON, argv, engine, WD_ENGINE_BY_SCRIPT                \
	}
#define MODULE(text, engine) WORDS(text, "python|-m|" text "|", engine)
	{ "llama-server", "/x/llama-server", "llama-server|-m|a|",
	    "llama-server", WD_ENGINE_BY_PROGRAM },
	NAMED("rpc-server", "llama.cpp rpc-server"),
	NAMED("llama-rpc-server", "llama.cpp rpc-server"),
	NAMED("ggml-rpc-server", "llama.cpp rpc-server"),
	{ "ollama", "/x/ollama", "ollama|runner|", "ollama runner",
	    WD_ENGINE_BY_PROGRAM },
	NAMED("ollama", "ollama"),
	NAMED("ollama_llama_server", "ollama runner"),
	NAMED("text-generation-launcher", "text-generation-launcher"),
	NAMED("text-generation-router", "text-generation-router"),
	NAMED("LM Studio", "LM Studio"),
	NAMED("lm-studio", "LM Studio"),
	NAMED("llmster", "LM Studio"),
	NAMED("tritonserver", "tritonserver"),
	NAMED("trtserver", "tritonserver"),
	NAMED("llama-swap", "llama-swap"),
	NAMED("sgl-model-gateway", "SGLang router"),
	{ "koboldcpp", "/x/koboldcpp-linux-x64", "k|", "KoboldCpp",
	    WD_ENGINE_BY_PROGRAM },
	NAMED("local-ai", "LocalAI"),
	NAMED("nginx", "proxy"),
	NAMED("haproxy", "proxy"),
	NAMED("envoy", "proxy"),
	NAMED("caddy", "proxy"),
	NAMED("traefik", "proxy"),
	NAMED("docker-proxy", "proxy"),
	NAMED("socat", "proxy"),
	NAMED("conmon", "proxy"),
	NAMED("kubectl", "proxy"),
	NAMED("ssh", "proxy"),
	NAMED("rootlesskit", "proxy"),
	NAMED("rootlessport", "proxy"),
	NAMED("slirp4netns", "proxy"),
	NAMED("pasta", "proxy"),
	NAMED("pasta.avx2", "proxy"),
	NAMED("passt", "proxy"),
	NAMED("passt.avx2", "proxy"),

	MODULE("vllm.entrypoints.openai.api_server", "vLLM"),
	MODULE("vllm.entrypoints.api_server", "vLLM"),
	WORDS("vllm.entrypoints.cli.main",
	    "python|-m|vllm.entrypoints.cli.main|serve|m|", "vLLM"),
	WORDS("vllm", "python|/venv/bin/vllm|serve|m|", "vLLM"),
	{ "VLLM::", PYTHON, "VLLM::EngineCore", "vLLM worker",
	    WD_ENGINE_BY_TITLE },
	MODULE("sglang.launch_server", "SGLang"),
	WORDS("sglang", "python|/venv/bin/sglang|serve|", "SGLang"),
	WORDS("/sglang/launch_server.py",
	    "python|/src/sglang/launch_server.py|", "SGLang"),
	MODULE("sglang_router.launch_router", "SGLang router"),
	MODULE("sglang_router.launch_server", "SGLang router"),
	{ "sglang::", PYTHON, "sglang::scheduler_TP0", "SGLang worker",
	    WD_ENGINE_BY_TITLE },
	WORDS("text-generation-server",
	    "python|/opt/bin/text-generation-server|serve|m|",
	    "text-generation-server"),
	WORDS("mlx_lm.server", "python|/bin/mlx_lm.server|", "mlx_lm.server"),
	MODULE("mlx_lm.server", "mlx_lm.server"),
	WORDS("mlx_lm", "python|-m|mlx_lm|server|", "mlx_lm.server"),
	WORDS("mlx_lm", "python|/bin/mlx_lm|server|", "mlx_lm.server"),
	WORDS("/mlx_lm/server.py", "python|/s/mlx_lm/server.py|",
	    "mlx_lm.server"),
	WORDS(
	    "mlx_vlm.server", "python|/bin/mlx_vlm.server|", "mlx_vlm.server"),
	MODULE("mlx_vlm.server", "mlx_vlm.server"),
	WORDS("mlx_vlm", "python|-m|mlx_vlm|server|", "mlx_vlm.server"),
	WORDS("/mlx_vlm/server.py", "python|/s/mlx_vlm/server.py|",
	    "mlx_vlm.server"),
	{ "llmworker.js", "/x/node", "node|-e|require(\"/l/llmworker.js\")|",
	    "LM Studio worker", WD_ENGINE_BY_SCRIPT },
	WORDS("trtllm-serve", "python|/bin/trtllm-serve|m|", "trtllm-serve"),
	WORDS("litellm", "python|/bin/litellm|", "LiteLLM"),
	{ "node-llama-cpp", "/x/node", "node|/n/node-llama-cpp/cli.js|",
	    "node-llama-cpp", WD_ENGINE_BY_SCRIPT },
	MODULE("llama_cpp.server", "llama_cpp.server"),
	WORDS("koboldcpp.py", "python|/s/koboldcpp.py|", "KoboldCpp"),
	WORDS("/text-generation-webui/server.py",
	    "python|/s/text-generation-webui/server.py|",
	    "text-generation-webui"),
	WORDS("exo", "python|/bin/exo|", "exo"),
	MODULE("exo", "exo"),
	MODULE("exo.main", "exo"),
};

START_TEST(every_mark)
{
	struct wd_process p =
	    wd_process_make(marks[_i].exe, marks[_i].argv, "");
	struct wd_recognition found;

	p.argv_overwritten = marks[_i].how == WD_ENGINE_BY_TITLE;
	found = wd_engine_recognise(&p);
	ck_assert_msg(found.engine != NULL, "%s: unknown", marks[_i].argv);
	ck_assert_str_eq(found.engine->name, marks[_i].engine);
	ck_assert_int_eq(found.how, marks[_i].how);
	wd_process_release(&p);
}
END_TEST

/* Of the same text as many marks as there are rows: each way to start the
 * program is shown. */
START_TEST(no_mark_is_missing)
{
	const char *text = wd_marks[_i].text;
	size_t i, here = 0, there = 0;

	for (i = 0; i < WD_COUNT(marks); i++)
		here += strcmp(marks[i].text, text) == 0;
	for (i = 0; i < wd_mark_count; i++)
		there += strcmp(wd_marks[i].text, text) == 0;
	ck_assert_msg(
	    here == there, "%s: %zu marks, %zu rows", text, there, here);
}
END_TEST

/* ---- rules ----------------------------------------------------------------
 */

struct started {
	const char *exe, *argv;
};

static const struct started llama = { "/x/llama-server", "llama-server|-m|a|" };
static const struct started router = { "/x/llama-server", "llama-server|" };
static const struct started rpc = { "/x/rpc-server", "rpc-server|" };
static const struct started ollama = { "/x/ollama", "ollama|serve|" };
static const struct started ollama_runner = { "/x/ollama", "ollama|runner|" };
static const struct started vllm = { PYTHON, "python|/bin/vllm|serve|m|" };
static const struct started sglang = { PYTHON,
	"python|-m|sglang.launch_server|" };
static const struct started sglang_worker = { PYTHON, "sglang::scheduler|" };
static const struct started sglang_router = { "/x/sgl-model-gateway", "g|" };
static const struct started mlx = { PYTHON, "python|-m|mlx_lm.server|" };
static const struct started mlx_vlm = { PYTHON, "python|-m|mlx_vlm.server|" };
static const struct started lm_studio = { "/x/lm-studio", "lm-studio|" };
static const struct started lm_worker = { "/x/node",
	"node|-e|require(\"/l/llmworker.js\")|" };
static const struct started triton = { "/x/tritonserver", "tritonserver|" };
static const struct started trtllm = { PYTHON, "python|/bin/trtllm-serve|" };
static const struct started swap = { "/x/llama-swap", "llama-swap|" };
static const struct started litellm = { PYTHON, "python|/bin/litellm|" };
static const struct started localai = { "/x/local-ai", "local-ai|" };
static const struct started webui = { PYTHON,
	"python|/s/text-generation-webui/server.py|" };
static const struct started kobold = { "/x/koboldcpp", "koboldcpp|" };
static const struct started exo = { PYTHON, "python|-m|exo|" };

#define MUTABLE WD_ASK_MUTABLE
#define UPDATABLE WD_ASK_UPDATABLE
#define PARTIAL WD_ASK_PARTIAL
#define SLEEPS WD_ASK_SLEEPS

/* `$NAME` is a variable; "": the program alone. `yes` is a value (NULL: none
 * is taken) that makes it so, `no` (NULL: there is none) one that does not. */
static const struct {
	const struct started *program;
	enum wd_engine_id engine;
	enum wd_rule_question question;
	const char *spellings, *yes, *no, *reason;
} rules[] = {
	{ &llama, WD_ID_LLAMA, MUTABLE, "--sleep-idle-seconds", "60", "0",
	    "sleeps when idle and reads" },
	{ &llama, WD_ID_LLAMA, SLEEPS, "--sleep-idle-seconds", "60", "-1",
	    "sleeps when idle" },
	{ &llama, WD_ID_LLAMA, MUTABLE, "--lora --lora-scaled", "x", NULL,
	    "POST /lora-adapters" },
	{ &llama, WD_ID_LLAMA, MUTABLE, "--lora-init-without-apply", NULL, NULL,
	    "POST /lora-adapters" },
	{ &llama, WD_ID_LLAMA, MUTABLE,
	    "--models-dir --models-preset $LLAMA_ARG_MODELS_DIR "
	    "$LLAMA_ARG_MODELS_PRESET",
	    "/m", NULL, "to route to" },
	{ &router, WD_ID_LLAMA_ROUTER, MUTABLE, "", NULL, NULL, "requests" },
	{ &llama, WD_ID_LLAMA, PARTIAL, "--rpc $LLAMA_ARG_RPC", "h:1", "0",
	    "RPC servers" },
	{ &router, WD_ID_LLAMA_ROUTER, PARTIAL, "--rpc $LLAMA_ARG_RPC", "h:1",
	    "0", "RPC servers" },
	{ &rpc, WD_ID_LLAMA_RPC, PARTIAL, "", NULL, NULL, "part of" },
	{ &rpc, WD_ID_LLAMA_RPC, MUTABLE, "", NULL, NULL, "tensors" },
	{ &rpc, WD_ID_LLAMA_RPC, UPDATABLE, "", NULL, NULL, "network" },

	{ &ollama, WD_ID_OLLAMA, MUTABLE, "", NULL, NULL, "requests" },
	{ &ollama, WD_ID_OLLAMA, SLEEPS, "", NULL, NULL, "nobody asks for" },
	{ &ollama_runner, WD_ID_OLLAMA_RUNNER, MUTABLE, "", NULL, NULL,
	    "POST /load" },

	{ &vllm, WD_ID_VLLM, MUTABLE, "--enable-sleep-mode", NULL, NULL,
	    "sleep mode" },
	{ &vllm, WD_ID_VLLM, SLEEPS, "--enable-sleep-mode", NULL, NULL,
	    "put to sleep" },
	{ &vllm, WD_ID_VLLM, MUTABLE, "--weight-transfer-config", "{}", NULL,
	    "weight updates" },
	{ &vllm, WD_ID_VLLM, MUTABLE, "$VLLM_SERVER_DEV_MODE", "1", "0",
	    "development mode" },
	{ &vllm, WD_ID_VLLM, MUTABLE, "$VLLM_ALLOW_RUNTIME_LORA_UPDATING",
	    "True", "False", "adapters on request" },
	{ &vllm, WD_ID_VLLM, UPDATABLE,
	    "--weight-transfer-config --worker-extension-cls", "x", NULL,
	    "trainer" },
	{ &vllm, WD_ID_VLLM, UPDATABLE, "$VLLM_SERVER_DEV_MODE", "1", "0",
	    "development mode" },
	{ &vllm, WD_ID_VLLM, UPDATABLE, "--load-format", "dummy", "auto",
	    "random weights" },
	{ &vllm, WD_ID_VLLM, PARTIAL, "--nnodes", "2", "1", "several hosts" },
	{ &vllm, WD_ID_VLLM, PARTIAL, "--node-rank", "1", "0", "one rank" },
	{ &vllm, WD_ID_VLLM, PARTIAL, "--headless", NULL, NULL, "headless" },
	{ &vllm, WD_ID_VLLM, PARTIAL, "--distributed-executor-backend", "ray",
	    "mp", "Ray" },
	{ &vllm, WD_ID_VLLM, PARTIAL, "--worker-use-ray", NULL, NULL, "Ray" },
	{ &vllm, WD_ID_VLLM, PARTIAL, "--data-parallel-backend", "ray", "mp",
	    "Ray" },
	{ &vllm, WD_ID_VLLM, PARTIAL,
	    "--data-parallel-address --data-parallel-size-local "
	    "--data-parallel-start-rank --data-parallel-rank",
	    "1", NULL, "replicas" },

	{ &sglang, WD_ID_SGLANG, MUTABLE, "", NULL, NULL, "weight updates" },
	{ &sglang, WD_ID_SGLANG, UPDATABLE, "", NULL, NULL, "network" },
	{ &sglang_worker, WD_ID_SGLANG_WORKER, MUTABLE, "", NULL, NULL,
	    "weight updates" },
	{ &sglang_worker, WD_ID_SGLANG_WORKER, UPDATABLE, "", NULL, NULL,
	    "network" },
	{ &sglang_router, WD_ID_SGLANG_ROUTER, MUTABLE, "", NULL, NULL,
	    "other servers" },
	{ &sglang_router, WD_ID_SGLANG_ROUTER, PARTIAL, "", NULL, NULL,
	    "other servers" },
	{ &sglang, WD_ID_SGLANG, PARTIAL, "--nnodes", "2", "1",
	    "several hosts" },
	{ &sglang, WD_ID_SGLANG, PARTIAL, "--node-rank", "1", "0", "one rank" },
	{ &sglang, WD_ID_SGLANG, PARTIAL, "--disaggregation-mode", "prefill",
	    "null", "prefill and decode" },

	{ &mlx, WD_ID_MLX_LM, MUTABLE, "", NULL, NULL, "request names" },
	{ &mlx, WD_ID_MLX_LM, PARTIAL, "$MLX_HOSTFILE $MLX_RANK", "0", NULL,
	    "one rank" },
	{ &mlx, WD_ID_MLX_LM, PARTIAL, "--pipeline", NULL, NULL,
	    "splits its model" },
	{ &mlx_vlm, WD_ID_MLX_VLM, MUTABLE, "", NULL, NULL, "request names" },
	{ &mlx_vlm, WD_ID_MLX_VLM, PARTIAL, "$MLX_HOSTFILE $MLX_RANK", "0",
	    NULL, "one rank" },

	{ &lm_studio, WD_ID_LM_STUDIO, MUTABLE, "", NULL, NULL, "requests" },
	{ &lm_worker, WD_ID_LM_STUDIO_WORKER, MUTABLE, "", NULL, NULL,
	    "LM Studio tells" },
	{ &triton, WD_ID_TRITON, MUTABLE, "--model-control-mode", "poll",
	    "none", "model control mode" },
	{ &trtllm, WD_ID_TRTLLM, PARTIAL, "disaggregated", NULL, NULL,
	    "prefill and decode" },
	{ &swap, WD_ID_LLAMA_SWAP, MUTABLE, "", NULL, NULL, "swaps servers" },
	{ &litellm, WD_ID_LITELLM, PARTIAL, "", NULL, NULL, "other servers" },
	{ &localai, WD_ID_LOCALAI, MUTABLE, "", NULL, NULL, "requests" },
	{ &webui, WD_ID_WEBUI, MUTABLE, "", NULL, NULL, "users choose" },
	{ &kobold, WD_ID_KOBOLDCPP, MUTABLE, "--admin", NULL, NULL,
	    "admin mode" },
	{ &exo, WD_ID_EXO, MUTABLE, "", NULL, NULL, "requests" },
	{ &exo, WD_ID_EXO, PARTIAL, "", NULL, NULL, "several machines" },
};

static enum wd_tristate
ask(const struct wd_process *p, enum wd_rule_question question,
    const char **reason)
{
	switch (question) {
	case WD_ASK_MUTABLE:
		return wd_engine_mutable(p, reason);
	case WD_ASK_UPDATABLE:
		return wd_engine_updatable_without_files(p, reason);
	case WD_ASK_PARTIAL:
		return wd_engine_partial(p, reason);
	case WD_ASK_SLEEPS:
		break;
	}
	return wd_engine_sleeps(p, reason);
}

/* The program with that option behind its words, or with that variable. */
static struct wd_process
process_with(
    const struct started *program, struct wd_slice spelling, const char *value)
{
	char argv[MAX_TEXT], environment[MAX_TEXT] = "";
	int len = (int)spelling.len;
	const char *text = (const char *)spelling.data;
	struct wd_process p;

	(void)snprintf(argv, sizeof(argv), "%s", program->argv);
	if (len > 0 && text[0] == '$')
		(void)snprintf(environment, sizeof(environment), "%.*s=%s",
		    len - 1, text + 1, value);
	else if (len > 0)
		(void)snprintf(argv, sizeof(argv), "%s%.*s|%s%s", program->argv,
		    len, text, value == NULL ? "" : value,
		    value == NULL ? "" : "|");
	p = wd_process_make(program->exe, argv, environment);
	p.argv_overwritten = strstr(program->argv, "::") != NULL;
	return p;
}

static void
check_rule(size_t rule, struct wd_slice spelling)
{
	struct wd_process p =
	    process_with(rules[rule].program, spelling, rules[rule].yes);
	const char *reason = NULL;

	ck_assert_ptr_eq(
	    wd_engine_recognise(&p).engine, &wd_engines[rules[rule].engine]);
	ck_assert_msg(ask(&p, rules[rule].question, &reason) == WD_YES,
	    "%s %.*s: not yes", rules[rule].program->argv, (int)spelling.len,
	    (const char *)spelling.data);
	ck_assert_msg(strstr(reason, rules[rule].reason) != NULL, "%s %s: %s",
	    rules[rule].program->argv, rules[rule].spellings, reason);
	wd_process_release(&p);
	if (rules[rule].no == NULL)
		return;
	p = process_with(rules[rule].program, spelling, rules[rule].no);
	ck_assert_msg(ask(&p, rules[rule].question, &reason) != WD_YES,
	    "%s %.*s: yes", rules[rule].program->argv, (int)spelling.len,
	    (const char *)spelling.data);
	wd_process_release(&p);
}

START_TEST(every_rule)
{
	struct wd_slice rest = wd_slice_text(rules[_i].spellings), one;

	if (rest.len == 0)
		check_rule((size_t)_i, rest);
	while (wd_slice_cut(&rest, ' ', &one))
		check_rule((size_t)_i, one);
}
END_TEST

/* Without the option, nothing of it is true. */
START_TEST(no_rule_of_itself)
{
	struct wd_slice none = { NULL, 0 };
	struct wd_process p = process_with(rules[_i].program, none, NULL);
	const char *reason = NULL;

	if (rules[_i].spellings[0] != '\0' &&
	    ask(&p, rules[_i].question, &reason) == WD_YES)
		ck_assert_msg(strstr(reason, rules[_i].reason) == NULL,
		    "%s: %s", rules[_i].program->argv, reason);
	wd_process_release(&p);
}
END_TEST

static bool
has_rule(const struct wd_engine_rule *rule, const char *sign,
    struct wd_slice spelling)
{
	char wanted[MAX_TEXT];
	struct wd_slice rest, one;
	size_t i;

	(void)snprintf(wanted, sizeof(wanted), "%s%.*s", sign,
	    (int)spelling.len, (const char *)spelling.data);
	for (i = 0; i < WD_COUNT(rules); i++) {
		if (rules[i].engine != rule->engine ||
		    rules[i].question != rule->question ||
		    strstr(rule->reason, rules[i].reason) == NULL)
			continue;
		rest = wd_slice_text(rules[i].spellings);
		if (rest.len == 0 && spelling.len == 0)
			return true;
		while (wd_slice_cut(&rest, ' ', &one))
			if (wd_slice_equal(one, wd_slice_text(wanted)))
				return true;
	}
	return false;
}

START_TEST(no_rule_is_missing)
{
	const struct wd_engine_rule *rule = &wd_engine_rules[_i];
	struct wd_slice names = wd_slice_text(rule->names), one;
	struct wd_slice variables = wd_slice_text(rule->environment);

	if (rule->test == WD_TEST_ALWAYS)
		ck_assert_msg(has_rule(rule, "", names), "%s", rule->reason);
	while (wd_slice_cut(&names, ' ', &one))
		ck_assert_msg(has_rule(rule, "", one), "%s", rule->names);
	while (wd_slice_cut(&variables, ' ', &one))
		ck_assert_msg(
		    has_rule(rule, "$", one), "%s", rule->environment);
}
END_TEST

/* ---- what is denied -------------------------------------------------------
 */

/* Without an option, of a program known by its executable: what the columns of
 * the table say ("-": no, "?": not known), in the order mutable, updatable,
 * partial. */
static const struct {
	const struct started *program;
	const char *says;
} denied[] = {
	{ &llama, "---" },
	{ &router, "y--" },
	{ &ollama, "y-?" },
	{ &ollama_runner, "y--" },
	{ &sglang_router, "y-y" },
	{ &lm_studio, "y-?" },
	{ &triton, "-??" },
	{ &swap, "y-?" },
	{ &localai, "y??" },
	{ &kobold, "???" },
	{ &vllm, "???" },
	{ &exo, "y?y" },
};

START_TEST(what_is_denied)
{
	static const enum wd_rule_question asked[] = { MUTABLE, UPDATABLE,
		PARTIAL };
	struct wd_process p = wd_process_make(
	    denied[_i].program->exe, denied[_i].program->argv, "");
	char says[4] = "";
	size_t i;

	for (i = 0; i < 3; i++) {
		enum wd_tristate answer = ask(&p, asked[i], NULL);

		says[i] = answer == WD_YES ? 'y' : answer == WD_NO ? '-' : '?';
	}
	ck_assert_msg(strcmp(says, denied[_i].says) == 0, "%s: %s",
	    denied[_i].program->argv, says);
	wd_process_release(&p);
}
END_TEST

WD_SUITE_BEGIN("evidence engine rules")
WD_LOOP(every_mark, marks);
tcase_add_loop_test(tcase, no_mark_is_missing, 0, (int)wd_mark_count);
WD_LOOP(every_rule, rules);
WD_LOOP(no_rule_of_itself, rules);
tcase_add_loop_test(tcase, no_rule_is_missing, 0, (int)wd_engine_rule_count);
WD_LOOP(what_is_denied, denied);
WD_SUITE_END
