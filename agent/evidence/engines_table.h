/*
 * engines_table.h - the shape of the engine table. Private to engines*.c.
 */
#ifndef WD_EVIDENCE_ENGINES_TABLE_H
#define WD_EVIDENCE_ENGINES_TABLE_H

#include "evidence/engines.h"

/* ---- options ------------------------------------------------------------ */

enum wd_option_form {
	WD_FORM_VALUE,  /* --name VALUE or --name=VALUE; the last one counts */
	WD_FORM_ONCE,   /* same, but some versions add up repetitions */
	WD_FORM_ALONE,  /* no value: means `says` */
	WD_FORM_SWITCH, /* on, off or auto; older builds take no value */
	WD_FORM_MANY,   /* values up to the next option; repetitions add up */
};

enum wd_option_shape {
	WD_SHAPE_PLAIN,
	WD_SHAPE_COMMAS, /* FILE,FILE */
	WD_SHAPE_SCALED, /* FILE:SCALE,FILE:SCALE */
	WD_SHAPE_NAMED,  /* FILE, NAME=FILE or JSON with a path */
	WD_SHAPE_JSON,   /* JSON with "model" */
};

struct wd_engine_option {
	const char *names; /* spellings with blanks between; "": none */
	const char *environment;
	enum wd_option_form form;
	enum wd_engine_use use;
	enum wd_option_shape shape;
	const char *keys; /* run.* with blanks between; NULL: none */
	const char *says; /* value of WD_FORM_ALONE */
};

/* More than any engine's table has. */
#define WD_ENGINE_MAX_OPTIONS 128

extern const struct wd_engine_option wd_llama_options[];
extern const struct wd_engine_option wd_ollama_options[];
extern const struct wd_engine_option wd_vllm_options[];
extern const struct wd_engine_option wd_sglang_options[];
extern const struct wd_engine_option wd_tgi_options[];
extern const struct wd_engine_option wd_tgi_router_options[];
extern const struct wd_engine_option wd_mlx_options[];
extern const struct wd_engine_option wd_mlx_vlm_options[];
extern const struct wd_engine_option wd_triton_options[];
extern const struct wd_engine_option wd_trtllm_options[];
extern const struct wd_engine_option wd_llama_cpp_python_options[];
extern const struct wd_engine_option wd_koboldcpp_options[];
extern const struct wd_engine_option wd_localai_options[];
extern const struct wd_engine_option wd_config_options[];
/* Of engines nobody knows, and besides those known by words. */
extern const struct wd_engine_option wd_generic_options[];
extern const struct wd_engine_option wd_no_options[];

/* ---- engines ------------------------------------------------------------ */

enum wd_engine_id {
	WD_ID_LLAMA,
	WD_ID_LLAMA_ROUTER,
	WD_ID_LLAMA_RPC,
	WD_ID_OLLAMA,
	WD_ID_OLLAMA_RUNNER,
	WD_ID_VLLM,
	WD_ID_VLLM_WORKER,
	WD_ID_SGLANG,
	WD_ID_SGLANG_WORKER,
	WD_ID_SGLANG_ROUTER,
	WD_ID_TGI_LAUNCHER,
	WD_ID_TGI_ROUTER,
	WD_ID_TGI_WORKER,
	WD_ID_MLX_LM,
	WD_ID_MLX_VLM,
	WD_ID_LM_STUDIO,
	WD_ID_LM_STUDIO_WORKER,
	WD_ID_TRITON,
	WD_ID_TRTLLM,
	WD_ID_LLAMA_SWAP,
	WD_ID_LITELLM,
	WD_ID_NODE_LLAMA,
	WD_ID_LLAMA_CPP_PYTHON,
	WD_ID_KOBOLDCPP,
	WD_ID_LOCALAI,
	WD_ID_WEBUI,
	WD_ID_EXO,
	WD_ID_PROXY,
	WD_ID_COUNT,
};

extern const struct wd_engine wd_engines[WD_ID_COUNT];

enum wd_mark_where {
	WD_MARK_PROGRAM,       /* base name of the executable */
	WD_MARK_PROGRAM_START, /* how it begins */
	WD_MARK_SCRIPT,        /* base name of the script */
	WD_MARK_SCRIPT_PATH,   /* end of its path */
	WD_MARK_MODULE,        /* python -m */
	WD_MARK_WORD,          /* within any argument of the interpreter */
	WD_MARK_TITLE,         /* how the title or command name begins */
};

struct wd_mark {
	enum wd_engine_id engine;
	enum wd_mark_where where;
	const char *text;
	const char *command; /* first word after it; NULL: any */
};

extern const struct wd_mark wd_marks[];
extern const size_t wd_mark_count;

/* ---- rules -------------------------------------------------------------- */

enum wd_rule_question {
	WD_ASK_MUTABLE,
	WD_ASK_UPDATABLE,
	WD_ASK_PARTIAL,
	WD_ASK_SLEEPS,
};

enum wd_rule_test {
	WD_TEST_ALWAYS,
	WD_TEST_GIVEN,
	WD_TEST_ABOVE, /* above the number `text`, or no number at all */
	WD_TEST_TRUE,  /* not empty, 0, off or false */
	WD_TEST_NOT,   /* not one of the words of `text` */
	WD_TEST_IS,    /* one of the words of `text` */
};

/* The answer is YES when any occurrence of the option, or the variable, passes
 * the test. */
struct wd_engine_rule {
	enum wd_engine_id engine;
	enum wd_rule_question question;
	enum wd_rule_test test;
	const char *names, *environment; /* blanks between; "": none */
	const char *text;
	const char *reason;
};

extern const struct wd_engine_rule wd_engine_rules[];
extern const size_t wd_engine_rule_count;

/* ---- reading a command line (engines_argv.c) ---------------------------- */

/* The words behind the program and, for an interpreter, behind its own options
 * and the script. */
struct wd_words {
	struct wd_slice rest;
	struct wd_slice program; /* base name of the executable, or argv[0] */
	struct wd_slice script;  /* path, or empty */
	struct wd_slice module;  /* of python -m, or empty */
	bool interpreter;
	size_t taken;
};

struct wd_words wd_words_of(const struct wd_process *process);

/* The next word. False at the end, and after WD_MAX_ARGUMENTS. */
bool wd_words_next(struct wd_words *words, struct wd_slice *word);

/* Whether the command line was read to its end and nothing was written over
 * it. */
bool wd_words_complete(const struct wd_process *process);

/* Whether `word` is one of the blank-separated `names`; in an engine that
 * takes underscores they count as dashes. */
bool wd_word_is(
    const struct wd_engine *engine, struct wd_slice word, const char *names);

/* Whether `word` is the beginning of one of the long `names`, and the engine's
 * parser completes it. */
bool wd_word_abbreviates(
    const struct wd_engine *engine, struct wd_slice word, const char *names);

/* `word` is --name=value: cuts it apart. */
bool wd_word_cut(
    struct wd_slice word, struct wd_slice *name, struct wd_slice *value);

/* The value of an option: what stood behind '=', or the next word. False when
 * there is none. */
bool wd_words_value(const struct wd_engine *engine, struct wd_words *words,
    bool inlined, struct wd_slice *value);

struct wd_slice wd_word_base(struct wd_slice path);
bool wd_word_contains(struct wd_slice word, const char *text);

/* The first of the blank-separated variables that is set, or NULL. */
const struct wd_variable *wd_words_variable(
    const struct wd_process *process, const char *names);

/* The string that the outermost object of a JSON text has under `key`; the
 * last one, as Python reads it. Strings with escapes are not taken. */
bool wd_word_json(
    struct wd_slice json, const char *key, struct wd_slice *value);

#endif
