/*
 * Where each engine names its weights, and which of its options count. Names
 * were read in the source named above each block (2024 to 2026); what could
 * not be verified is not here. Spellings of older versions stay.
 */
#include "evidence/engines_table.h"

#define CLAIM(names, env, use, shape)                                          \
	{                                                                      \
		names, env, WD_FORM_VALUE, WD_ENGINE_##use, WD_SHAPE_##shape,  \
		    NULL, NULL                                                 \
	}
#define MANY(names, env, use, shape)                                           \
	{                                                                      \
		names, env, WD_FORM_MANY, WD_ENGINE_##use, WD_SHAPE_##shape,   \
		    NULL, NULL                                                 \
	}
/* Names a model by itself. */
#define BUILTIN(names)                                                         \
	{                                                                      \
		names, "", WD_FORM_ALONE, WD_ENGINE_MODEL, WD_SHAPE_PLAIN,     \
		    NULL, NULL                                                 \
	}
#define SET(names, env, keys)                                                  \
	{                                                                      \
		names, env, WD_FORM_VALUE, WD_ENGINE_NO_USE, WD_SHAPE_PLAIN,   \
		    keys, NULL                                                 \
	}
#define ONCE(names, env, keys)                                                 \
	{                                                                      \
		names, env, WD_FORM_ONCE, WD_ENGINE_NO_USE, WD_SHAPE_PLAIN,    \
		    keys, NULL                                                 \
	}
#define SWITCH(names, env, keys)                                               \
	{                                                                      \
		names, env, WD_FORM_SWITCH, WD_ENGINE_NO_USE, WD_SHAPE_PLAIN,  \
		    keys, NULL                                                 \
	}
#define ALONE(names, env, keys, says)                                          \
	{                                                                      \
		names, env, WD_FORM_ALONE, WD_ENGINE_NO_USE, WD_SHAPE_PLAIN,   \
		    keys, says                                                 \
	}
#define END                                                                    \
	{                                                                      \
		NULL, NULL, WD_FORM_VALUE, WD_ENGINE_NO_USE, WD_SHAPE_PLAIN,   \
		    NULL, NULL                                                 \
	}

/* Where models from the hub are kept (huggingface_hub). */
#define HUB_STORE                                                              \
	CLAIM("", "HF_HUB_CACHE HUGGINGFACE_HUB_CACHE HF_HOME", STORE, PLAIN)

/* llama.cpp: tools/server/README.md and common/arg.cpp. "The argument will
 * take precedence over env var"; the last of repeated arguments counts. */
const struct wd_engine_option wd_llama_options[] = {
	CLAIM("-m --model", "LLAMA_ARG_MODEL", MODEL, PLAIN),
	CLAIM("-mu --model-url", "LLAMA_ARG_MODEL_URL", MODEL, PLAIN),
	CLAIM("-dr --docker-repo", "LLAMA_ARG_DOCKER_REPO", MODEL, PLAIN),
	CLAIM("-hf -hfr --hf-repo", "LLAMA_ARG_HF_REPO", MODEL, PLAIN),
	CLAIM("-hff --hf-file", "LLAMA_ARG_HF_FILE", MODEL, PLAIN),
	BUILTIN("--embd-gemma-default --fim-qwen-1.5b-default "
		"--fim-qwen-3b-default --fim-qwen-7b-default "
		"--fim-qwen-7b-spec --fim-qwen-14b-spec "
		"--fim-qwen-30b-default --gpt-oss-20b-default "
		"--gpt-oss-120b-default --vision-gemma-4b-default "
		"--vision-gemma-12b-default"),
	CLAIM("-md --model-draft --spec-draft-model",
	    "LLAMA_ARG_SPEC_DRAFT_MODEL LLAMA_ARG_MODEL_DRAFT", DRAFT, PLAIN),
	CLAIM("-hfd -hfrd --hf-repo-draft --spec-draft-hf",
	    "LLAMA_ARG_SPEC_DRAFT_HF_REPO LLAMA_ARG_HFD_REPO", DRAFT, PLAIN),
	MANY("--lora", "", ADAPTER, COMMAS),
	MANY("--lora-scaled", "", ADAPTER, SCALED),
	MANY("--control-vector", "", ADAPTER, COMMAS),
	MANY("--control-vector-scaled", "", ADAPTER, SCALED),
	CLAIM("-mm --mmproj", "LLAMA_ARG_MMPROJ", PROJECTOR, PLAIN),
	CLAIM("-mmu --mmproj-url", "LLAMA_ARG_MMPROJ_URL", PROJECTOR, PLAIN),
	CLAIM("-a --alias", "LLAMA_ARG_ALIAS", NAME, COMMAS),
	CLAIM("--models-dir", "LLAMA_ARG_MODELS_DIR", STORE, PLAIN),
	CLAIM("--models-preset", "LLAMA_ARG_MODELS_PRESET", CONFIG, PLAIN),
	CLAIM("", "LLAMA_CACHE", STORE, PLAIN),
	HUB_STORE,

	SET("-c --ctx-size", "LLAMA_ARG_CTX_SIZE", "run.context"),
	SET("-np --parallel", "LLAMA_ARG_N_PARALLEL", "run.slots"),
	SET("-b --batch-size", "LLAMA_ARG_BATCH", "run.batch"),
	SET("-ub --ubatch-size", "LLAMA_ARG_UBATCH", "run.ubatch"),
	SET("-t --threads", "LLAMA_ARG_THREADS", "run.threads"),
	SET("-tb --threads-batch", "", "run.threads_batch"),
	SET("-ctk --cache-type-k", "LLAMA_ARG_CACHE_TYPE_K", "run.kv.k"),
	SET("-ctv --cache-type-v", "LLAMA_ARG_CACHE_TYPE_V", "run.kv.v"),
	ALONE("-kvo --kv-offload", "LLAMA_ARG_KV_OFFLOAD", "run.kv.offload",
	    "on"),
	ALONE("-nkvo --no-kv-offload", "", "run.kv.offload", "off"),
	ALONE("-kvu --kv-unified", "LLAMA_ARG_KV_UNIFIED", "run.kv.unified",
	    "on"),
	ALONE("-no-kvu --no-kv-unified", "", "run.kv.unified", "off"),
	ALONE("--swa-full", "LLAMA_ARG_SWA_FULL", "run.kv.swa_full", "on"),
	ALONE("--context-shift", "LLAMA_ARG_CONTEXT_SHIFT", "run.context_shift",
	    "on"),
	ALONE("--no-context-shift", "", "run.context_shift", "off"),
	ALONE("-cb --cont-batching", "LLAMA_ARG_CONT_BATCHING",
	    "run.continuous_batching", "on"),
	ALONE("-nocb --no-cont-batching", "", "run.continuous_batching", "off"),
	SWITCH(
	    "-fa --flash-attn", "LLAMA_ARG_FLASH_ATTN", "run.flash_attention"),
	SET("-ngl --gpu-layers --n-gpu-layers", "LLAMA_ARG_N_GPU_LAYERS",
	    "run.gpu_layers"),
	SET("-sm --split-mode", "LLAMA_ARG_SPLIT_MODE", "run.split_mode"),
	SET("-ts --tensor-split", "LLAMA_ARG_TENSOR_SPLIT", "run.tensor_split"),
	SET("-mg --main-gpu", "LLAMA_ARG_MAIN_GPU", "run.main_gpu"),
	SET("-dev --device", "LLAMA_ARG_DEVICE", "run.device"),
	ALONE("-cmoe --cpu-moe", "LLAMA_ARG_CPU_MOE", "run.cpu_moe", "on"),
	SET("-ncmoe --n-cpu-moe", "LLAMA_ARG_N_CPU_MOE", "run.n_cpu_moe"),
	ONCE("-ot --override-tensor", "LLAMA_ARG_OVERRIDE_TENSOR",
	    "run.override_tensor"),
	ONCE("--override-kv", "", "run.override_kv"),
	SET("-lm --load-mode", "LLAMA_ARG_LOAD_MODE", "run.load_mode"),
	ALONE("--mmap", "", "run.mmap", "on"),
	ALONE("--no-mmap", "", "run.mmap", "off"),
	ALONE("--mlock", "", "run.mlock", "on"),
	ALONE("--repack", "LLAMA_ARG_REPACK", "run.repack", "on"),
	ALONE("-nr --no-repack", "", "run.repack", "off"),
	SET("--rope-scaling", "LLAMA_ARG_ROPE_SCALING_TYPE",
	    "run.rope.scaling"),
	SET("--rope-scale", "LLAMA_ARG_ROPE_SCALE", "run.rope.scale"),
	SET("--rope-freq-base", "LLAMA_ARG_ROPE_FREQ_BASE",
	    "run.rope.freq_base"),
	SET("--rope-freq-scale", "LLAMA_ARG_ROPE_FREQ_SCALE",
	    "run.rope.freq_scale"),
	SET("--yarn-orig-ctx", "LLAMA_ARG_YARN_ORIG_CTX",
	    "run.rope.yarn.context"),
	SET("--yarn-ext-factor", "LLAMA_ARG_YARN_EXT_FACTOR",
	    "run.rope.yarn.ext_factor"),
	SET("--yarn-attn-factor", "LLAMA_ARG_YARN_ATTN_FACTOR",
	    "run.rope.yarn.attn_factor"),
	SET("--yarn-beta-slow", "LLAMA_ARG_YARN_BETA_SLOW",
	    "run.rope.yarn.beta_slow"),
	SET("--yarn-beta-fast", "LLAMA_ARG_YARN_BETA_FAST",
	    "run.rope.yarn.beta_fast"),
	SET("--spec-type", "LLAMA_ARG_SPEC_TYPE", "run.speculative.type"),
	SET("--spec-draft-n-max --draft-max --draft-n --draft",
	    "LLAMA_ARG_SPEC_DRAFT_N_MAX LLAMA_ARG_DRAFT_MAX", "run.draft.max"),
	SET("--spec-draft-n-min --draft-min --draft-n-min",
	    "LLAMA_ARG_SPEC_DRAFT_N_MIN LLAMA_ARG_DRAFT_MIN", "run.draft.min"),
	SET("--spec-draft-p-min --draft-p-min", "LLAMA_ARG_SPEC_DRAFT_P_MIN",
	    "run.draft.p_min"),
	SET("--spec-draft-p-split --draft-p-split",
	    "LLAMA_ARG_SPEC_DRAFT_P_SPLIT", "run.draft.p_split"),
	SET("-cd --ctx-size-draft --spec-draft-ctx-size", "",
	    "run.draft.context"),
	SET("-ngld --gpu-layers-draft --n-gpu-layers-draft --spec-draft-ngl",
	    "LLAMA_ARG_N_GPU_LAYERS_DRAFT", "run.draft.gpu_layers"),
	SET("-ctkd --cache-type-k-draft --spec-draft-type-k",
	    "LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_K", "run.draft.kv.k"),
	SET("-ctvd --cache-type-v-draft --spec-draft-type-v",
	    "LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_V", "run.draft.kv.v"),
	END,
};

/* Ollama: `ollama runner --model BLOB --ctx-size N --batch-size N
 * --n-gpu-layers N --parallel N --port N`, as its log shows until 2025; later
 * --model and --port alone, the rest by POST /load; MLX by tag, from
 * x/mlxrunner. Go takes one dash or two. */
const struct wd_engine_option wd_ollama_options[] = {
	CLAIM("--model -model", "", MODEL, PLAIN),
	CLAIM("--mmproj -mmproj", "", PROJECTOR, PLAIN),
	MANY("--lora -lora", "", ADAPTER, PLAIN),
	CLAIM("", "OLLAMA_MODELS", STORE, PLAIN),
	SET("--ctx-size -ctx-size", "", "run.context"),
	SET("--batch-size -batch-size", "", "run.batch"),
	SET("--n-gpu-layers -n-gpu-layers", "", "run.gpu_layers"),
	SET("--parallel -parallel", "", "run.slots"),
	END,
};

/* vLLM: docs.vllm.ai, engine arguments 0.5 to latest; vllm/engine/arg_utils.py;
 * "vllm serve" for the order: command line, then the file of --config. */
const struct wd_engine_option wd_vllm_options[] = {
	CLAIM("--model", "", MODEL, PLAIN),
	CLAIM("--tokenizer", "", TOKENIZER, PLAIN),
	CLAIM("--speculative-model", "", DRAFT, PLAIN),
	CLAIM("--speculative-config.model", "", DRAFT, PLAIN),
	{ "--speculative-config", "", WD_FORM_VALUE, WD_ENGINE_DRAFT,
	    WD_SHAPE_JSON, "run.speculative", NULL },
	MANY("--lora-modules", "", ADAPTER, NAMED),
	CLAIM("--qlora-adapter-name-or-path", "", ADAPTER, PLAIN),
	MANY("--served-model-name", "", NAME, PLAIN),
	CLAIM("--download-dir", "", STORE, PLAIN),
	CLAIM("--config", "", CONFIG, PLAIN),
	HUB_STORE,

	SET("--max-model-len", "", "run.context"),
	SET("--max-num-seqs", "", "run.slots"),
	SET("--max-num-batched-tokens", "", "run.batch"),
	SET("--dtype", "", "run.dtype"),
	SET("-q --quantization", "", "run.quantization"),
	SET("--kv-cache-dtype", "", "run.kv.k run.kv.v"),
	SET("--kv-cache-memory-bytes", "", "run.kv.bytes"),
	SET("--load-format", "", "run.load_format"),
	SET("--revision", "", "run.revision"),
	SET("-tp --tensor-parallel-size", "", "run.tensor_parallel"),
	SET("-pp --pipeline-parallel-size", "", "run.pipeline_parallel"),
	SET("-dp --data-parallel-size", "", "run.data_parallel"),
	ALONE("--enable-expert-parallel", "", "run.expert_parallel", "on"),
	ALONE("--no-enable-expert-parallel", "", "run.expert_parallel", "off"),
	SET("--gpu-memory-utilization", "", "run.gpu_memory"),
	SET("--cpu-offload-gb", "", "run.cpu_offload_gb"),
	ALONE("--enforce-eager", "", "run.eager", "on"),
	ALONE("--enable-prefix-caching", "", "run.prefix_cache", "on"),
	ALONE("--no-enable-prefix-caching", "", "run.prefix_cache", "off"),
	SET("--num-speculative-tokens", "", "run.draft.max"),
	SET("--speculative-model-quantization", "", "run.draft.quantization"),
	END,
};

/* SGLang: docs, advanced_features/server_arguments.md. "CLI arguments will
 * override config file values." */
const struct wd_engine_option wd_sglang_options[] = {
	CLAIM("--model-path --model", "", MODEL, PLAIN),
	CLAIM("--tokenizer-path", "", TOKENIZER, PLAIN),
	CLAIM("--speculative-draft-model-path --speculative-draft-model", "",
	    DRAFT, PLAIN),
	MANY("--lora-paths", "", ADAPTER, NAMED),
	CLAIM("--served-model-name", "", NAME, PLAIN),
	CLAIM("--download-dir", "", STORE, PLAIN),
	CLAIM("--config", "", CONFIG, PLAIN),
	HUB_STORE,

	SET("--context-length", "", "run.context"),
	SET("--max-running-requests", "", "run.slots"),
	SET("--max-total-tokens", "", "run.kv.tokens"),
	SET("--chunked-prefill-size", "", "run.prefill_chunk"),
	SET("--dtype", "", "run.dtype"),
	SET("--quantization", "", "run.quantization"),
	SET("--kv-cache-dtype", "", "run.kv.k run.kv.v"),
	SET("--load-format", "", "run.load_format"),
	SET("--revision", "", "run.revision"),
	SET("--tensor-parallel-size --tp-size --tp", "", "run.tensor_parallel"),
	SET("--pipeline-parallel-size --pp-size --pp", "",
	    "run.pipeline_parallel"),
	SET("--data-parallel-size --dp-size --dp", "", "run.data_parallel"),
	SET("--expert-parallel-size --ep-size --ep", "", "run.expert_parallel"),
	SET("--mem-fraction-static", "", "run.gpu_memory"),
	SET("--attention-backend", "", "run.attention"),
	SET("--speculative-algorithm", "", "run.speculative.type"),
	SET("--speculative-num-steps", "", "run.speculative.steps"),
	SET("--speculative-eagle-topk", "", "run.speculative.topk"),
	SET("--speculative-num-draft-tokens", "", "run.draft.max"),
	SET("--speculative-draft-model-quantization", "",
	    "run.draft.quantization"),
	SET("--json-model-override-args", "", "run.override_config"),
	END,
};

/* TGI: docs/source/reference/launcher.md (clap: the command line wins). */
const struct wd_engine_option wd_tgi_options[] = {
	CLAIM("--model-id", "MODEL_ID", MODEL, PLAIN),
	CLAIM("--lora-adapters", "LORA_ADAPTERS", ADAPTER, COMMAS),
	CLAIM("--huggingface-hub-cache", "HUGGINGFACE_HUB_CACHE", STORE, PLAIN),
	CLAIM(
	    "--weights-cache-override", "WEIGHTS_CACHE_OVERRIDE", STORE, PLAIN),
	CLAIM("", "HF_HUB_CACHE HF_HOME", STORE, PLAIN),

	SET("--max-total-tokens", "MAX_TOTAL_TOKENS", "run.context"),
	SET("--max-batch-prefill-tokens", "MAX_BATCH_PREFILL_TOKENS",
	    "run.batch"),
	SET("--max-batch-size", "MAX_BATCH_SIZE", "run.slots"),
	SET("--dtype", "DTYPE", "run.dtype"),
	SET("--quantize", "QUANTIZE", "run.quantization"),
	SET("--kv-cache-dtype", "KV_CACHE_DTYPE", "run.kv.k run.kv.v"),
	SET("--revision", "REVISION", "run.revision"),
	SET("--num-shard", "NUM_SHARD", "run.tensor_parallel"),
	SET("--speculate", "SPECULATE", "run.draft.max"),
	SET("--rope-scaling", "ROPE_SCALING", "run.rope.scaling"),
	SET("--rope-factor", "ROPE_FACTOR", "run.rope.scale"),
	END,
};

/* TGI's router, which owns the port: router/src/main.rs. Its launcher hands it
 * the model's id as the tokenizer's name, and its own environment. */
const struct wd_engine_option wd_tgi_router_options[] = {
	CLAIM("--tokenizer-name", "TOKENIZER_NAME", MODEL, PLAIN),
	CLAIM("", "MODEL_ID", MODEL, PLAIN),
	CLAIM("", "LORA_ADAPTERS", ADAPTER, COMMAS),
	HUB_STORE,

	SET("--max-total-tokens", "MAX_TOTAL_TOKENS", "run.context"),
	SET("--max-batch-prefill-tokens", "MAX_BATCH_PREFILL_TOKENS",
	    "run.batch"),
	SET("--max-batch-size", "MAX_BATCH_SIZE", "run.slots"),
	SET("--revision", "REVISION", "run.revision"),
	END,
};

/* mlx-lm: mlx_lm/server.py */
const struct wd_engine_option wd_mlx_options[] = {
	CLAIM("--model", "", MODEL, PLAIN),
	CLAIM("--adapter-path", "", ADAPTER, PLAIN),
	CLAIM("--draft-model", "", DRAFT, PLAIN),
	HUB_STORE,
	SET("--num-draft-tokens", "", "run.draft.max"),
	SET("--decode-concurrency", "", "run.slots"),
	END,
};

/* mlx-vlm: mlx_vlm.server --model */
const struct wd_engine_option wd_mlx_vlm_options[] = {
	CLAIM("--model", "", MODEL, PLAIN),
	CLAIM("--adapter-path", "", ADAPTER, PLAIN),
	HUB_STORE,
	END,
};

/* Triton: user guide; --model-store until 20.03. */
const struct wd_engine_option wd_triton_options[] = {
	MANY("--model-repository --model-store", "", STORE, PLAIN),
	MANY("--load-model", "", NAME, PLAIN),
	END,
};

/* TensorRT-LLM: tensorrt_llm/commands/serve.py. The YAML file is merged after
 * the options, so with one no setting is sure. */
const struct wd_engine_option wd_trtllm_options[] = {
	CLAIM("--tokenizer", "", TOKENIZER, PLAIN),
	CLAIM("--served_model_name", "", NAME, PLAIN),
	CLAIM("--extra_llm_api_options --config", "", CONFIG, PLAIN),
	HUB_STORE,
	SET("--max_seq_len", "", "run.context"),
	SET("--max_batch_size", "", "run.slots"),
	SET("--max_num_tokens", "", "run.batch"),
	SET("--tp_size", "", "run.tensor_parallel"),
	SET("--pp_size", "", "run.pipeline_parallel"),
	SET("--ep_size", "", "run.expert_parallel"),
	SET("--kv_cache_dtype", "", "run.kv.k run.kv.v"),
	END,
};

/* llama-cpp-python: llama_cpp/server/settings.py (pydantic); its documented
 * --config_file replaces the other options. */
const struct wd_engine_option wd_llama_cpp_python_options[] = {
	CLAIM("--model", "MODEL", MODEL, PLAIN),
	CLAIM("--model_alias", "MODEL_ALIAS", NAME, PLAIN),
	CLAIM("--clip_model_path", "", PROJECTOR, PLAIN),
	CLAIM("--config_file", "", CONFIG, PLAIN),
	SET("--n_gpu_layers", "", "run.gpu_layers"),
	SET("--split_mode", "", "run.split_mode"),
	SET("--main_gpu", "", "run.main_gpu"),
	SET("--use_mmap", "", "run.mmap"),
	SET("--use_mlock", "", "run.mlock"),
	END,
};

/* KoboldCpp: koboldcpp.py. What --config replaces was not verified. */
const struct wd_engine_option wd_koboldcpp_options[] = {
	CLAIM("--model -m", "", MODEL, PLAIN),
	CLAIM("--draftmodel --model-draft -md", "", DRAFT, PLAIN),
	CLAIM("--mmproj", "", PROJECTOR, PLAIN),
	CLAIM("--config", "", CONFIG, PLAIN),
	SET("--contextsize", "", "run.context"),
	SET("--gpulayers", "", "run.gpu_layers"),
	SET("--batchsize", "", "run.batch"),
	SET("--threads", "", "run.threads"),
	SET("--draftamount --draft-max --draft-n", "", "run.draft.max"),
	END,
};

/* LocalAI: localai.io, CLI reference */
const struct wd_engine_option wd_localai_options[] = {
	CLAIM("--models-path", "LOCALAI_MODELS_PATH MODELS_PATH", STORE, PLAIN),
	CLAIM("", "LOCALAI_CONFIG_DIR", CONFIG, PLAIN),
	END,
};

/* llama-swap: README.md (Go: one dash or two); LiteLLM: --config, -c */
const struct wd_engine_option wd_config_options[] = {
	CLAIM("--config -config -c", "", CONFIG, PLAIN),
	END,
};

const struct wd_engine_option wd_generic_options[] = {
	CLAIM("-m --model --model-path --model_path --model-id", "", MODEL,
	    PLAIN),
	CLAIM("-md --model-draft --draft-model --speculative-model", "", DRAFT,
	    PLAIN),
	MANY("--lora --adapter --adapter-path", "", ADAPTER, PLAIN),
	CLAIM("-mm --mmproj", "", PROJECTOR, PLAIN),
	CLAIM("-a --alias --served-model-name", "", NAME, PLAIN),
	CLAIM("", "LLAMA_ARG_MODEL", MODEL, PLAIN),
	CLAIM("", "LLAMA_ARG_MODEL_DRAFT", DRAFT, PLAIN),
	CLAIM("", "LLAMA_ARG_MMPROJ", PROJECTOR, PLAIN),
	CLAIM("", "LLAMA_ARG_ALIAS", NAME, PLAIN),
	CLAIM("", "MODEL_PATH", MODEL, PLAIN),
	CLAIM("", "MODEL_ID", MODEL, PLAIN),
	CLAIM("", "MODEL", MODEL, PLAIN),
	END,
};

const struct wd_engine_option wd_no_options[] = {
	END,
};
