/*
 * caches.h - caches that keep weights under one name and let people use
 * others: where they are, and what is at which place in them. Private to this
 * room.
 *
 * - Hugging Face hub (huggingface_hub, "Understand caching"):
 *   ROOT is .../models--ORG--NAME, with blobs/HASH, snapshots/REVISION/FILE
 *   (links to blobs) and refs/BRANCH (a file that holds a revision).
 * - Ollama (docs/faq, server/modelpath.go): ROOT has blobs/sha256-HEX and
 *   manifests/HOST/NAMESPACE/MODEL/TAG, whose layers name blobs.
 *
 * Files of a cache are parsed by the reader; what it says becomes part of a
 * path only after wd_listing_is_revision or wd_listing_is_digest.
 */
#ifndef WD_EVIDENCE_CACHES_H
#define WD_EVIDENCE_CACHES_H

#include "bundle/listing.h"
#include "evidence/look.h"

enum wd_cache_kind { WD_CACHE_NONE, WD_CACHE_HUB, WD_CACHE_OLLAMA };

/* Where a path lies in a cache; slices of the path. */
struct wd_cache_place {
	enum wd_cache_kind kind;
	struct wd_slice root;
	struct wd_slice blob;     /* its name; empty: a snapshot's file */
	struct wd_slice revision; /* of a snapshot's file */
};

struct wd_cache_place wd_cache_place_of(struct wd_slice path);

/* The folders in which the process keeps what it takes from the hub (Ollama's
 * registry), by its environment: the one that counts, then others that could.
 * `each` returns false to end. Errors: WD_NOMEM. */
enum wd_status wd_cache_roots(const struct wd_process *process,
    enum wd_cache_kind kind, bool (*each)(void *ctx, struct wd_slice root),
    void *ctx) WD_MUST_CHECK;

/* A list that lies at `path` in the eyes of `pid`; `*set_ns` is when the file
 * was last set. Errors: WD_GONE (it is not there), WD_NOMEM, and any other when
 * it could not be read. The caller releases `list` in any case. */
enum wd_status wd_cache_read(struct wd_look *look, pid_t pid,
    struct wd_slice path, enum wd_listing_kind kind, struct wd_listing *list,
    int64_t *set_ns) WD_MUST_CHECK;

/* The revision that branch `name` of the hub cache at `root` leads to; empty
 * when it is not there or cannot be read. Errors: WD_NOMEM. */
enum wd_status wd_cache_ref(struct wd_look *look, pid_t pid,
    struct wd_slice root, struct wd_slice name, struct wd_bytes *revision,
    int64_t *set_ns) WD_MUST_CHECK;

/* The digest of the model's layer that the manifest at `path` names. As
 * wd_cache_ref. */
enum wd_status wd_cache_manifest(struct wd_look *look, pid_t pid,
    struct wd_slice path, struct wd_bytes *digest,
    int64_t *set_ns) WD_MUST_CHECK;

/* Joins up to four parts (empty ones are left out) with '/'. Errors: WD_NOMEM,
 * WD_LIMIT. */
enum wd_status wd_cache_path(struct wd_bytes *path, struct wd_slice a,
    struct wd_slice b, struct wd_slice c, struct wd_slice d) WD_MUST_CHECK;

#endif
