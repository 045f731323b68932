/*
 * safetensors.h - safetensors files, alone or as a directory with an index.
 *
 * Specification: https://github.com/huggingface/safetensors#format; where it
 * is silent, what the reference reader (safetensors/src/tensor.rs) does. Two
 * faults that it refuses do not change what the tensors are, and files with
 * them are served by other engines: bytes after the last tensor, and bytes
 * between tensors that belong to none. Such a file is described and gets a
 * WD_NOTE_MALFORMED.
 */
#ifndef WD_BUNDLE_SAFETENSORS_H
#define WD_BUNDLE_SAFETENSORS_H

#include "bundle/draft.h"

/* Whether the first 9 bytes can begin a safetensors file: a header length
 * that the format allows, and a '{'. */
bool wd_safetensors_starts(const uint8_t head[9]);

/* Reads one file's header into the build; its tensors belong to file number
 * `file`. Errors: WD_MALFORMED, WD_TRUNCATED (within the header; a file cut
 * behind it gets a note), WD_LIMIT, WD_NOMEM, those of read; offsets count
 * from the start of the file. */
enum wd_status wd_safetensors_read(struct wd_draft *build,
    const struct wd_source *source, uint32_t file,
    struct wd_error *err) WD_MUST_CHECK;

/* safetensors_plain.c: reads a header's text that is as the usual writers write
 * it; its data begin at `data_offset`. `*plain` is false when it is not, or
 * anything is wrong with it: then nothing was added. `*metadata` is the text of
 * __metadata__, unread; empty when there is none. Errors: WD_NOMEM, WD_LIMIT.
 */
enum wd_status wd_safetensors_plain(struct wd_draft *build,
    struct wd_slice text, uint64_t data_offset, uint32_t file,
    struct wd_slice *metadata, bool *plain, struct wd_error *err) WD_MUST_CHECK;

/* safetensors_dir.c: the bundle that the given file is part of: a weight
 * file, an index or a configuration; with no given file the bundle that lies
 * in the folder. Errors: as wd_safetensors_read, about the given file; about
 * its siblings there are notes. */
enum wd_status wd_safetensors_describe(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

/* Whether `name` is one that only an index or a configuration has. */
bool wd_safetensors_side_file(struct wd_slice name);

/* hub_files.c: the files beside the weights that belong to the bundle, and
 * what each is for. False for any other name. */
bool wd_hub_file_role(struct wd_slice name, enum wd_file_role *role);

/* The settings files that say how the tensors are to be read. */
enum wd_hub_tree {
	WD_TREE_CONFIG,   /* config.json */
	WD_TREE_GPTQ,     /* quantize_config.json, of AutoGPTQ */
	WD_TREE_AWQ,      /* quant_config.json, of AutoAWQ and llm-awq */
	WD_TREE_MODELOPT, /* hf_quant_config.json, of ModelOpt */
	WD_TREE_COUNT,
	WD_TREE_NONE = WD_TREE_COUNT, /* any other */
};

/* Their JSON; NULL where there is none. */
struct wd_hub_trees {
	json_t *trees[WD_TREE_COUNT];
};

void wd_hub_trees_release(struct wd_hub_trees *trees);

/* hub_files.c: reads one of them, file number `file`: settings become settings
 * (below "bundle", or "bundle.STEM" for all but config.json), tokenizer files
 * become parts of the tokenizer. `trees` gets the file's tree, when it is one
 * of them. Errors: WD_MALFORMED, WD_LIMIT, WD_NOMEM, those of read. */
enum wd_status wd_hub_file_read(struct wd_draft *build,
    const struct wd_source *source, uint32_t file, struct wd_hub_trees *trees,
    struct wd_error *err) WD_MUST_CHECK;

/* quant.c: gives each packed weight its number of parameters and the name of
 * its scheme, and takes both from the tensors that only serve to read it.
 * Where that cannot be done for certain, the number of parameters becomes
 * unknown and a note says why. Before the finish. Errors: WD_MALFORMED (as
 * wd_draft_order), WD_NOMEM, WD_LIMIT. */
enum wd_status wd_packed_check(struct wd_draft *build,
    const struct wd_hub_trees *trees, struct wd_error *err) WD_MUST_CHECK;

#endif
