/*
 * listing.h - files that say which weights a name stands for: a branch of a
 * hub cache, a tag of an Ollama store, an engine's list of models.
 *
 * What they say is a claim: it is shown and compared, and never evidence that
 * a file was loaded. Everything else in such a file (keys, prompts, ports) is
 * skipped, so that no secret leaves by this way.
 */
#ifndef WD_BUNDLE_LISTING_H
#define WD_BUNDLE_LISTING_H

#include "base/error.h"
#include "bundle/source.h"

enum wd_listing_kind {
	/* refs/NAME of a Hugging Face cache: the revision it leads to. */
	WD_LISTING_REF,
	/* manifests/HOST/NAMESPACE/MODEL/TAG of an Ollama store: an image
	 * manifest whose layers are blobs. */
	WD_LISTING_MANIFEST,
	/* llama-server --models-preset: INI, a section for each model, its
	 * keys are options without dashes (tools/server/README.md). */
	WD_LISTING_PRESET,
	/* vLLM, SGLang, TensorRT-LLM and KoboldCpp --config, llama-cpp-python
	 * --config_file: YAML or JSON, its keys are long options. */
	WD_LISTING_OPTIONS,
	/* llama-swap: YAML, models.NAME.cmd is a command line. */
	WD_LISTING_SWAP,
	/* LiteLLM: YAML, model_list of names and upstreams. */
	WD_LISTING_PROXY,
};

enum wd_listed_use {
	WD_LISTED_REVISION, /* value: a folder below snapshots */
	WD_LISTED_MODEL,    /* value: a path, a repository id, "sha256:HEX" */
	WD_LISTED_DRAFT,
	WD_LISTED_ADAPTER,
	WD_LISTED_PROJECTOR,
	WD_LISTED_NAME,     /* value: a name by which clients ask */
	WD_LISTED_UPSTREAM, /* value: an address, or a name at a provider */
};

struct wd_listed {
	enum wd_listed_use use;
	const char *entry;     /* the model's name in the list, escaped; "" */
	const char *key;       /* as written, escaped: "model", "cmd -m" */
	struct wd_slice value; /* bytes, not empty, no NUL */
};

struct wd_arena;

struct wd_listing {
	struct wd_listed *items; /* in the order of the file */
	size_t count, capacity;
	size_t entries; /* models that the list has */
	bool complete;  /* every entry could be read and is in `items` */
	struct wd_arena *arena;
};

/* Reads the whole file. Errors: WD_MALFORMED with the place, WD_LIMIT,
 * WD_NOMEM, those of the source. The caller releases `listing`, which is empty
 * on failure. */
enum wd_status wd_listing_read(const struct wd_source *source,
    enum wd_listing_kind kind, struct wd_listing *listing,
    struct wd_error *err) WD_MUST_CHECK;

/* An empty list, complete so far. Errors: WD_NOMEM. */
enum wd_status wd_listing_init(struct wd_listing *listing) WD_MUST_CHECK;

/* Adds one item; the texts are copied, `entry` and `key` are escaped already.
 * An empty value, one with a NUL and one of WD_MAX_PATH bytes or more only make
 * the list incomplete, as does the cap WD_MAX_LISTED. Errors: WD_NOMEM. */
enum wd_status wd_listing_put(struct wd_listing *listing,
    enum wd_listed_use use, struct wd_slice entry, struct wd_slice key,
    struct wd_slice value) WD_MUST_CHECK;

/* Whether the value of WD_LISTED_REVISION may become a folder's name. */
bool wd_listing_is_revision(struct wd_slice text);

/* Whether the value is "sha256:" and 64 digits in lower case, as the layers of
 * a manifest have it. */
bool wd_listing_is_digest(struct wd_slice text);

/* A valid WD_CLEANUP handler; also of a zeroed struct. */
void wd_listing_release(struct wd_listing *listing);

#endif
