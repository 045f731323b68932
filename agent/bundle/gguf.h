/*
 * gguf.h - GGUF, versions 2 and 3, in both byte orders.
 *
 * Specification: ggml/docs/gguf.md; where it is silent, what ggml's reader
 * (ggml/src/gguf.cpp) accepts. Version 1 had 32-bit lengths, died in 2023 and
 * is not read.
 */
#ifndef WD_BUNDLE_GGUF_H
#define WD_BUNDLE_GGUF_H

#include "bundle/draft.h"
#include "bundle/window.h"

/* What one file's header says beside its settings and tensors. */
struct wd_gguf_facts {
	unsigned version;
	bool big_endian;
	uint64_t alignment;
	bool has_split;
	uint64_t split_no;      /* 0-based, as the file counts */
	uint64_t split_count;   /* 0 or 1: not split */
	uint64_t split_tensors; /* of all shards; 0 when not said */
	bool has_file_type;
	uint64_t file_type;
};

/* Whether the first 8 bytes begin a GGUF file of a version that we read, and
 * in which byte order. */
bool wd_gguf_starts(const uint8_t head[8], bool *big_endian);

/* Reads one file's header into the build; its tensors belong to file number
 * `file`. Settings and tokenizer parts are kept when `with_keys` is true.
 * Errors: WD_MALFORMED, WD_TRUNCATED (within the header; a file cut behind it
 * gets a note), WD_LIMIT, WD_UNSUPPORTED (another version), WD_NOMEM, those
 * of read; with the offset. */
enum wd_status wd_gguf_read(struct wd_draft *build,
    const struct wd_source *source, uint32_t file, bool with_keys,
    struct wd_gguf_facts *facts, struct wd_error *err) WD_MUST_CHECK;

/* gguf_keys.c: reads `count` metadata keys. Errors: as wd_gguf_read. */
enum wd_status wd_gguf_keys(struct wd_draft *build, struct wd_window *window,
    uint64_t count, bool with_keys, struct wd_gguf_facts *facts,
    struct wd_error *err) WD_MUST_CHECK;

/* gguf_set.c: the bundle of the given file: that file alone, or all shards of
 * its set. Errors: as wd_gguf_read, about the given file; about its siblings
 * there are notes. */
enum wd_status wd_gguf_describe(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

/* Takes "PREFIX-00002-of-00005.gguf" apart (llama.cpp's pattern for shards).
 * False when `name` is not of that form. */
bool wd_gguf_shard_name(struct wd_slice name, struct wd_slice *prefix,
    uint64_t *number, uint64_t *count);

#endif
