/*
 * The engines: how they are recognised and what is true of them. What is not
 * verified is left out, and answered with "not known".
 */
#include "evidence/engines_table.h"

/* Reading the columns: wd_engine in engines.h. Three tristates at the end of
 * the flags: updatable without files, partial, mutable, when no rule says
 * yes. */
const struct wd_engine wd_engines[WD_ID_COUNT] = {
	[WD_ID_LLAMA] = { "llama-server", "llama.cpp", WD_ENGINE_SERVER,
	    .own_server = true, .underscores = true, .maps_drafts = true,
	    .may_repack = true, .options_whole = true,
	    .options = wd_llama_options },
	/* Without a model it starts one llama-server for each model that is
	 * asked for (tools/server/README.md, "Using multiple models"). */
	[WD_ID_LLAMA_ROUTER] = { "llama-server router", "llama.cpp",
	    WD_ENGINE_ROUTER, .own_server = true, .underscores = true,
	    .options_whole = true, .options = wd_llama_options },
	[WD_ID_LLAMA_RPC] = { "llama.cpp rpc-server", "llama.cpp",
	    WD_ENGINE_WORKER, .own_server = true, .options = wd_no_options },
	[WD_ID_OLLAMA] = { "ollama", "ollama", WD_ENGINE_ROUTER,
	    .own_server = true, .partial = WD_NOT_KNOWN, /* cloud models */
	    .options = wd_no_options },
	[WD_ID_OLLAMA_RUNNER] = { "ollama runner", "ollama", WD_ENGINE_SERVER,
	    .own_server = true, .options = wd_ollama_options },
	[WD_ID_VLLM] = { "vLLM", "vllm", WD_ENGINE_SERVER, .own_server = true,
	    .positional_model = true, .underscores = true, .abbreviates = true,
	    .file_below_words = true, .options_whole = true,
	    .options = wd_vllm_options },
	[WD_ID_VLLM_WORKER] = { "vLLM worker", "vllm", WD_ENGINE_WORKER,
	    .updatable = WD_NOT_KNOWN, .partial = WD_NOT_KNOWN,
	    .mutable = WD_NOT_KNOWN, .options_whole = true,
	    .options = wd_no_options },
	[WD_ID_SGLANG] = { "SGLang", "sglang", WD_ENGINE_SERVER,
	    .own_server = true, .abbreviates = true, .file_below_words = true,
	    .options_whole = true, .options = wd_sglang_options },
	[WD_ID_SGLANG_WORKER] = { "SGLang worker", "sglang", WD_ENGINE_WORKER,
	    .partial = WD_NOT_KNOWN, .options_whole = true,
	    .options = wd_no_options },
	[WD_ID_SGLANG_ROUTER] = { "SGLang router", "sglang", WD_ENGINE_ROUTER,
	    .own_server = true, .options = wd_no_options },
	[WD_ID_TGI_LAUNCHER] = { "text-generation-launcher", "tgi",
	    WD_ENGINE_LAUNCHER, .updatable = WD_NOT_KNOWN,
	    .mutable = WD_NOT_KNOWN, .partial = WD_NOT_KNOWN,
	    .options = wd_tgi_options },
	[WD_ID_TGI_ROUTER] = { "text-generation-router", "tgi",
	    WD_ENGINE_SERVER, .updatable = WD_NOT_KNOWN,
	    .mutable = WD_NOT_KNOWN, .partial = WD_NOT_KNOWN,
	    .options = wd_tgi_router_options },
	[WD_ID_TGI_WORKER] = { "text-generation-server", "tgi",
	    WD_ENGINE_WORKER, .updatable = WD_NOT_KNOWN,
	    .mutable = WD_NOT_KNOWN, .positional_model = true,
	    .partial = WD_NOT_KNOWN, .options = wd_no_options },
	[WD_ID_MLX_LM] = { "mlx_lm.server", "mlx", WD_ENGINE_SERVER,
	    .own_server = true, .abbreviates = true,
	    .options = wd_mlx_options },
	[WD_ID_MLX_VLM] = { "mlx_vlm.server", "mlx", WD_ENGINE_SERVER,
	    .own_server = true, .abbreviates = true,
	    .options = wd_mlx_vlm_options },
	[WD_ID_LM_STUDIO] = { "LM Studio", "lm-studio", WD_ENGINE_ROUTER,
	    .own_server = true, .partial = WD_NOT_KNOWN,
	    .options = wd_no_options },
	[WD_ID_LM_STUDIO_WORKER] = { "LM Studio worker", "lm-studio",
	    WD_ENGINE_WORKER, .updatable = WD_NOT_KNOWN,
	    .partial = WD_NOT_KNOWN, .options = wd_no_options },
	[WD_ID_TRITON] = { "tritonserver", "triton", WD_ENGINE_SERVER,
	    .own_server = true,
	    .partial = WD_NOT_KNOWN,   /* MPI ranks of TensorRT-LLM */
	    .updatable = WD_NOT_KNOWN, /* its backends */
	    .options = wd_triton_options },
	[WD_ID_TRTLLM] = { "trtllm-serve", "tensorrt-llm", WD_ENGINE_SERVER,
	    .own_server = true, .positional_model = true,
	    .updatable = WD_NOT_KNOWN, .partial = WD_NOT_KNOWN,
	    .mutable = WD_NOT_KNOWN, .options = wd_trtllm_options },
	[WD_ID_LLAMA_SWAP] = { "llama-swap", "llama-swap", WD_ENGINE_ROUTER,
	    .own_server = true,
	    .partial = WD_NOT_KNOWN, /* upstreams elsewhere */
	    .options = wd_config_options },
	[WD_ID_LITELLM] = { "LiteLLM", "litellm", WD_ENGINE_PROXY,
	    .own_server = true, .mutable = WD_NOT_KNOWN,
	    .updatable = WD_NOT_KNOWN, .options = wd_config_options },
	/* A library: what the script around it does is not known. */
	[WD_ID_NODE_LLAMA] = { "node-llama-cpp", "node-llama-cpp",
	    WD_ENGINE_SERVER, .updatable = WD_NOT_KNOWN,
	    .partial = WD_NOT_KNOWN, .mutable = WD_NOT_KNOWN,
	    .options = wd_no_options },
	[WD_ID_LLAMA_CPP_PYTHON] = { "llama_cpp.server", "llama-cpp-python",
	    WD_ENGINE_SERVER, .own_server = true, .mutable = WD_NOT_KNOWN,
	    .options = wd_llama_cpp_python_options },
	[WD_ID_KOBOLDCPP] = { "KoboldCpp", "koboldcpp", WD_ENGINE_SERVER,
	    .own_server = true, .abbreviates = true, .updatable = WD_NOT_KNOWN,
	    .partial = WD_NOT_KNOWN, .mutable = WD_NOT_KNOWN,
	    .options = wd_koboldcpp_options },
	/* "Environment variables take precedence over CLI flags"
	 * (localai.io, CLI reference). */
	[WD_ID_LOCALAI] = { "LocalAI", "localai", WD_ENGINE_ROUTER,
	    .own_server = true, .environment_wins = true,
	    .updatable = WD_NOT_KNOWN, .partial = WD_NOT_KNOWN,
	    .options = wd_localai_options },
	[WD_ID_WEBUI] = { "text-generation-webui", "text-generation-webui",
	    WD_ENGINE_SERVER, .own_server = true, .updatable = WD_NOT_KNOWN,
	    .partial = WD_NOT_KNOWN, .options = wd_no_options },
	[WD_ID_EXO] = { "exo", "exo", WD_ENGINE_SERVER, .own_server = true,
	    .updatable = WD_NOT_KNOWN, .options = wd_no_options },
	[WD_ID_PROXY] = { "proxy", "proxy", WD_ENGINE_PROXY, .own_server = true,
	    .updatable = WD_NOT_KNOWN, .partial = WD_NOT_KNOWN,
	    .mutable = WD_NOT_KNOWN, .options = wd_no_options },
};

#define PROGRAM(id, text)                                                      \
	{                                                                      \
		WD_ID_##id, WD_MARK_PROGRAM, text, NULL                        \
	}
#define PROGRAM_START(id, text)                                                \
	{                                                                      \
		WD_ID_##id, WD_MARK_PROGRAM_START, text, NULL                  \
	}
#define SCRIPT(id, text)                                                       \
	{                                                                      \
		WD_ID_##id, WD_MARK_SCRIPT, text, NULL                         \
	}
#define SCRIPT_PATH(id, text)                                                  \
	{                                                                      \
		WD_ID_##id, WD_MARK_SCRIPT_PATH, text, NULL                    \
	}
#define MODULE(id, text)                                                       \
	{                                                                      \
		WD_ID_##id, WD_MARK_MODULE, text, NULL                         \
	}
#define TITLE(id, text)                                                        \
	{                                                                      \
		WD_ID_##id, WD_MARK_TITLE, text, NULL                          \
	}

/* The first that fits; those of programs are tried before all others. */
const struct wd_mark wd_marks[] = {
	PROGRAM(LLAMA, "llama-server"),
	PROGRAM(LLAMA_RPC, "rpc-server"),
	PROGRAM(LLAMA_RPC, "llama-rpc-server"),
	PROGRAM(LLAMA_RPC, "ggml-rpc-server"),
	/* ollama runs itself for each model: runner/runner.go, x/mlxrunner. */
	{ WD_ID_OLLAMA_RUNNER, WD_MARK_PROGRAM, "ollama", "runner" },
	PROGRAM(OLLAMA, "ollama"),
	PROGRAM(OLLAMA_RUNNER, "ollama_llama_server"), /* until 0.5 */
	PROGRAM(TGI_LAUNCHER, "text-generation-launcher"),
	PROGRAM(TGI_ROUTER, "text-generation-router"),
	PROGRAM(LM_STUDIO, "LM Studio"),
	PROGRAM(LM_STUDIO, "lm-studio"),
	PROGRAM(LM_STUDIO, "llmster"),
	PROGRAM(TRITON, "tritonserver"),
	PROGRAM(TRITON, "trtserver"), /* until 20.03 */
	PROGRAM(LLAMA_SWAP, "llama-swap"),
	PROGRAM(SGLANG_ROUTER, "sgl-model-gateway"),
	PROGRAM_START(KOBOLDCPP, "koboldcpp"),
	PROGRAM(LOCALAI, "local-ai"),
	PROGRAM(PROXY, "nginx"),
	PROGRAM(PROXY, "haproxy"),
	PROGRAM(PROXY, "envoy"),
	PROGRAM(PROXY, "caddy"),
	PROGRAM(PROXY, "traefik"),
	PROGRAM(PROXY, "docker-proxy"),
	PROGRAM(PROXY, "socat"),
	/* Podman's holds the published ports while the container runs. */
	PROGRAM(PROXY, "conmon"),
	/* Users' mode port forwarders: port-forward and proxy; -L and -R. */
	PROGRAM(PROXY, "kubectl"),
	PROGRAM(PROXY, "ssh"),
	PROGRAM(PROXY, "rootlesskit"),
	PROGRAM(PROXY, "rootlessport"),
	PROGRAM(PROXY, "slirp4netns"),
	PROGRAM(PROXY, "pasta"),
	PROGRAM(PROXY, "pasta.avx2"),
	PROGRAM(PROXY, "passt"),
	PROGRAM(PROXY, "passt.avx2"),

	/* docs.vllm.ai, "vllm serve"; titles by vllm/utils set_process_title */
	MODULE(VLLM, "vllm.entrypoints.openai.api_server"),
	MODULE(VLLM, "vllm.entrypoints.api_server"),
	{ WD_ID_VLLM, WD_MARK_MODULE, "vllm.entrypoints.cli.main", "serve" },
	{ WD_ID_VLLM, WD_MARK_SCRIPT, "vllm", "serve" },
	TITLE(VLLM_WORKER, "VLLM::"),
	/* docs.sglang.ai, server arguments and router */
	MODULE(SGLANG, "sglang.launch_server"),
	{ WD_ID_SGLANG, WD_MARK_SCRIPT, "sglang", "serve" },
	SCRIPT_PATH(SGLANG, "/sglang/launch_server.py"),
	MODULE(SGLANG_ROUTER, "sglang_router.launch_router"),
	MODULE(SGLANG_ROUTER, "sglang_router.launch_server"),
	TITLE(SGLANG_WORKER, "sglang::"),
	SCRIPT(TGI_WORKER, "text-generation-server"),
	/* mlx_lm/SERVER.md; the end of server.py names all three ways */
	SCRIPT(MLX_LM, "mlx_lm.server"),
	MODULE(MLX_LM, "mlx_lm.server"),
	{ WD_ID_MLX_LM, WD_MARK_MODULE, "mlx_lm", "server" },
	{ WD_ID_MLX_LM, WD_MARK_SCRIPT, "mlx_lm", "server" },
	SCRIPT_PATH(MLX_LM, "/mlx_lm/server.py"),
	SCRIPT(MLX_VLM, "mlx_vlm.server"),
	MODULE(MLX_VLM, "mlx_vlm.server"),
	{ WD_ID_MLX_VLM, WD_MARK_MODULE, "mlx_vlm", "server" },
	SCRIPT_PATH(MLX_VLM, "/mlx_vlm/server.py"),
	/* node -e ...require(".../llmster/.../llmworker.js") */
	{ WD_ID_LM_STUDIO_WORKER, WD_MARK_WORD, "llmworker.js", NULL },
	SCRIPT(TRTLLM, "trtllm-serve"),
	SCRIPT(LITELLM, "litellm"),
	{ WD_ID_NODE_LLAMA, WD_MARK_WORD, "node-llama-cpp", NULL },
	MODULE(LLAMA_CPP_PYTHON, "llama_cpp.server"),
	SCRIPT(KOBOLDCPP, "koboldcpp.py"),
	SCRIPT_PATH(WEBUI, "/text-generation-webui/server.py"),
	SCRIPT(EXO, "exo"),
	MODULE(EXO, "exo"),
	MODULE(EXO, "exo.main"),
};
const size_t wd_mark_count = sizeof(wd_marks) / sizeof(wd_marks[0]);

#define RULE(id, question, test, names, environment, text, reason)             \
	{                                                                      \
		WD_ID_##id, WD_ASK_##question, WD_TEST_##test, names,          \
		    environment, text, reason                                  \
	}
#define ALWAYS(id, question, reason)                                           \
	RULE(id, question, ALWAYS, "", "", NULL, reason)

/* MLX starts its ranks with these (mlx.launch; mlx.core.distributed). */
#define MLX_RANKS(id)                                                          \
	RULE(id, PARTIAL, GIVEN, "", "MLX_HOSTFILE MLX_RANK", NULL,            \
	    "is one rank of a distributed MLX group")

const struct wd_engine_rule wd_engine_rules[] = {
	/* llama.cpp: tools/server/README.md; common/arg.cpp */
	RULE(LLAMA, MUTABLE, ABOVE, "--sleep-idle-seconds", "", "0",
	    "sleeps when idle and reads its model again on the next request"),
	RULE(LLAMA, SLEEPS, ABOVE, "--sleep-idle-seconds", "", "0",
	    "sleeps when idle"),
	RULE(LLAMA, MUTABLE, GIVEN,
	    "--lora --lora-scaled --lora-init-without-apply", "", NULL,
	    "changes its adapters by POST /lora-adapters"),
	RULE(LLAMA, MUTABLE, GIVEN, "--models-dir --models-preset",
	    "LLAMA_ARG_MODELS_DIR LLAMA_ARG_MODELS_PRESET", NULL,
	    "has a directory or list of models to route to"),
	ALWAYS(LLAMA_ROUTER, MUTABLE,
	    "loads and unloads models as requests ask for them"),
	RULE(LLAMA, PARTIAL, TRUE, "--rpc", "LLAMA_ARG_RPC", NULL,
	    "offloads to RPC servers"),
	RULE(LLAMA_ROUTER, PARTIAL, TRUE, "--rpc", "LLAMA_ARG_RPC", NULL,
	    "offloads to RPC servers"),
	ALWAYS(LLAMA_RPC, PARTIAL, "computes a part of somebody else's model"),
	ALWAYS(LLAMA_RPC, MUTABLE, "holds whatever tensors its client sends"),
	ALWAYS(LLAMA_RPC, UPDATABLE, "is sent its tensors over the network"),

	ALWAYS(OLLAMA, MUTABLE,
	    "loads and unloads models as requests ask for them"),
	/* docs/faq.mdx: keep_alive, five minutes unless told otherwise */
	ALWAYS(OLLAMA, SLEEPS, "unloads models that nobody asks for"),
	ALWAYS(OLLAMA_RUNNER, MUTABLE, "loads on POST /load"),

	/* docs.vllm.ai: sleep mode, LoRA adapters, weight transfer */
	RULE(VLLM, MUTABLE, GIVEN, "--enable-sleep-mode", "", NULL,
	    "can discard its weights and load them again (sleep mode)"),
	RULE(VLLM, SLEEPS, GIVEN, "--enable-sleep-mode", "", NULL,
	    "discards its weights when it is put to sleep"),
	RULE(VLLM, MUTABLE, GIVEN, "--weight-transfer-config", "", NULL,
	    "takes weight updates while it runs"),
	RULE(VLLM, MUTABLE, TRUE, "", "VLLM_SERVER_DEV_MODE", NULL,
	    "runs in development mode, which lets clients change weights"),
	RULE(VLLM, MUTABLE, TRUE, "", "VLLM_ALLOW_RUNTIME_LORA_UPDATING", NULL,
	    "loads and unloads adapters on request"),
	RULE(VLLM, UPDATABLE, GIVEN,
	    "--weight-transfer-config --worker-extension-cls", "", NULL,
	    "takes weights from a trainer"),
	RULE(VLLM, UPDATABLE, TRUE, "", "VLLM_SERVER_DEV_MODE", NULL,
	    "runs in development mode, which lets clients change weights"),
	RULE(VLLM, UPDATABLE, IS, "--load-format", "", "dummy",
	    "starts with random weights and waits for others"),
	RULE(VLLM, PARTIAL, ABOVE, "--nnodes", "", "1", "spans several hosts"),
	RULE(VLLM, PARTIAL, ABOVE, "--node-rank", "", "0",
	    "is one rank of several hosts"),
	RULE(VLLM, PARTIAL, GIVEN, "--headless", "", NULL,
	    "is the headless part of a server on another host"),
	RULE(VLLM, PARTIAL, IS, "--distributed-executor-backend", "", "ray",
	    "lets Ray place its ranks, on other hosts too"),
	RULE(VLLM, PARTIAL, GIVEN, "--worker-use-ray", "", NULL,
	    "lets Ray place its ranks, on other hosts too"),
	RULE(VLLM, PARTIAL, IS, "--data-parallel-backend", "", "ray",
	    "lets Ray place its ranks, on other hosts too"),
	RULE(VLLM, PARTIAL, GIVEN,
	    "--data-parallel-address --data-parallel-size-local "
	    "--data-parallel-start-rank --data-parallel-rank",
	    "", NULL, "may answer from replicas on other hosts"),

	/* docs.sglang.ai: server arguments; SGLang for RL */
	ALWAYS(SGLANG, MUTABLE, "takes weight updates while it runs"),
	ALWAYS(SGLANG, UPDATABLE,
	    "takes weights over the network or from another process"),
	ALWAYS(SGLANG_WORKER, MUTABLE, "takes weight updates while it runs"),
	ALWAYS(SGLANG_WORKER, UPDATABLE,
	    "takes weights over the network or from another process"),
	ALWAYS(SGLANG_ROUTER, MUTABLE, "passes requests on to other servers"),
	ALWAYS(SGLANG_ROUTER, PARTIAL, "passes requests on to other servers"),
	RULE(
	    SGLANG, PARTIAL, ABOVE, "--nnodes", "", "1", "spans several hosts"),
	RULE(SGLANG, PARTIAL, ABOVE, "--node-rank", "", "0",
	    "is one rank of several hosts"),
	RULE(SGLANG, PARTIAL, NOT, "--disaggregation-mode", "", "null",
	    "shares prefill and decode with other servers"),

	/* mlx_lm/SERVER.md: the request's model, adapters, draft_model */
	ALWAYS(MLX_LM, MUTABLE, "loads whatever model a request names"),
	MLX_RANKS(MLX_LM),
	RULE(MLX_LM, PARTIAL, GIVEN, "--pipeline", "", NULL,
	    "splits its model over the ranks of a distributed MLX group"),
	ALWAYS(MLX_VLM, MUTABLE, "loads whatever model a request names"),
	MLX_RANKS(MLX_VLM),

	ALWAYS(LM_STUDIO, MUTABLE,
	    "loads and unloads models as requests ask for them"),
	ALWAYS(LM_STUDIO_WORKER, MUTABLE, "loads what LM Studio tells it to"),

	/* Triton user guide, model management. NONE is the default. */
	RULE(TRITON, MUTABLE, NOT, "--model-control-mode", "", "none",
	    "loads and unloads models while it runs (model control mode)"),

	/* TensorRT-LLM: several servers behind one front */
	RULE(TRTLLM, PARTIAL, GIVEN, "disaggregated", "", NULL,
	    "shares prefill and decode with other servers"),

	ALWAYS(LLAMA_SWAP, MUTABLE, "swaps servers as requests ask for them"),
	ALWAYS(LITELLM, PARTIAL, "passes requests on to other servers"),
	ALWAYS(LOCALAI, MUTABLE,
	    "loads and unloads models as requests ask for them"),
	ALWAYS(WEBUI, MUTABLE, "loads the models its users choose"),
	RULE(KOBOLDCPP, MUTABLE, GIVEN, "--admin", "", NULL,
	    "may be told to load another configuration (admin mode)"),
	ALWAYS(EXO, MUTABLE, "loads the models that requests ask for"),
	ALWAYS(EXO, PARTIAL, "splits models over several machines"),
};
const size_t wd_engine_rule_count =
    sizeof(wd_engine_rules) / sizeof(wd_engine_rules[0]);
