/*
 * ollama.h - a tag of an Ollama store as a bundle, and names of blobs.
 *
 * manifests/HOST/NAMESPACE/MODEL/TAG is an image manifest whose layers are
 * blobs/sha256-HEX. The bundle is that of the model's layer, so its fingerprint
 * is the one of the file that the model was made from, and of what a server
 * holds. What else the tag brings (adapter, projector, template, parameters,
 * system prompt) is shown beside it, and is no part of the digests: a server
 * can load the same weights without the tag.
 */
#ifndef WD_BUNDLE_OLLAMA_H
#define WD_BUNDLE_OLLAMA_H

#include "bundle/bundle.h"

/* The digest that a blob's name is: "sha256-HEX" of an Ollama store, "HEX" of a
 * hub's cache. False for any other name. */
bool wd_blob_named(struct wd_slice name, struct wd_sha256 *sha256);

/* Whether the file's digest is another than the name it is stored under says:
 * the cache is corrupt. False while the digest is not known. */
bool wd_blob_misnamed(const struct wd_bundle_file *file);

/* A note of kind WD_NOTE_MALFORMED about each such file; `*count` is how many
 * there are. Errors: WD_NOMEM, WD_LIMIT. */
enum wd_status wd_blob_check(struct wd_bundle *bundle, size_t *count,
    struct wd_error *err) WD_MUST_CHECK;

/* Describes the bundle of the manifest. `blobs` is the folder of the blobs.
 * Files keep the layer's name, or its kind and number, and are stored under
 * stored_name; settings of the tag begin with "tag." and stand outside the
 * digests. Errors: WD_MALFORMED (no manifest), WD_NOTFOUND (the model's blob is
 * not there), WD_UNSUPPORTED (no layer that we read), and those of
 * wd_bundle_describe. On error `*bundle` is untouched. */
enum wd_status wd_ollama_describe(const struct wd_source *manifest,
    const struct wd_folder *blobs, const struct wd_bundle_options *options,
    struct wd_bundle **bundle, struct wd_error *err) WD_MUST_CHECK;

#endif
