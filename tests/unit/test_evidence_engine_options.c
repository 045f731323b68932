/*
 * Every option of the engine table, spelling by spelling: what it names, and
 * which setting it is. The rows were written down apart from the table, which
 * a test below holds to have no spelling that is not here.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "evidence/engines_table.h"
#include "support/process_make.h"
#include "support/suite.h"

/* `$NAME` is a variable. With a value of NULL the option takes none (the
 * variable: "on"). `claims` are as wd_claims_text says them, without `$`. */
struct row {
	const char *spellings, *value, *claims, *settings;
};

static const struct row llama[] = {
	{ "-m --model $LLAMA_ARG_MODEL", "V", "model=V", "" },
	{ "-mu --model-url $LLAMA_ARG_MODEL_URL", "V", "model=V", "" },
	{ "-dr --docker-repo $LLAMA_ARG_DOCKER_REPO", "V", "model=V", "" },
	{ "-hf -hfr --hf-repo $LLAMA_ARG_HF_REPO", "V", "model=V", "" },
	{ "-hff --hf-file $LLAMA_ARG_HF_FILE", "V", "model=V", "" },
	{ "--embd-gemma-default --fim-qwen-1.5b-default --fim-qwen-3b-default "
	  "--fim-qwen-7b-default --fim-qwen-7b-spec --fim-qwen-14b-spec "
	  "--fim-qwen-30b-default --gpt-oss-20b-default --gpt-oss-120b-default "
	  "--vision-gemma-4b-default --vision-gemma-12b-default",
	    NULL, "", "" },
	{ "-md --model-draft --spec-draft-model $LLAMA_ARG_SPEC_DRAFT_MODEL "
	  "$LLAMA_ARG_MODEL_DRAFT",
	    "V", "draft=V", "" },
	{ "-hfd -hfrd --hf-repo-draft --spec-draft-hf "
	  "$LLAMA_ARG_SPEC_DRAFT_HF_REPO $LLAMA_ARG_HFD_REPO",
	    "V", "draft=V", "" },
	{ "--lora", "V,W", "adapter=V adapter=W", "" },
	{ "--lora-scaled", "V:0.5", "adapter=V", "" },
	{ "--control-vector", "V,W", "adapter=V adapter=W", "" },
	{ "--control-vector-scaled", "V:0.5", "adapter=V", "" },
	{ "-mm --mmproj $LLAMA_ARG_MMPROJ", "V", "projector=V", "" },
	{ "-mmu --mmproj-url $LLAMA_ARG_MMPROJ_URL", "V", "projector=V", "" },
	{ "-a --alias $LLAMA_ARG_ALIAS", "V,W", "name=V name=W", "" },
	{ "--models-dir $LLAMA_ARG_MODELS_DIR", "V", "store=V", "" },
	{ "--models-preset $LLAMA_ARG_MODELS_PRESET", "V", "config=V", "" },
	{ "$LLAMA_CACHE", "V", "store=V", "" },
	{ "$HF_HUB_CACHE $HUGGINGFACE_HUB_CACHE $HF_HOME", "V", "store=V", "" },
	{ "-c --ctx-size $LLAMA_ARG_CTX_SIZE", "V", "", "run.context=V" },
	{ "-np --parallel $LLAMA_ARG_N_PARALLEL", "V", "", "run.slots=V" },
	{ "-b --batch-size $LLAMA_ARG_BATCH", "V", "", "run.batch=V" },
	{ "-ub --ubatch-size $LLAMA_ARG_UBATCH", "V", "", "run.ubatch=V" },
	{ "-t --threads $LLAMA_ARG_THREADS", "V", "", "run.threads=V" },
	{ "-tb --threads-batch", "V", "", "run.threads_batch=V" },
	{ "-ctk --cache-type-k $LLAMA_ARG_CACHE_TYPE_K", "V", "",
	    "run.kv.k=V" },
	{ "-ctv --cache-type-v $LLAMA_ARG_CACHE_TYPE_V", "V", "",
	    "run.kv.v=V" },
	{ "-kvo --kv-offload $LLAMA_ARG_KV_OFFLOAD", NULL, "",
	    "run.kv.offload=on" },
	{ "-nkvo --no-kv-offload", NULL, "", "run.kv.offload=off" },
	{ "-kvu --kv-unified $LLAMA_ARG_KV_UNIFIED", NULL, "",
	    "run.kv.unified=on" },
	{ "-no-kvu --no-kv-unified", NULL, "", "run.kv.unified=off" },
	{ "--swa-full $LLAMA_ARG_SWA_FULL", NULL, "", "run.kv.swa_full=on" },
	{ "--context-shift $LLAMA_ARG_CONTEXT_SHIFT", NULL, "",
	    "run.context_shift=on" },
	{ "--no-context-shift", NULL, "", "run.context_shift=off" },
	{ "-cb --cont-batching $LLAMA_ARG_CONT_BATCHING", NULL, "",
	    "run.continuous_batching=on" },
	{ "-nocb --no-cont-batching", NULL, "", "run.continuous_batching=off" },
	{ "-fa --flash-attn $LLAMA_ARG_FLASH_ATTN", "off", "",
	    "run.flash_attention=off" },
	{ "-ngl --gpu-layers --n-gpu-layers $LLAMA_ARG_N_GPU_LAYERS", "V", "",
	    "run.gpu_layers=V" },
	{ "-sm --split-mode $LLAMA_ARG_SPLIT_MODE", "V", "",
	    "run.split_mode=V" },
	{ "-ts --tensor-split $LLAMA_ARG_TENSOR_SPLIT", "V", "",
	    "run.tensor_split=V" },
	{ "-mg --main-gpu $LLAMA_ARG_MAIN_GPU", "V", "", "run.main_gpu=V" },
	{ "-dev --device $LLAMA_ARG_DEVICE", "V", "", "run.device=V" },
	{ "-cmoe --cpu-moe $LLAMA_ARG_CPU_MOE", NULL, "", "run.cpu_moe=on" },
	{ "-ncmoe --n-cpu-moe $LLAMA_ARG_N_CPU_MOE", "V", "",
	    "run.n_cpu_moe=V" },
	{ "-ot --override-tensor $LLAMA_ARG_OVERRIDE_TENSOR", "V", "",
	    "run.override_tensor=V" },
	{ "--override-kv", "V", "", "run.override_kv=V" },
	{ "-lm --load-mode $LLAMA_ARG_LOAD_MODE", "V", "", "run.load_mode=V" },
	{ "--mmap", NULL, "", "run.mmap=on" },
	{ "--no-mmap", NULL, "", "run.mmap=off" },
	{ "--mlock", NULL, "", "run.mlock=on" },
	{ "--repack $LLAMA_ARG_REPACK", NULL, "", "run.repack=on" },
	{ "-nr --no-repack", NULL, "", "run.repack=off" },
	{ "--rope-scaling $LLAMA_ARG_ROPE_SCALING_TYPE", "V", "",
	    "run.rope.scaling=V" },
	{ "--rope-scale $LLAMA_ARG_ROPE_SCALE", "V", "", "run.rope.scale=V" },
	{ "--rope-freq-base $LLAMA_ARG_ROPE_FREQ_BASE", "V", "",
	    "run.rope.freq_base=V" },
	{ "--rope-freq-scale $LLAMA_ARG_ROPE_FREQ_SCALE", "V", "",
	    "run.rope.freq_scale=V" },
	{ "--yarn-orig-ctx $LLAMA_ARG_YARN_ORIG_CTX", "V", "",
	    "run.rope.yarn.context=V" },
	{ "--yarn-ext-factor $LLAMA_ARG_YARN_EXT_FACTOR", "V", "",
	    "run.rope.yarn.ext_factor=V" },
	{ "--yarn-attn-factor $LLAMA_ARG_YARN_ATTN_FACTOR", "V", "",
	    "run.rope.yarn.attn_factor=V" },
	{ "--yarn-beta-slow $LLAMA_ARG_YARN_BETA_SLOW", "V", "",
	    "run.rope.yarn.beta_slow=V" },
	{ "--yarn-beta-fast $LLAMA_ARG_YARN_BETA_FAST", "V", "",
	    "run.rope.yarn.beta_fast=V" },
	{ "--spec-type $LLAMA_ARG_SPEC_TYPE", "V", "",
	    "run.speculative.type=V" },
	{ "--spec-draft-n-max --draft-max --draft-n --draft "
	  "$LLAMA_ARG_SPEC_DRAFT_N_MAX $LLAMA_ARG_DRAFT_MAX",
	    "V", "", "run.draft.max=V" },
	{ "--spec-draft-n-min --draft-min --draft-n-min "
	  "$LLAMA_ARG_SPEC_DRAFT_N_MIN $LLAMA_ARG_DRAFT_MIN",
	    "V", "", "run.draft.min=V" },
	{ "--spec-draft-p-min --draft-p-min $LLAMA_ARG_SPEC_DRAFT_P_MIN", "V",
	    "", "run.draft.p_min=V" },
	{ "--spec-draft-p-split --draft-p-split $LLAMA_ARG_SPEC_DRAFT_P_SPLIT",
	    "V", "", "run.draft.p_split=V" },
	{ "-cd --ctx-size-draft --spec-draft-ctx-size", "V", "",
	    "run.draft.context=V" },
	{ "-ngld --gpu-layers-draft --n-gpu-layers-draft --spec-draft-ngl "
	  "$LLAMA_ARG_N_GPU_LAYERS_DRAFT",
	    "V", "", "run.draft.gpu_layers=V" },
	{ "-ctkd --cache-type-k-draft --spec-draft-type-k "
	  "$LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_K",
	    "V", "", "run.draft.kv.k=V" },
	{ "-ctvd --cache-type-v-draft --spec-draft-type-v "
	  "$LLAMA_ARG_SPEC_DRAFT_CACHE_TYPE_V",
	    "V", "", "run.draft.kv.v=V" },
};

static const struct row ollama[] = {
	{ "--model -model", "V", "model=V", "" },
	{ "--mmproj -mmproj", "V", "projector=V", "" },
	{ "--lora -lora", "V", "adapter=V", "" },
	{ "$OLLAMA_MODELS", "V", "store=V", "" },
	{ "--ctx-size -ctx-size", "V", "", "run.context=V" },
	{ "--batch-size -batch-size", "V", "", "run.batch=V" },
	{ "--n-gpu-layers -n-gpu-layers", "V", "", "run.gpu_layers=V" },
	{ "--parallel -parallel", "V", "", "run.slots=V" },
};

static const struct row vllm[] = {
	{ "--model", "V", "model=V", "" },
	{ "--tokenizer", "V", "tokenizer=V", "" },
	{ "--speculative-model", "V", "draft=V", "" },
	{ "--speculative-config.model", "V", "draft=V", "" },
	{ "--speculative-config", "{\"model\": \"V\"}", "draft=V",
	    "run.speculative={\"model\": \"V\"}" },
	{ "--lora-modules", "n=V", "adapter=V", "" },
	{ "--qlora-adapter-name-or-path", "V", "adapter=V", "" },
	{ "--served-model-name", "V", "name=V", "" },
	{ "--download-dir", "V", "store=V", "" },
	{ "--config", "V", "config=V", "" },
	{ "$HF_HUB_CACHE $HUGGINGFACE_HUB_CACHE $HF_HOME", "V", "store=V", "" },
	{ "--max-model-len", "V", "", "run.context=V" },
	{ "--max-num-seqs", "V", "", "run.slots=V" },
	{ "--max-num-batched-tokens", "V", "", "run.batch=V" },
	{ "--dtype", "V", "", "run.dtype=V" },
	{ "-q --quantization", "V", "", "run.quantization=V" },
	{ "--kv-cache-dtype", "V", "", "run.kv.k=V run.kv.v=V" },
	{ "--kv-cache-memory-bytes", "V", "", "run.kv.bytes=V" },
	{ "--load-format", "V", "", "run.load_format=V" },
	{ "--revision", "V", "", "run.revision=V" },
	{ "-tp --tensor-parallel-size", "V", "", "run.tensor_parallel=V" },
	{ "-pp --pipeline-parallel-size", "V", "", "run.pipeline_parallel=V" },
	{ "-dp --data-parallel-size", "V", "", "run.data_parallel=V" },
	{ "--enable-expert-parallel", NULL, "", "run.expert_parallel=on" },
	{ "--no-enable-expert-parallel", NULL, "", "run.expert_parallel=off" },
	{ "--gpu-memory-utilization", "V", "", "run.gpu_memory=V" },
	{ "--cpu-offload-gb", "V", "", "run.cpu_offload_gb=V" },
	{ "--enforce-eager", NULL, "", "run.eager=on" },
	{ "--enable-prefix-caching", NULL, "", "run.prefix_cache=on" },
	{ "--no-enable-prefix-caching", NULL, "", "run.prefix_cache=off" },
	{ "--num-speculative-tokens", "V", "", "run.draft.max=V" },
	{ "--speculative-model-quantization", "V", "",
	    "run.draft.quantization=V" },
};

static const struct row sglang[] = {
	{ "--model-path --model", "V", "model=V", "" },
	{ "--tokenizer-path", "V", "tokenizer=V", "" },
	{ "--speculative-draft-model-path --speculative-draft-model", "V",
	    "draft=V", "" },
	{ "--lora-paths", "n=V", "adapter=V", "" },
	{ "--served-model-name", "V", "name=V", "" },
	{ "--download-dir", "V", "store=V", "" },
	{ "--config", "V", "config=V", "" },
	{ "$HF_HUB_CACHE $HUGGINGFACE_HUB_CACHE $HF_HOME", "V", "store=V", "" },
	{ "--context-length", "V", "", "run.context=V" },
	{ "--max-running-requests", "V", "", "run.slots=V" },
	{ "--max-total-tokens", "V", "", "run.kv.tokens=V" },
	{ "--chunked-prefill-size", "V", "", "run.prefill_chunk=V" },
	{ "--dtype", "V", "", "run.dtype=V" },
	{ "--quantization", "V", "", "run.quantization=V" },
	{ "--kv-cache-dtype", "V", "", "run.kv.k=V run.kv.v=V" },
	{ "--load-format", "V", "", "run.load_format=V" },
	{ "--revision", "V", "", "run.revision=V" },
	{ "--tensor-parallel-size --tp-size --tp", "V", "",
	    "run.tensor_parallel=V" },
	{ "--pipeline-parallel-size --pp-size --pp", "V", "",
	    "run.pipeline_parallel=V" },
	{ "--data-parallel-size --dp-size --dp", "V", "",
	    "run.data_parallel=V" },
	{ "--expert-parallel-size --ep-size --ep", "V", "",
	    "run.expert_parallel=V" },
	{ "--mem-fraction-static", "V", "", "run.gpu_memory=V" },
	{ "--attention-backend", "V", "", "run.attention=V" },
	{ "--speculative-algorithm", "V", "", "run.speculative.type=V" },
	{ "--speculative-num-steps", "V", "", "run.speculative.steps=V" },
	{ "--speculative-eagle-topk", "V", "", "run.speculative.topk=V" },
	{ "--speculative-num-draft-tokens", "V", "", "run.draft.max=V" },
	{ "--speculative-draft-model-quantization", "V", "",
	    "run.draft.quantization=V" },
	{ "--json-model-override-args", "V", "", "run.override_config=V" },
};

static const struct row tgi[] = {
	{ "--model-id $MODEL_ID", "V", "model=V", "" },
	{ "--lora-adapters $LORA_ADAPTERS", "V,W", "adapter=V adapter=W", "" },
	{ "--huggingface-hub-cache $HUGGINGFACE_HUB_CACHE", "V", "store=V",
	    "" },
	{ "--weights-cache-override $WEIGHTS_CACHE_OVERRIDE", "V", "store=V",
	    "" },
	{ "$HF_HUB_CACHE $HF_HOME", "V", "store=V", "" },
	{ "--max-total-tokens $MAX_TOTAL_TOKENS", "V", "", "run.context=V" },
	{ "--max-batch-prefill-tokens $MAX_BATCH_PREFILL_TOKENS", "V", "",
	    "run.batch=V" },
	{ "--max-batch-size $MAX_BATCH_SIZE", "V", "", "run.slots=V" },
	{ "--dtype $DTYPE", "V", "", "run.dtype=V" },
	{ "--quantize $QUANTIZE", "V", "", "run.quantization=V" },
	{ "--kv-cache-dtype $KV_CACHE_DTYPE", "V", "",
	    "run.kv.k=V run.kv.v=V" },
	{ "--revision $REVISION", "V", "", "run.revision=V" },
	{ "--num-shard $NUM_SHARD", "V", "", "run.tensor_parallel=V" },
	{ "--speculate $SPECULATE", "V", "", "run.draft.max=V" },
	{ "--rope-scaling $ROPE_SCALING", "V", "", "run.rope.scaling=V" },
	{ "--rope-factor $ROPE_FACTOR", "V", "", "run.rope.scale=V" },
};

static const struct row tgi_router[] = {
	{ "--tokenizer-name $TOKENIZER_NAME", "V", "model=V", "" },
	{ "$MODEL_ID", "V", "model=V", "" },
	{ "$LORA_ADAPTERS", "V,W", "adapter=V adapter=W", "" },
	{ "$HF_HUB_CACHE $HUGGINGFACE_HUB_CACHE $HF_HOME", "V", "store=V", "" },
	{ "--max-total-tokens $MAX_TOTAL_TOKENS", "V", "", "run.context=V" },
	{ "--max-batch-prefill-tokens $MAX_BATCH_PREFILL_TOKENS", "V", "",
	    "run.batch=V" },
	{ "--max-batch-size $MAX_BATCH_SIZE", "V", "", "run.slots=V" },
	{ "--revision $REVISION", "V", "", "run.revision=V" },
};

static const struct row mlx[] = {
	{ "--model", "V", "model=V", "" },
	{ "--adapter-path", "V", "adapter=V", "" },
	{ "--draft-model", "V", "draft=V", "" },
	{ "$HF_HUB_CACHE $HUGGINGFACE_HUB_CACHE $HF_HOME", "V", "store=V", "" },
	{ "--num-draft-tokens", "V", "", "run.draft.max=V" },
	{ "--decode-concurrency", "V", "", "run.slots=V" },
};

static const struct row mlx_vlm[] = {
	{ "--model", "V", "model=V", "" },
	{ "--adapter-path", "V", "adapter=V", "" },
	{ "$HF_HUB_CACHE $HUGGINGFACE_HUB_CACHE $HF_HOME", "V", "store=V", "" },
};

static const struct row triton[] = {
	{ "--model-repository --model-store", "V", "store=V", "" },
	{ "--load-model", "V", "name=V", "" },
};

static const struct row trtllm[] = {
	{ "--tokenizer", "V", "tokenizer=V", "" },
	{ "--served_model_name", "V", "name=V", "" },
	{ "--extra_llm_api_options --config", "V", "config=V", "" },
	{ "$HF_HUB_CACHE $HUGGINGFACE_HUB_CACHE $HF_HOME", "V", "store=V", "" },
	{ "--max_seq_len", "V", "", "run.context=V" },
	{ "--max_batch_size", "V", "", "run.slots=V" },
	{ "--max_num_tokens", "V", "", "run.batch=V" },
	{ "--tp_size", "V", "", "run.tensor_parallel=V" },
	{ "--pp_size", "V", "", "run.pipeline_parallel=V" },
	{ "--ep_size", "V", "", "run.expert_parallel=V" },
	{ "--kv_cache_dtype", "V", "", "run.kv.k=V run.kv.v=V" },
};

static const struct row llama_cpp_python[] = {
	{ "--model $MODEL", "V", "model=V", "" },
	{ "--model_alias $MODEL_ALIAS", "V", "name=V", "" },
	{ "--clip_model_path", "V", "projector=V", "" },
	{ "--config_file", "V", "config=V", "" },
	{ "--n_gpu_layers", "V", "", "run.gpu_layers=V" },
	{ "--split_mode", "V", "", "run.split_mode=V" },
	{ "--main_gpu", "V", "", "run.main_gpu=V" },
	{ "--use_mmap", "V", "", "run.mmap=V" },
	{ "--use_mlock", "V", "", "run.mlock=V" },
};

static const struct row koboldcpp[] = {
	{ "--model -m", "V", "model=V", "" },
	{ "--draftmodel --model-draft -md", "V", "draft=V", "" },
	{ "--mmproj", "V", "projector=V", "" },
	{ "--config", "V", "config=V", "" },
	{ "--contextsize", "V", "", "run.context=V" },
	{ "--gpulayers", "V", "", "run.gpu_layers=V" },
	{ "--batchsize", "V", "", "run.batch=V" },
	{ "--threads", "V", "", "run.threads=V" },
	{ "--draftamount --draft-max --draft-n", "V", "", "run.draft.max=V" },
};

static const struct row localai[] = {
	{ "--models-path $LOCALAI_MODELS_PATH $MODELS_PATH", "V", "store=V",
	    "" },
	{ "$LOCALAI_CONFIG_DIR", "V", "config=V", "" },
};

static const struct row config[] = {
	{ "--config -config -c", "V", "config=V", "" },
};

static const struct row generic[] = {
	{ "-m --model --model-path --model_path --model-id", "V", "model=V",
	    "" },
	{ "-md --model-draft --draft-model --speculative-model", "V", "draft=V",
	    "" },
	{ "--lora --adapter --adapter-path", "V", "adapter=V", "" },
	{ "-mm --mmproj", "V", "projector=V", "" },
	{ "-a --alias --served-model-name", "V", "name=V", "" },
	{ "$LLAMA_ARG_MODEL", "V", "model=V", "" },
	{ "$LLAMA_ARG_MODEL_DRAFT", "V", "draft=V", "" },
	{ "$LLAMA_ARG_MMPROJ", "V", "projector=V", "" },
	{ "$LLAMA_ARG_ALIAS", "V", "name=V", "" },
	{ "$MODEL_PATH", "V", "model=V", "" },
	{ "$MODEL_ID", "V", "model=V", "" },
	{ "$MODEL", "V", "model=V", "" },
};

#define PYTHON "/usr/bin/python3"
#define TABLE(rows, of, exe, argv)                                             \
	{                                                                      \
		rows, WD_COUNT(rows), of, exe, argv                            \
	}

static const struct {
	const struct row *rows;
	size_t count;
	const struct wd_engine_option *of;
	const char *exe, *argv; /* that make no claim by themselves */
} tables[] = {
	TABLE(llama, wd_llama_options, "/x/llama-server", "llama-server|"),
	TABLE(ollama, wd_ollama_options, "/x/ollama", "ollama|runner|"),
	TABLE(vllm, wd_vllm_options, PYTHON, "python|/bin/vllm|serve|"),
	TABLE(sglang, wd_sglang_options, PYTHON,
	    "python|-m|sglang.launch_server|"),
	TABLE(tgi, wd_tgi_options, "/x/text-generation-launcher",
	    "text-generation-launcher|"),
	TABLE(tgi_router, wd_tgi_router_options, "/x/text-generation-router",
	    "text-generation-router|"),
	TABLE(mlx, wd_mlx_options, PYTHON, "python|-m|mlx_lm.server|"),
	TABLE(mlx_vlm, wd_mlx_vlm_options, PYTHON, "python|-m|mlx_vlm.server|"),
	TABLE(triton, wd_triton_options, "/x/tritonserver", "tritonserver|"),
	TABLE(trtllm, wd_trtllm_options, PYTHON,
	    "python|/bin/trtllm-serve|serve|"),
	TABLE(llama_cpp_python, wd_llama_cpp_python_options, PYTHON,
	    "python|-m|llama_cpp.server|"),
	TABLE(koboldcpp, wd_koboldcpp_options, "/x/koboldcpp", "koboldcpp|"),
	TABLE(localai, wd_localai_options, "/x/local-ai", "local-ai|run|"),
	TABLE(config, wd_config_options, "/x/llama-swap", "llama-swap|"),
	TABLE(generic, wd_generic_options, "/x/unknown", "unknown|"),
};

#define MAX_TEXT 1024

/* The process that was given this spelling of the option. */
static struct wd_process
process_with(size_t table, struct wd_slice spelling, const char *value)
{
	char argv[MAX_TEXT], environment[MAX_TEXT] = "";
	int len = (int)spelling.len;
	const char *text = (const char *)spelling.data;

	(void)snprintf(argv, sizeof(argv), "%s", tables[table].argv);
	if (text[0] == '$')
		(void)snprintf(environment, sizeof(environment), "%.*s=%s",
		    len - 1, text + 1, value == NULL ? "on" : value);
	else if (value == NULL)
		(void)snprintf(argv, sizeof(argv), "%s%.*s|",
		    tables[table].argv, len, text);
	else
		(void)snprintf(argv, sizeof(argv), "%s%.*s|%s|",
		    tables[table].argv, len, text, value);
	return wd_process_make(tables[table].exe, argv, environment);
}

/* Claims of the environment have a `$` before each. */
static void
expect_claims(char *out, const char *claims, bool environment)
{
	struct wd_slice rest = wd_slice_text(claims), one;
	size_t len = 0;

	out[0] = '\0';
	while (wd_slice_cut(&rest, ' ', &one))
		len += (size_t)snprintf(out + len, MAX_TEXT - len, "%s%s%.*s",
		    len > 0 ? " " : "", environment ? "$" : "", (int)one.len,
		    (const char *)one.data);
}

static void
check_spelling(size_t table, const struct row *row, struct wd_slice spelling)
{
	struct wd_process p = process_with(table, spelling, row->value);
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	char claims[MAX_TEXT];

	wd_buf_init(&text, 65536);
	expect_claims(claims, row->claims, spelling.data[0] == '$');
	wd_claims_text(&p, &text);
	ck_assert_msg(strcmp(wd_buf_string(&text), claims) == 0,
	    "%s %s: claims %s", tables[table].exe, row->spellings,
	    wd_buf_string(&text));
	wd_settings_text(&p, &text);
	ck_assert_msg(strcmp(wd_buf_string(&text), row->settings) == 0,
	    "%s %s: settings %s", tables[table].exe, row->spellings,
	    wd_buf_string(&text));
	wd_process_release(&p);
}

START_TEST(every_spelling)
{
	size_t i;

	for (i = 0; i < tables[_i].count; i++) {
		const struct row *row = &tables[_i].rows[i];
		struct wd_slice rest = wd_slice_text(row->spellings), one;

		while (wd_slice_cut(&rest, ' ', &one))
			check_spelling((size_t)_i, row, one);
	}
}
END_TEST

static bool
is_written_down(size_t table, const char *sign, struct wd_slice spelling)
{
	char wanted[MAX_TEXT];
	struct wd_slice rest, one;
	size_t i;

	(void)snprintf(wanted, sizeof(wanted), "%s%.*s", sign,
	    (int)spelling.len, (const char *)spelling.data);
	for (i = 0; i < tables[table].count; i++) {
		rest = wd_slice_text(tables[table].rows[i].spellings);
		while (wd_slice_cut(&rest, ' ', &one))
			if (wd_slice_equal(one, wd_slice_text(wanted)))
				return true;
	}
	return false;
}

/* An option that is added to the table needs its row here. */
START_TEST(no_spelling_is_missing)
{
	const struct wd_engine_option *o;
	struct wd_slice rest, one;

	for (o = tables[_i].of; o->names != NULL; o++) {
		rest = wd_slice_text(o->names);
		while (wd_slice_cut(&rest, ' ', &one))
			ck_assert_msg(is_written_down((size_t)_i, "", one),
			    "%s: %s", tables[_i].exe, o->names);
		rest = wd_slice_text(o->environment);
		while (wd_slice_cut(&rest, ' ', &one))
			ck_assert_msg(is_written_down((size_t)_i, "$", one),
			    "%s: %s", tables[_i].exe, o->environment);
	}
}
END_TEST

/* Every table of options that an engine has is one of the above. */
START_TEST(no_table_is_missing)
{
	size_t i;

	for (i = 0; i < WD_COUNT(tables); i++)
		if (tables[i].of == wd_engines[_i].options)
			return;
	ck_assert_ptr_eq(wd_engines[_i].options, wd_no_options);
}
END_TEST

WD_SUITE_BEGIN("evidence engine options")
WD_LOOP(every_spelling, tables);
WD_LOOP(no_spelling_is_missing, tables);
tcase_add_loop_test(tcase, no_table_is_missing, 0, WD_ID_COUNT);
WD_SUITE_END
