/*
 * safetensors_dir.h - a directory of safetensors files in the making: what
 * safetensors_dir.c (the files) and safetensors_index.c (the index) share.
 */
#ifndef WD_BUNDLE_SAFETENSORS_DIR_H
#define WD_BUNDLE_SAFETENSORS_DIR_H

#include "bundle/safetensors.h"

#define WEIGHTS_ENDING ".safetensors"
#define INDEX_ENDING ".safetensors.index.json"
#define NAMES_SHOWN 5

/* A name, and for an index entry the file that it leads to. */
struct wd_pair {
	struct wd_slice name;
	struct wd_slice file;
};

struct wd_pairs {
	struct wd_pair *items;
	size_t count;
	size_t capacity;
};

/* The directory in the making. */
struct wd_dir {
	struct wd_draft *build;
	struct wd_pairs names;   /* that matter, in the folder, sorted */
	struct wd_pairs entries; /* of the index: tensor and shard, by tensor */
	struct wd_slice index;   /* its name; empty when there is none */
	struct wd_hub_trees trees;
	bool listed; /* the folder could be listed */
	enum wd_status status;
	struct wd_error *err;
};

void wd_dir_release(struct wd_dir *dir);

/* Adds a copy of the pair. Errors: WD_LIMIT beyond `max`, WD_NOMEM. */
enum wd_status wd_dir_add(struct wd_dir *dir, struct wd_pairs *pairs,
    struct wd_slice name, struct wd_slice file, size_t max) WD_MUST_CHECK;

/* By name, byte-wise. Finding needs sorted pairs. */
void wd_pairs_sort(struct wd_pairs *pairs);
const struct wd_pair *wd_pairs_find(
    const struct wd_pairs *pairs, struct wd_slice name);

/* Whether a given file is weights: neither index nor configuration. */
bool wd_dir_is_weights(struct wd_slice name);

/* Finds the index that lists the given file, and keeps its entries; without
 * one dir->index stays empty. An index that cannot be read becomes a note,
 * unless it is the given file; so does a folder with more than
 * WD_MAX_INDEX_FILES of them, when the first do not list the file. Errors:
 * those of its parser, WD_NOMEM. */
enum wd_status wd_dir_index(struct wd_dir *dir) WD_MUST_CHECK;

/* Notes what the index says and the shards do not, and the reverse. The
 * bundle's tensors must be in order. Errors: WD_NOMEM. */
enum wd_status wd_dir_hold_index(struct wd_dir *dir) WD_MUST_CHECK;
enum wd_status wd_dir_hold_shards(struct wd_dir *dir) WD_MUST_CHECK;

struct wd_slice wd_dir_file_name(const struct wd_bundle_file *file);

/* Names that share one fault, for one note. */
struct wd_faults {
	struct wd_buf text;
	size_t count;
};

void wd_faults_init(struct wd_faults *faults);
void wd_faults_release(struct wd_faults *faults);

/* `escaped` is ready to show. */
void wd_faults_add(struct wd_faults *faults, const char *escaped);

/* One note of them, when there are any. Errors: WD_NOMEM. */
enum wd_status wd_faults_note(struct wd_dir *dir, struct wd_faults *faults,
    enum wd_note_kind kind, const char *what) WD_MUST_CHECK;

#endif
