/*
 * The engine table, on command lines as public documentation shows them, and
 * on those that somebody forged.
 */
#include <check.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/engines.h"
#include "evidence/engines_table.h"
#include "support/process_make.h"
#include "support/suite.h"

/* ---- a process from text --------------------------------------------------
 */

/* Words are separated by '|', variables too (NAME=VALUE). */
struct sample {
	const char *what;
	const char *exe;         /* NULL: may not be read */
	const char *argv;        /* NULL: may not be read */
	const char *environment; /* NULL: may not be read; "": none */
	const char *engine;      /* NULL: unknown */
	enum wd_engine_how how;
	enum wd_tristate mutable, partial;
	const char *claims, *settings;
};

static struct wd_process
process_of(const char *exe, const char *argv, const char *environment)
{
	return wd_process_make(exe, argv, environment);
}

static void
check_claims(const struct wd_process *process, const char *expected)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;

	wd_buf_init(&text, 65536);
	wd_claims_text(process, &text);
	ck_assert_str_eq(wd_buf_string(&text), expected);
}

static void
check_settings(const struct wd_process *process, const char *expected)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;

	wd_buf_init(&text, 65536);
	wd_settings_text(process, &text);
	ck_assert_str_eq(wd_buf_string(&text), expected);
}

#define PROGRAM WD_ENGINE_BY_PROGRAM
#define SCRIPT WD_ENGINE_BY_SCRIPT
#define PYTHON "/usr/bin/python3.11"
#define LLAMA "/opt/llama/llama-server"

static const struct sample samples[] = {
	/* llama.cpp: tools/server/README.md */
	{ "quick start", LLAMA,
	    "./llama-server|-m|models/7B/ggml-model.gguf|-c|2048|", "",
	    "llama-server", PROGRAM, WD_NO, WD_NO,
	    "model=models/7B/ggml-model.gguf", "run.context=2048" },
	{ "by environment", LLAMA, "/app/llama-server|",
	    "LLAMA_ARG_MODEL=/models/my_model.gguf|LLAMA_ARG_CTX_SIZE=4096|"
	    "LLAMA_ARG_N_PARALLEL=2|LLAMA_ARG_PORT=8080",
	    "llama-server", PROGRAM, WD_NO, WD_NO,
	    "$model=/models/my_model.gguf", "run.context=4096 run.slots=2" },
	{ "the command line wins over the environment, the last word over "
	  "earlier ones",
	    LLAMA, "llama-server|-m|a.gguf|-c|1024|--ctx-size|8192|-m|b.gguf|",
	    "LLAMA_ARG_MODEL=c.gguf|LLAMA_ARG_CTX_SIZE=4096", "llama-server",
	    PROGRAM, WD_NO, WD_NO, "!model=a.gguf model=b.gguf $!model=c.gguf",
	    "run.context=8192" },
	{ "everything at once", LLAMA,
	    "llama-server|-hf|ggml-org/gemma-3-4b-it-GGUF:Q4_K_M|-md|d.gguf|"
	    "--mmproj|p.gguf|-a|one,two|-fa|on|-ctk|q8_0|-ctv|q8_0|-ngl|99|"
	    "-np|4|-b|512|-ub|256|--no-mmap|-nkvo|--draft-max|16|-ngld|9|"
	    "--rope-freq-base|1e6|--spec-type|draft-simple|",
	    "", "llama-server", PROGRAM, WD_NO, WD_NO,
	    "model=ggml-org/gemma-3-4b-it-GGUF:Q4_K_M draft=d.gguf "
	    "projector=p.gguf name=one name=two",
	    "run.batch=512 run.draft.gpu_layers=9 run.draft.max=16 "
	    "run.flash_attention=on run.gpu_layers=99 run.kv.k=q8_0 "
	    "run.kv.offload=off run.kv.v=q8_0 run.mmap=off "
	    "run.rope.freq_base=1e6 run.slots=4 run.speculative.type="
	    "draft-simple run.ubatch=256" },
	{ "older builds take --flash-attn alone, and underscores for dashes",
	    LLAMA, "llama-server|--model|a|--flash-attn|--ctx_size|512|", "",
	    "llama-server", PROGRAM, WD_NO, WD_NO, "model=a",
	    "run.context=512 run.flash_attention=on" },
	{ "switches in the environment", LLAMA, "llama-server|-m|a|",
	    "LLAMA_ARG_FLASH_ATTN=1|LLAMA_ARG_KV_OFFLOAD=disabled",
	    "llama-server", PROGRAM, WD_NO, WD_NO, "model=a",
	    "run.flash_attention=on run.kv.offload=off" },
	{ "adapters change at run time", LLAMA,
	    "llama-server|-m|a|--lora|x.gguf,y.gguf|--lora-scaled|z:1.gguf:0."
	    "5|",
	    "", "llama-server", PROGRAM, WD_YES, WD_NO,
	    "model=a adapter=x.gguf adapter=y.gguf adapter=z:1.gguf", "" },
	{ "sleeps when idle", LLAMA,
	    "llama-server|-m|a|--sleep-idle-seconds|60|", "", "llama-server",
	    PROGRAM, WD_YES, WD_NO, "model=a", "" },
	{ "sleep disabled", LLAMA, "llama-server|-m|a|--sleep-idle-seconds|-1|",
	    "", "llama-server", PROGRAM, WD_NO, WD_NO, "model=a", "" },
	{ "ranks elsewhere", LLAMA,
	    "llama-server|-m|a|--rpc|192.168.1.2:50052|", "", "llama-server",
	    PROGRAM, WD_NO, WD_YES, "model=a", "" },
	{ "ranks elsewhere, by environment", LLAMA, "llama-server|-m|a|",
	    "LLAMA_ARG_RPC=h:1", "llama-server", PROGRAM, WD_NO, WD_YES,
	    "model=a", "" },
	{ "repeated overrides add up in some versions", LLAMA,
	    "llama-server|-m|a|--override-kv|k=int:1|--override-kv|l=int:2|",
	    "", "llama-server", PROGRAM, WD_NO, WD_NO, "model=a", "" },
	{ "an override given once", LLAMA,
	    "llama-server|-m|a|--override-kv|k=int:1|", "", "llama-server",
	    PROGRAM, WD_NO, WD_NO, "model=a", "run.override_kv=k=int:1" },
	{ "the router", LLAMA, "llama-server|--models-dir|/models|", "",
	    "llama-server router", PROGRAM, WD_YES, WD_NO, "store=/models",
	    "" },
	{ "the router, given nothing", LLAMA, "llama-server|", "",
	    "llama-server router", PROGRAM, WD_YES, WD_NO, "", "" },
	{ "an empty model is none", LLAMA, "llama-server|-m||", "",
	    "llama-server router", PROGRAM, WD_YES, WD_NO, "", "" },
	{ "a model that is built in", LLAMA,
	    "llama-server|--gpt-oss-20b-default|", "", "llama-server", PROGRAM,
	    WD_NO, WD_NO, "", "" },
	{ "a model and a directory of others", LLAMA,
	    "llama-server|-m|a|--models-dir|/m|", "", "llama-server", PROGRAM,
	    WD_YES, WD_NO, "model=a store=/m", "" },
	{ "a child of the router", LLAMA,
	    "/opt/llama/llama-server|--port|41231|--alias|x|--model|/m/x.gguf|",
	    "LLAMA_SERVER_ROUTER_PORT=8080", "llama-server", PROGRAM, WD_NO,
	    WD_NO, "name=x model=/m/x.gguf", "" },
	{ "a server of tensors", "/opt/llama/rpc-server",
	    "rpc-server|-p|50052|", "", "llama.cpp rpc-server", PROGRAM, WD_YES,
	    WD_YES, "", "" },

	/* Ollama */
	{ "ollama", "/usr/local/bin/ollama", "/usr/local/bin/ollama|serve|",
	    "OLLAMA_MODELS=/srv/ollama", "ollama", PROGRAM, WD_YES,
	    WD_NOT_KNOWN, "", "" },
	{ "its runner", "/usr/local/bin/ollama",
	    "/usr/local/bin/ollama|runner|--model|/b/sha256-1|--ctx-size|8192|"
	    "--batch-size|512|--n-gpu-layers|33|--parallel|4|--port|4000|",
	    "", "ollama runner", PROGRAM, WD_YES, WD_NO, "model=/b/sha256-1",
	    "run.batch=512 run.context=8192 run.gpu_layers=33 run.slots=4" },
	{ "its runner for MLX", "/usr/local/bin/ollama",
	    "ollama|runner|--mlx-engine|--model|qwen3:8b|--port|4000|",
	    "OLLAMA_MODELS=/srv/ollama", "ollama runner", PROGRAM, WD_YES,
	    WD_NO, "model=qwen3:8b $store=/srv/ollama", "" },
	{ "its llama-server", "/usr/lib/ollama/llama-server",
	    "/usr/lib/ollama/llama-server|--model|/b/sha256-1|--port|4001|",
	    "OLLAMA_MODELS=/srv/ollama", "llama-server", PROGRAM, WD_NO, WD_NO,
	    "model=/b/sha256-1", "" },

	/* vLLM: docs.vllm.ai */
	{ "vllm serve", PYTHON,
	    "/venv/bin/python|/venv/bin/vllm|serve|org/model|"
	    "--tensor-parallel-size|4|--max-model-len|32K|--dtype=bfloat16|",
	    "HF_HOME=/hub", "vLLM", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN,
	    "model=org/model $store=/hub",
	    "run.context=32K run.dtype=bfloat16 run.tensor_parallel=4" },
	{ "the api server as a module", PYTHON,
	    "python3|-u|-m|vllm.entrypoints.openai.api_server|--model|/m|"
	    "--served-model-name|a|b|--kv_cache_dtype|fp8|",
	    "", "vLLM", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN,
	    "model=/m name=a name=b", "run.kv.k=fp8 run.kv.v=fp8" },
	{ "options of python in one word", PYTHON,
	    "python3|-X|dev|-um|vllm.entrypoints.openai.api_server|--model|/m|",
	    "", "vLLM", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=/m", "" },
	{ "adapters and a draft", PYTHON,
	    "python|/usr/bin/vllm|serve|/m|--enable-lora|--lora-modules|"
	    "sql=/l/sql|{\"name\": \"b\", \"path\": \"/l/b\"}|"
	    "--speculative-config|{\"model\": \"/d\", "
	    "\"num_speculative_tokens\": 5}|",
	    "", "vLLM", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN,
	    "model=/m adapter=/l/sql adapter=/l/b draft=/d",
	    "run.speculative={\"model\": \"/d\", "
	    "\"num_speculative_tokens\": 5}" },
	{ "adapters at run time", PYTHON, "python|/usr/bin/vllm|serve|/m|",
	    "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True", "vLLM", SCRIPT, WD_YES,
	    WD_NOT_KNOWN, "model=/m", "" },
	{ "development mode", PYTHON, "python|/usr/bin/vllm|serve|/m|",
	    "VLLM_SERVER_DEV_MODE=1", "vLLM", SCRIPT, WD_YES, WD_NOT_KNOWN,
	    "model=/m", "" },
	{ "development mode switched off", PYTHON,
	    "python|/usr/bin/vllm|serve|/m|", "VLLM_SERVER_DEV_MODE=0", "vLLM",
	    SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=/m", "" },
	{ "sleep mode, abbreviated", PYTHON,
	    "python|/usr/bin/vllm|serve|/m|--enable-sleep|", "", "vLLM", SCRIPT,
	    WD_YES, WD_NOT_KNOWN, "model=/m", "" },
	{ "two nodes", PYTHON,
	    "python|/usr/bin/vllm|serve|/m|-tp|16|--nnodes|2|--node-rank|0|",
	    "", "vLLM", SCRIPT, WD_NOT_KNOWN, WD_YES, "model=/m",
	    "run.tensor_parallel=16" },
	{ "one node", PYTHON,
	    "python|/usr/bin/vllm|serve|/m|--nnodes|1|--node-rank=0|", "",
	    "vLLM", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=/m", "" },
	{ "ray", PYTHON,
	    "python|/usr/bin/vllm|serve|/m|--distributed_executor_backend=ray|",
	    "", "vLLM", SCRIPT, WD_NOT_KNOWN, WD_YES, "model=/m", "" },
	{ "one host", PYTHON,
	    "python|/usr/bin/vllm|serve|/m|--distributed-executor-backend|mp|",
	    "", "vLLM", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=/m", "" },
	{ "an abbreviated option is in doubt, and so left out", PYTHON,
	    "python|/usr/bin/vllm|serve|/m|--dtype|half|--dty|float|-q|fp8|",
	    "", "vLLM", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=/m",
	    "run.quantization=fp8" },

	/* SGLang: docs, server arguments */
	{ "sglang on two nodes", PYTHON,
	    "python3|-m|sglang.launch_server|--model-path|org/m|--tp|4|"
	    "--dist-init-addr|sgl-dev-0:50000|--nnodes|2|--node-rank|0|",
	    "", "SGLang", SCRIPT, WD_YES, WD_YES, "model=org/m",
	    "run.tensor_parallel=4" },
	{ "sglang on one", PYTHON,
	    "python3|-m|sglang.launch_server|--model-path|org/m|--lora-paths|"
	    "/l/a|b=/l/b|--context-length|8192|--speculative-algorithm|EAGLE|"
	    "--speculative-draft-model-path|/d|",
	    "", "SGLang", SCRIPT, WD_YES, WD_NOT_KNOWN,
	    "model=org/m adapter=/l/a adapter=/l/b draft=/d",
	    "run.context=8192 run.speculative.type=EAGLE" },
	{ "prefill apart from decode", PYTHON,
	    "python3|-m|sglang.launch_server|--model-path|m|"
	    "--disaggregation-mode|prefill|",
	    "", "SGLang", SCRIPT, WD_YES, WD_YES, "model=m", "" },
	{ "its router", PYTHON,
	    "python|-m|sglang_router.launch_router|--worker-urls|"
	    "http://worker1:8000|http://worker2:8000|",
	    "", "SGLang router", SCRIPT, WD_YES, WD_YES, "", "" },

	/* TGI: launcher reference */
	{ "the launcher", "/usr/local/bin/text-generation-launcher",
	    "text-generation-launcher|--model-id|org/m|--num-shard|2|",
	    "MODEL_ID=org/other|QUANTIZE=awq", "text-generation-launcher",
	    PROGRAM, WD_NOT_KNOWN, WD_NOT_KNOWN,
	    "model=org/m $!model=org/other",
	    "run.quantization=awq run.tensor_parallel=2" },
	{ "its router", "/usr/local/bin/text-generation-router",
	    "text-generation-router|--tokenizer-name|org/m|--revision|abc|",
	    "MODEL_ID=org/m|HF_HOME=/hub", "text-generation-router", PROGRAM,
	    WD_NOT_KNOWN, WD_NOT_KNOWN, "model=org/m $model=org/m $store=/hub",
	    "run.revision=abc" },
	{ "a shard", PYTHON,
	    "python3|/opt/venv/bin/text-generation-server|serve|org/m|"
	    "--uds-path|/tmp/text-generation-server|",
	    "", "text-generation-server", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN,
	    "model=org/m", "" },

	/* MLX */
	{ "mlx_lm.server", PYTHON,
	    "python|/venv/bin/mlx_lm.server|--model|/m|--adapter-path|/a|"
	    "--draft-model|/d|--num-draft-tokens|4|",
	    "", "mlx_lm.server", SCRIPT, WD_YES, WD_NOT_KNOWN,
	    "model=/m adapter=/a draft=/d", "run.draft.max=4" },
	{ "python -m mlx_lm server", PYTHON,
	    "python3|-m|mlx_lm|server|--model|sov30b|", "", "mlx_lm.server",
	    SCRIPT, WD_YES, WD_NOT_KNOWN, "model=sov30b", "" },
	{ "another command of mlx_lm", PYTHON,
	    "python3|-m|mlx_lm|generate|--model|m|", "", NULL,
	    WD_ENGINE_UNKNOWN, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=m", "" },
	{ "a rank of several", PYTHON, "python3|-m|mlx_lm.server|--model|m|",
	    "MLX_RANK=0|MLX_HOSTFILE=/tmp/hosts.json", "mlx_lm.server", SCRIPT,
	    WD_YES, WD_YES, "model=m", "" },
	{ "mlx-vlm", PYTHON, "python|-m|mlx_vlm.server|--model|m|", "",
	    "mlx_vlm.server", SCRIPT, WD_YES, WD_NOT_KNOWN, "model=m", "" },

	/* the others */
	{ "LM Studio's worker", "/home/u/.lmstudio/.internal/utils/node",
	    "node|-e|require(\"/home/u/.lmstudio/llmster/lib/llmworker.js\")|",
	    "", "LM Studio worker", SCRIPT, WD_YES, WD_NOT_KNOWN, "", "" },
	{ "triton", "/opt/tritonserver/bin/tritonserver",
	    "tritonserver|--model-repository=/models|", "", "tritonserver",
	    PROGRAM, WD_NO, WD_NOT_KNOWN, "store=/models", "" },
	{ "triton, models by request", "/opt/tritonserver/bin/tritonserver",
	    "tritonserver|--model-repository=/models|"
	    "--model-control-mode=explicit|--load-model=segment|",
	    "", "tritonserver", PROGRAM, WD_YES, WD_NOT_KNOWN,
	    "store=/models name=segment", "" },
	{ "triton, no control", "/opt/tritonserver/bin/tritonserver",
	    "tritonserver|--model-control-mode=none|", "", "tritonserver",
	    PROGRAM, WD_NO, WD_NOT_KNOWN, "", "" },
	{ "trtllm-serve", PYTHON,
	    "python3|/usr/local/bin/trtllm-serve|serve|/m|--tp_size|8|"
	    "--max_seq_len|4096|",
	    "", "trtllm-serve", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=/m",
	    "run.context=4096 run.tensor_parallel=8" },
	{ "a file that may win over the options", PYTHON,
	    "python3|/usr/local/bin/trtllm-serve|/m|--tp_size|8|"
	    "--extra_llm_api_options|c.yaml|",
	    "", "trtllm-serve", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN,
	    "model=/m config=c.yaml", "" },
	{ "disaggregated", PYTHON,
	    "python3|/usr/local/bin/trtllm-serve|disaggregated|-c|c.yaml|", "",
	    "trtllm-serve", SCRIPT, WD_NOT_KNOWN, WD_YES, "", "" },
	{ "llama-swap", "/usr/local/bin/llama-swap",
	    "llama-swap|--config|/etc/llama-swap.yaml|", "", "llama-swap",
	    PROGRAM, WD_YES, WD_NOT_KNOWN, "config=/etc/llama-swap.yaml", "" },
	{ "litellm", PYTHON, "python|/venv/bin/litellm|--config|c.yaml|", "",
	    "LiteLLM", SCRIPT, WD_NOT_KNOWN, WD_YES, "config=c.yaml", "" },
	{ "node-llama-cpp", "/usr/bin/node",
	    "node|/app/node_modules/node-llama-cpp/dist/cli/cli.js|chat|", "",
	    "node-llama-cpp", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN, "", "" },
	{ "llama_cpp.server", PYTHON,
	    "python3|-m|llama_cpp.server|--model|a.gguf|--n_gpu_layers|35|", "",
	    "llama_cpp.server", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN,
	    "model=a.gguf", "run.gpu_layers=35" },
	{ "koboldcpp", "/opt/koboldcpp-linux-x64",
	    "./koboldcpp-linux-x64|--model|a.gguf|--contextsize|8192|"
	    "--draftmodel|d.gguf|",
	    "", "KoboldCpp", PROGRAM, WD_NOT_KNOWN, WD_NOT_KNOWN,
	    "model=a.gguf draft=d.gguf", "run.context=8192" },
	{ "LocalAI: the environment wins", "/usr/bin/local-ai",
	    "local-ai|run|--models-path|/a|", "LOCALAI_MODELS_PATH=/b",
	    "LocalAI", PROGRAM, WD_YES, WD_NOT_KNOWN, "!store=/a $store=/b",
	    "" },
	{ "exo", PYTHON, "python3|/venv/bin/exo|", "", "exo", SCRIPT, WD_YES,
	    WD_YES, "", "" },
	{ "a proxy", "/usr/sbin/nginx", "nginx: master process nginx|", "",
	    "proxy", PROGRAM, WD_NOT_KNOWN, WD_NOT_KNOWN, "", "" },
	{ "-m means something else there", "/usr/sbin/haproxy",
	    "haproxy|-m|512|-f|haproxy.cfg|", "", "proxy", PROGRAM,
	    WD_NOT_KNOWN, WD_NOT_KNOWN, "", "" },
	{ "nobody knows it", "/opt/serve", "serve|-m|a.gguf|--lora|l|-a|n|",
	    "MODEL_PATH=/x", NULL, WD_ENGINE_UNKNOWN, WD_NOT_KNOWN,
	    WD_NOT_KNOWN, "model=a.gguf adapter=l name=n $model=/x", "" },
	{ "python's -m is a module", PYTHON, "python3|-m|server|-m|a|", "",
	    NULL, WD_ENGINE_UNKNOWN, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=a",
	    "" },

	/* malformed, or not to be read */
	{ "an option at the end", LLAMA, "llama-server|-c|1|-m|", "",
	    "llama-server router", PROGRAM, WD_YES, WD_NO, "",
	    "run.context=1" },
	{ "an argparse option before another", PYTHON,
	    "python|-m|sglang.launch_server|--model-path|--dtype|half|", "",
	    "SGLang", SCRIPT, WD_YES, WD_NOT_KNOWN, "", "run.dtype=half" },
	{ "empty words", LLAMA, "llama-server|||-m||-m|a||", "", "llama-server",
	    PROGRAM, WD_NO, WD_NO, "model=a", "" },
	{ "no words at all", LLAMA, "", "", "llama-server", PROGRAM,
	    WD_NOT_KNOWN, WD_NOT_KNOWN, "", "" },
	{ "no command line", LLAMA, NULL, "LLAMA_ARG_CTX_SIZE=1",
	    "llama-server", PROGRAM, WD_NOT_KNOWN, WD_NOT_KNOWN, "", "" },
	{ "no environment", LLAMA, "llama-server|-m|a|-c|1|", NULL,
	    "llama-server", PROGRAM, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=a",
	    "run.context=1" },
	{ "no model, and no environment", LLAMA, "llama-server|-c|1|", NULL,
	    "llama-server", PROGRAM, WD_NOT_KNOWN, WD_NOT_KNOWN, "",
	    "run.context=1" },
	{ "the executable may not be read", NULL, "/usr/bin/llama-server|-m|a|",
	    "", "llama-server", WD_ENGINE_BY_TITLE, WD_NOT_KNOWN, WD_NOT_KNOWN,
	    "model=a", "" },
	{ "bytes that are no text", LLAMA,
	    "llama-server|-m|a|-c|\xff\x01|-b|512|", "", "llama-server",
	    PROGRAM, WD_NO, WD_NO, "model=a", "run.batch=512" },
	{ "JSON that is cut, nested, escaped", PYTHON,
	    "python|/bin/vllm|serve|/m|--speculative-config|{\"model\": \"/d|"
	    "--speculative-config={\"x\": {\"model\": \"/e\"}}|"
	    "--speculative-config={\"model\": \"/f\\n\", \"b\\\"\": \"/g\"}|",
	    "", "vLLM", SCRIPT, WD_NOT_KNOWN, WD_NOT_KNOWN, "model=/m",
	    "run.speculative={\"model\": \"/f\\n\", \"b\\\"\": \"/g\"}" },

	/* forged */
	{ "a program that calls itself a proxy", PYTHON,
	    "nginx: worker process|", "", NULL, WD_ENGINE_UNKNOWN, WD_NOT_KNOWN,
	    WD_NOT_KNOWN, "", "" },
	{ "a program that calls itself a server", "/tmp/evil",
	    "/usr/bin/llama-server|-m|a|", "", NULL, WD_ENGINE_UNKNOWN,
	    WD_NOT_KNOWN, WD_NOT_KNOWN, "model=a", "" },
	{ "a program wins over its title", LLAMA, "VLLM::Worker_TP0|-m|a|", "",
	    "llama-server", PROGRAM, WD_NO, WD_NO, "model=a", "" },
	{ "words do not hide the options of the unknown", PYTHON,
	    "python|/x/litellm|-m|a.gguf|--config|c|", "", "LiteLLM", SCRIPT,
	    WD_NOT_KNOWN, WD_YES, "model=a.gguf config=c", "" },
};

START_TEST(recognised)
{
	const struct sample *s = &samples[_i];
	struct wd_process p = process_of(s->exe, s->argv, s->environment);
	struct wd_recognition found = wd_engine_recognise(&p);
	const char *reason;

	ck_assert_msg((found.engine == NULL) == (s->engine == NULL), "%s: %s",
	    s->what, found.engine == NULL ? "unknown" : found.engine->name);
	if (s->engine != NULL)
		ck_assert_str_eq(found.engine->name, s->engine);
	ck_assert_msg(found.how == s->how, "%s: how %d", s->what, found.how);
	ck_assert_msg(wd_engine_mutable(&p, &reason) == s->mutable,
	    "%s: mutable, %s", s->what, reason);
	ck_assert((reason == NULL) == (s->mutable == WD_NO));
	ck_assert_msg(wd_engine_partial(&p, &reason) == s->partial,
	    "%s: partial, %s", s->what, reason);
	check_claims(&p, s->claims);
	check_settings(&p, s->settings);
	wd_process_release(&p);
}
END_TEST

/* ---- the rule: words make nothing less careful ------------------------------
 */

/* The same command line under an executable nobody knows, and under none. */
START_TEST(words_deny_nothing)
{
	const struct sample *s = &samples[_i];
	struct wd_process p = process_of(
	    _i % 2 == 0 ? "/tmp/evil" : NULL, s->argv, s->environment);
	struct wd_recognition found = wd_engine_recognise(&p);

	ck_assert(found.how != WD_ENGINE_BY_PROGRAM);
	ck_assert(!wd_engine_is_own_server(&found));
	ck_assert(!wd_engine_is_proxy(&found));
	ck_assert_int_ne(wd_engine_mutable(&p, NULL), WD_NO);
	ck_assert_int_ne(wd_engine_partial(&p, NULL), WD_NO);
	ck_assert_int_ne(wd_engine_updatable_without_files(&p, NULL), WD_NO);
	wd_process_release(&p);
}
END_TEST

/* Written over a title, cut, or longer than anybody reads: no "no". */
START_TEST(half_read_words_deny_nothing)
{
	struct wd_process p = process_of(LLAMA, "llama-server|-m|a|-c|1|", "");

	ck_assert_int_eq(wd_engine_mutable(&p, NULL), WD_NO);
	ck_assert_int_eq(wd_engine_updatable_without_files(&p, NULL), WD_NO);
	if (_i == 0)
		p.argv_overwritten = true;
	else
		p.argv_truncated = true;
	ck_assert_int_eq(wd_engine_mutable(&p, NULL), WD_NOT_KNOWN);
	ck_assert_int_eq(wd_engine_partial(&p, NULL), WD_NOT_KNOWN);
	ck_assert_int_eq(
	    wd_engine_updatable_without_files(&p, NULL), WD_NOT_KNOWN);
	check_settings(&p, "");
	check_claims(&p, "model=a");
	wd_process_release(&p);
}
END_TEST

START_TEST(titles)
{
	static const struct {
		const char *argv, *comm, *engine;
	} rows[] = {
		{ "VLLM::EngineCore|||", "VLLM::EngineCor", "vLLM worker" },
		{ "VLLM::Worker_TP0", "python3", "vLLM worker" },
		{ "python|", "VLLM::Worker_TP", "vLLM worker" },
		{ "sglang::scheduler_TP0|", "sglang::schedul",
		    "SGLang worker" },
	};
	struct wd_process p = process_of(PYTHON, rows[_i].argv, "");
	struct wd_recognition found;

	p.argv_overwritten = true;
	(void)strncpy(p.comm, rows[_i].comm, sizeof(p.comm) - 1);
	found = wd_engine_recognise(&p);
	ck_assert_ptr_nonnull(found.engine);
	ck_assert_str_eq(found.engine->name, rows[_i].engine);
	ck_assert_int_eq(found.how, WD_ENGINE_BY_TITLE);
	ck_assert_int_eq(found.engine->kind, WD_ENGINE_WORKER);
	ck_assert(!wd_engine_is_own_server(&found));
	ck_assert_int_ne(wd_engine_mutable(&p, NULL), WD_NO);
	wd_process_release(&p);
}
END_TEST

START_TEST(own_servers_and_proxies_by_program)
{
	struct wd_process p = process_of(LLAMA, "llama-server|-m|a|", "");
	struct wd_recognition found = wd_engine_recognise(&p);

	ck_assert(wd_engine_is_own_server(&found));
	ck_assert(!wd_engine_is_proxy(&found));
	wd_process_release(&p);
	p = process_of("/usr/sbin/haproxy", "haproxy|-f|x|", "");
	found = wd_engine_recognise(&p);
	ck_assert(wd_engine_is_proxy(&found));
	wd_process_release(&p);
	p = process_of("/opt/unknown", "unknown|", "");
	found = wd_engine_recognise(&p);
	ck_assert(!wd_engine_is_own_server(&found));
	wd_process_release(&p);
}
END_TEST

START_TEST(internal_ports_by_program_only)
{
	struct wd_engine inner = { .family = "f", .internal_port = true };
	struct wd_engine outer = { .family = "f" };
	struct wd_engine other = { .family = "g" };
	struct wd_recognition parent = { &outer, WD_ENGINE_BY_PROGRAM };
	struct wd_recognition child = { &inner, WD_ENGINE_BY_PROGRAM };

	ck_assert(wd_engine_port_is_internal(&parent, &child));
	child.how = WD_ENGINE_BY_TITLE;
	ck_assert(!wd_engine_port_is_internal(&parent, &child));
	child.how = WD_ENGINE_BY_PROGRAM;
	parent.how = WD_ENGINE_BY_SCRIPT;
	ck_assert(!wd_engine_port_is_internal(&parent, &child));
	parent = (struct wd_recognition){ &other, WD_ENGINE_BY_PROGRAM };
	ck_assert(!wd_engine_port_is_internal(&parent, &child));
	parent = (struct wd_recognition){ NULL, WD_ENGINE_UNKNOWN };
	ck_assert(!wd_engine_port_is_internal(&parent, &child));
}
END_TEST

START_TEST(updatable_without_files)
{
	static const struct {
		const char *exe, *argv, *environment;
		enum wd_tristate answer;
	} rows[] = {
		{ LLAMA, "llama-server|-m|a|", "", WD_NO },
		{ "/x/rpc-server", "rpc-server|", "", WD_YES },
		{ PYTHON, "python|-m|sglang.launch_server|--model|m|", "",
		    WD_YES },
		{ PYTHON, "python|/bin/vllm|serve|m|", "", WD_NOT_KNOWN },
		{ PYTHON, "python|/bin/vllm|serve|m|", "VLLM_SERVER_DEV_MODE=1",
		    WD_YES },
		{ PYTHON,
		    "python|/bin/vllm|serve|m|--weight-transfer-config={}|", "",
		    WD_YES },
		{ PYTHON, "python|/bin/vllm|serve|m|--load-format|dummy|", "",
		    WD_YES },
		{ PYTHON, "python|/bin/vllm|serve|m|--load-format|auto|", "",
		    WD_NOT_KNOWN },
		{ "/opt/unknown", "unknown|", "", WD_NOT_KNOWN },
	};
	struct wd_process p =
	    process_of(rows[_i].exe, rows[_i].argv, rows[_i].environment);

	ck_assert_int_eq(
	    wd_engine_updatable_without_files(&p, NULL), rows[_i].answer);
	wd_process_release(&p);
}
END_TEST

/* ---- the rest -------------------------------------------------------------
 */

static bool
note_all(void *ctx, const struct wd_engine_claim *claim)
{
	struct wd_buf *text = ctx;

	(void)wd_buf_printf(text, "%d:%.*s=%.*s ", claim->known,
	    (int)claim->key.len, (const char *)claim->key.data,
	    (int)claim->value.len, (const char *)claim->value.data);
	return text->len < 64;
}

START_TEST(unknown_words_are_tried)
{
	struct wd_process p = process_of("/opt/serve",
	    "serve|/m/a.gguf|--weights=/m/b.gguf|--fast|--model=/m/c|", "");
	WD_CLEANUP(wd_buf_release) struct wd_buf text;

	wd_buf_init(&text, 65536);
	ck_assert(wd_engine_claims(&p, note_all, &text));
	ck_assert_str_eq(wd_buf_string(&text),
	    "0:=/m/a.gguf 0:--weights=/m/b.gguf 1:--model=/m/c ");
	wd_process_release(&p);
}
END_TEST

START_TEST(the_taker_ends_it)
{
	struct wd_process p = process_of("/opt/serve",
	    "serve|-m|"
	    "01234567890123456789012345678901234567890123456789012345678901"
	    "|-m|x|",
	    "MODEL=y");
	WD_CLEANUP(wd_buf_release) struct wd_buf text;

	wd_buf_init(&text, 65536);
	ck_assert(wd_engine_claims(&p, note_all, &text));
	ck_assert_ptr_null(strstr(wd_buf_string(&text), "=x"));
	ck_assert_ptr_null(strstr(wd_buf_string(&text), "=y"));
	wd_process_release(&p);
}
END_TEST

static bool
count_claim(void *ctx, const struct wd_engine_claim *claim)
{
	(void)claim;
	++*(size_t *)ctx;
	return true;
}

/* 2 MiB of words: bounded work, and nothing denied. */
START_TEST(very_long)
{
	static const char *const words[] = { "-c 4096 ", "-x=y ", "a ", "\0" };
	struct wd_process p = process_of(LLAMA, "", "");
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	size_t len = strlen(words[_i]), count = 0, i;

	len = len == 0 ? 1 : len;
	wd_buf_init(&text, WD_MAX_ARGV_BYTES + 64);
	(void)wd_buf_append(&text, "llama-server\0-m\0a", 18);
	while (text.len + len <= WD_MAX_ARGV_BYTES)
		(void)wd_buf_append(&text, words[_i], len);
	for (i = 0; i < text.len; i++)
		if (text.data[i] == ' ')
			text.data[i] = 0;
	ck_assert_int_eq(wd_bytes_set(&p.argv, wd_buf_slice(&text)), WD_OK);
	ck_assert_int_eq(wd_engine_mutable(&p, NULL), WD_NOT_KNOWN);
	ck_assert(!wd_engine_claims(&p, count_claim, &count));
	ck_assert_uint_ge(count, 1);
	ck_assert_uint_le(count, 300);
	check_settings(&p, "");
	wd_process_release(&p);
}
END_TEST

START_TEST(complete_settings)
{
	static const struct {
		const char *argv, *environment;
		bool complete;
	} rows[] = {
		{ "python|/bin/vllm|serve|m|--dtype|half|", "", true },
		{ "python|/bin/vllm|serve|m|--dtype|half|", NULL, false },
		{ "python|/bin/vllm|serve|m|--config|c|--dtype|half|", "",
		    false },
		{ "python|/bin/vllm|serve|m|--conf|c|--dtype|half|", "",
		    false },
		{ "python|/bin/vllm|serve|m|--max-model|8|--dtype|half|", "",
		    false },
	};
	WD_CLEANUP(wd_run_settings_release) struct wd_run_settings settings;
	struct wd_process p =
	    process_of(PYTHON, rows[_i].argv, rows[_i].environment);

	ck_assert_int_eq(wd_engine_run_settings(&p, &settings, NULL), WD_OK);
	ck_assert(settings.complete == rows[_i].complete);
	ck_assert_uint_eq(settings.count, 1);
	ck_assert_str_eq(settings.items[0].key, "run.dtype");
	wd_process_release(&p);
}
END_TEST

/* An option that such an engine does not list may be set all the same. */
START_TEST(an_absence_that_says_nothing)
{
	static const char *const rows[][2] = {
		{ "/usr/bin/text-generation-router",
		    "text-generation-router|--max-total-tokens|4096|" },
		{ "/usr/bin/tritonserver", "tritonserver|" },
		{ "/usr/bin/ollama", "ollama|serve|" },
		{ "/usr/bin/node", "node|node_modules/node-llama-cpp/x.js|" },
		{ PYTHON, "python|-m|mlx_lm.server|--model|m|" },
	};
	WD_CLEANUP(wd_run_settings_release) struct wd_run_settings settings;
	struct wd_process p = process_of(rows[_i][0], rows[_i][1], "");

	ck_assert_ptr_nonnull(wd_engine_recognise(&p).engine);
	ck_assert_int_eq(wd_engine_run_settings(&p, &settings, NULL), WD_OK);
	ck_assert(!settings.complete);
	wd_process_release(&p);
}
END_TEST

START_TEST(out_of_memory)
{
	struct wd_process p =
	    process_of(LLAMA, "llama-server|-m|a|-c|1|-b|2|-ub|3|-np|4|", "");
	struct wd_run_settings settings;
	enum wd_status st = WD_NOMEM;
	struct wd_error err;
	uint64_t n;

	for (n = 0; st == WD_NOMEM; n++) {
		wd_mem_fail_after(n);
		st = wd_engine_run_settings(&p, &settings, &err);
		wd_mem_fail_after(UINT64_MAX);
		if (st == WD_NOMEM) {
			ck_assert_uint_eq(settings.count, 0);
			ck_assert_ptr_null(settings.items);
		}
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_ge(n, 9);
	ck_assert_uint_eq(settings.count, 4);
	wd_run_settings_release(&settings);
	wd_process_release(&p);
}
END_TEST

/* ---- the table itself ------------------------------------------------------
 */

START_TEST(the_table_is_sound)
{
	const struct wd_engine *e = &wd_engines[_i];
	size_t i, n = 0;

	ck_assert_ptr_nonnull(e->name);
	ck_assert_ptr_nonnull(e->family);
	ck_assert_ptr_nonnull(e->options);
	for (i = 0; e->options[i].names != NULL; i++) {
		const struct wd_engine_option *o = &e->options[i];

		ck_assert_ptr_nonnull(o->environment);
		ck_assert(o->use != WD_ENGINE_NO_USE || o->keys != NULL);
		if (o->keys != NULL)
			ck_assert(strncmp(o->keys, "run.", 4) == 0);
	}
	ck_assert_uint_lt(i, WD_ENGINE_MAX_OPTIONS);
	for (i = 0; i < wd_mark_count; i++)
		n += &wd_engines[wd_marks[i].engine] == e;
	ck_assert(n > 0 || e == &wd_engines[WD_ID_LLAMA_ROUTER]);
}
END_TEST

/* A mark by program behind one by words would let words win. */
START_TEST(programs_are_tried_first)
{
	bool words = false;
	size_t i;

	for (i = 0; i < wd_mark_count; i++) {
		bool program = wd_marks[i].where == WD_MARK_PROGRAM ||
		    wd_marks[i].where == WD_MARK_PROGRAM_START;

		ck_assert(!(program && words));
		words = words || !program;
	}
}
END_TEST

WD_SUITE_BEGIN("evidence engines")
WD_LOOP(recognised, samples);
WD_LOOP(words_deny_nothing, samples);
tcase_add_loop_test(tcase, half_read_words_deny_nothing, 0, 2);
tcase_add_loop_test(tcase, titles, 0, 4);
WD_TEST(own_servers_and_proxies_by_program);
WD_TEST(internal_ports_by_program_only);
tcase_add_loop_test(tcase, updatable_without_files, 0, 9);
WD_TEST(unknown_words_are_tried);
WD_TEST(the_taker_ends_it);
tcase_add_loop_test(tcase, very_long, 0, 4);
tcase_add_loop_test(tcase, complete_settings, 0, 5);
tcase_add_loop_test(tcase, an_absence_that_says_nothing, 0, 5);
WD_TEST(out_of_memory);
tcase_add_loop_test(tcase, the_table_is_sound, 0, WD_ID_COUNT);
WD_TEST(programs_are_tried_first);
WD_SUITE_END
