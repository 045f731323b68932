/*
 * engines.h - what is known of the programs that serve models: how they are
 * recognised, where they name their weights, whether they can change them
 * while they run, and which options they were started with. Data more than
 * code: see engines_table.c and engines_options.c, where each block names its
 * source. Pure functions over struct wd_process.
 *
 * THE RULE. There are two ways to recognise an engine, and they are worth
 * different things:
 *
 * - by program: the base name of the executable, which the kernel tells;
 * - by words: the script or module that an interpreter was given, a title
 *   written over the arguments, the command name. These anybody may write.
 *
 * Recognition by words may only make an answer more careful, never less. So,
 * by words alone:
 *
 * - nothing is a server of its own against its parent (but an interpreter's
 *   script with a port of its own, see children.c: it proves less then, since
 *   only what is left counts for the parent), nor a proxy, and no port is
 *   internal (wd_engine_is_own_server, wd_engine_is_proxy,
 *   wd_engine_port_is_internal are false): whoever forges the title of a
 *   worker gains nothing;
 * - no question is answered with "no": MUTABLE, PARTIAL and "updatable
 *   without files" are WD_YES or WD_NOT_KNOWN, as of an unknown engine;
 * - no claim disappears: the options of unknown engines stay in force besides
 *   those of the engine.
 *
 * By program too, only a command line and an environment that were read
 * completely, and over which no title was written, support a WD_NO. A program
 * mark wins over every word. What the table calls a proxy or a router is a
 * forwarder by name: weights that it holds are shown, and prove nothing, since
 * a request may just as well be answered behind it.
 *
 * Claims and settings are what the words say, under either recognition: they
 * are shown and compared, and are never evidence that a file was loaded.
 */
#ifndef WD_EVIDENCE_ENGINES_H
#define WD_EVIDENCE_ENGINES_H

#include "base/error.h"
#include "host/host.h"

enum wd_engine_kind {
	WD_ENGINE_SERVER,   /* serves what it, or its workers, loaded */
	WD_ENGINE_ROUTER,   /* starts servers and passes requests on to them */
	WD_ENGINE_WORKER,   /* loads and computes for a server */
	WD_ENGINE_PROXY,    /* passes traffic on, loads nothing */
	WD_ENGINE_LAUNCHER, /* starts the server and waits for it */
};

enum wd_engine_how {
	WD_ENGINE_UNKNOWN,
	WD_ENGINE_BY_PROGRAM,
	WD_ENGINE_BY_SCRIPT, /* words: the interpreter's script or module */
	WD_ENGINE_BY_TITLE,  /* words: a title, the command name, or argv[0]
			      * where the executable is not known */
};

struct wd_engine_option; /* engines_table.h */

struct wd_engine {
	const char *name;   /* "llama-server" */
	const char *family; /* of the programs that belong together */
	enum wd_engine_kind kind;
	bool own_server; /* a child of this kind serves for itself */
	/* The parent talks to its port as a client, and nobody else is meant
	 * to. No engine of the table has that verified by program today: the
	 * workers of vLLM, SGLang and TGI are spoken to over unix sockets and
	 * pipes, and known by words only. */
	bool internal_port;
	bool positional_model; /* `serve MODEL` */
	bool underscores;      /* --a_b is --a-b */
	bool abbreviates;      /* Python's argparse takes --tensor-par 2 */
	bool environment_wins; /* over the command line */
	bool file_below_words; /* an option given beats the config file */
	/* `options` names every way in which the run.* settings are set, so an
	 * option that is not there was not set. Else an absence says nothing:
	 * a library is told in code, a router takes more than it lists. */
	bool options_whole;
	bool may_repack;  /* run.repack off: it computes from its mapping */
	bool maps_drafts; /* a draft model is mapped when it is in use */
	enum wd_tristate updatable, partial, mutable; /* when no rule says YES
						       */
	const struct wd_engine_option *options;       /* until a name of NULL */
};

struct wd_recognition {
	const struct wd_engine *engine; /* NULL: unknown */
	enum wd_engine_how how;
};

/* Which engine the process runs. Allocates nothing, cannot fail. */
struct wd_recognition wd_engine_recognise(const struct wd_process *process);

/* Whether a child recognised so serves for itself, and is not counted into
 * the group of its parent. By program only. */
bool wd_engine_is_own_server(const struct wd_recognition *child);

/* Whether it only passes traffic on. By program only. */
bool wd_engine_is_proxy(const struct wd_recognition *recognition);

/* Whether it is known to pass requests on, whatever it holds besides: a proxy
 * or a router. By words too, since it makes an answer more careful only. */
bool wd_engine_passes_on(const struct wd_recognition *recognition);

/* Whether the child's port stays within the group although the parent
 * connects to it. Both must be of one family and known by program. */
bool wd_engine_port_is_internal(
    const struct wd_recognition *parent, const struct wd_recognition *child);

/* ---- questions ---------------------------------------------------------- */

/* Whether the process can come to serve other weights than those it has
 * loaded, without a new process: loads driven by requests, sleep and reload,
 * weight updates, adapters that are switched at run time. `*reason` (static,
 * may be NULL) says why in words that follow the engine's name. Unknown
 * engines are WD_NOT_KNOWN. */
enum wd_tristate wd_engine_mutable(
    const struct wd_process *process, const char **reason);

/* Whether weights may arrive over the network or from another process, without
 * any file being read here. */
enum wd_tristate wd_engine_updatable_without_files(
    const struct wd_process *process, const char **reason);

/* Whether parts of what answers are in processes on other hosts. Tensor
 * parallelism within one host is none. */
enum wd_tristate wd_engine_partial(
    const struct wd_process *process, const char **reason);

/* Whether the process drops its weights when nobody asks for them, or when it
 * is told to, and gets them back later: WD_YES, or WD_NOT_KNOWN. */
enum wd_tristate wd_engine_sleeps(
    const struct wd_process *process, const char **reason);

/* Whether the engine maps a draft model if, and only if, it uses one, as it
 * maps its model. By program only. */
bool wd_engine_maps_drafts(const struct wd_process *process);

/* Whether the engine computes from its mapping alone once run.repack is off and
 * no device is in use: else tensors may be copies that it made at load. By
 * program only. */
bool wd_engine_may_repack(const struct wd_process *process);

/* ---- claims ------------------------------------------------------------- */

enum wd_engine_use {
	WD_ENGINE_NO_USE,
	WD_ENGINE_MODEL,
	WD_ENGINE_DRAFT,
	WD_ENGINE_ADAPTER,
	WD_ENGINE_PROJECTOR,
	WD_ENGINE_TOKENIZER,
	WD_ENGINE_NAME,   /* only a name, by which clients ask */
	WD_ENGINE_STORE,  /* a directory of many models */
	WD_ENGINE_CONFIG, /* a file that names models or options */
};

enum wd_engine_source {
	WD_ENGINE_ARGV,
	WD_ENGINE_TITLE, /* the arguments as somebody wrote over them */
	WD_ENGINE_ENVIRONMENT,
};

struct wd_engine_claim {
	enum wd_engine_source source;
	enum wd_engine_use use;
	struct wd_slice key;   /* the option or variable; empty: bare */
	struct wd_slice value; /* of the process, valid as long as it is */
	/* An option known to name weights; else the word is worth keeping only
	 * if it leads to a weight file. */
	bool known;
	bool overridden; /* something given later, or stronger, replaces it */
};

/* Calls `take` for everything the command line and the environment name, the
 * command line first; lists, NAME=PATH, FILE:SCALE and JSON values are taken
 * apart. Ends early when `take` returns
 * false. False when not everything could be read (no right, truncated, more
 * than WD_MAX_ARGUMENTS words): there may be more. */
bool wd_engine_claims(const struct wd_process *process,
    bool (*take)(void *ctx, const struct wd_engine_claim *claim), void *ctx);

/* ---- settings ----------------------------------------------------------- */

struct wd_run_setting {
	char *key; /* "run.context" */
	char *value;
};

struct wd_run_settings {
	struct wd_run_setting *items; /* sorted by key, each key once */
	size_t count, capacity;
	/* Every option the process was started with is known. Not so when the
	 * command line or environment could not be read, a configuration file
	 * adds to them, or a word was ambiguous. */
	bool complete;
};

/* The options in force, as command line and environment give them, never
 * inferred: what is not given is absent. Values are as written; switches are
 * on, off or auto. The command line wins over the environment, the last
 * occurrence over earlier ones (argparse, clap and llama.cpp agree). Absent as
 * well, for it cannot be told: everything, when the command line was
 * overwritten, cut or not readable, or a configuration file may win; an option
 * that was abbreviated; one whose repetition some versions add up. Errors:
 * WD_NOMEM; `settings` is then empty. The caller releases. */
enum wd_status wd_engine_run_settings(const struct wd_process *process,
    struct wd_run_settings *settings, struct wd_error *err) WD_MUST_CHECK;

void wd_run_settings_release(struct wd_run_settings *settings);

#endif
