/*
 * bundle.h - a bundle's facts (bundle/bundle.h) as the message of the schema.
 */
#ifndef WD_WIRE_BUNDLE_H
#define WD_WIRE_BUNDLE_H

#include "base/error.h"
#include "bundle/bundle.h"
#include "weightd/v1/bundle.pb-c.h"

/* What the caller knows of one file's digest beyond its value. */
struct wd_file_digest {
	Weightd__V1__DigestState state;
	int64_t digested_at_ns; /* real time when hashing began; 0: never */
	uint64_t hashed_bytes;  /* PENDING: so far */
	bool has_named;         /* its name says so: a claim, never a digest */
	struct wd_sha256 named;
	bool has_verity; /* fs-verity's Merkle root */
	struct wd_sha256 verity;
};

/* Builds the message. `digests` has one entry for every file of the bundle,
 * or is NULL: no file has a digest. `path` is where the bundle was found, as
 * bytes; from it comes the hub repository (wd_hub_repository).
 *
 * A digest that the bundle holds for a file goes into the message only when
 * its state is COMPUTED, CACHED or KERNEL; the content digest only when that
 * is so for every counted file.
 *
 * The caller frees it with wd_message_free. Errors: WD_NOMEM, WD_LIMIT. */
enum wd_status wd_bundle_message(const struct wd_bundle *bundle,
    const struct wd_file_digest *digests, struct wd_slice path,
    Weightd__V1__Bundle **message, struct wd_error *err) WD_MUST_CHECK;

/* The repository that a path in a Hugging Face hub cache belongs to:
 * ".../models--ORG--NAME/snapshots/..." or ".../blobs/..." gives "ORG/NAME"
 * (huggingface_hub, repo_folder_name). False, and `*repository` untouched,
 * when the path is none of these or the name is no repository id. */
bool wd_hub_repository(
    struct wd_slice path, char *repository, size_t size) WD_MUST_CHECK;

#endif
