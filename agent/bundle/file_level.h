/*
 * file_level.h - formats whose tensors are not read: what is said of them is
 * their files, settings and members.
 *
 * Their tensor tables are programs (PyTorch's pickles are never run), or made
 * for one device (TensorRT engines), or described elsewhere (Core ML). So the
 * number of parameters is unknown, and there is neither an encoding digest
 * nor a derived recipe: two of nothing would be equal.
 */
#ifndef WD_BUNDLE_FILE_LEVEL_H
#define WD_BUNDLE_FILE_LEVEL_H

#include "bundle/draft.h"
#include "bundle/safetensors_dir.h"

/* ---- file_level.c: what the three share ---- */

/* Sets the format, and that parameters and encodings are unknown. */
void wd_file_level_begin(struct wd_draft *build, enum wd_bundle_format format);

/* The folder's names, sorted, in dir->names; a folder that is not known or
 * cannot be listed becomes a note, and the bundle incomplete. Errors:
 * WD_LIMIT, WD_NOMEM. */
enum wd_status wd_file_level_list(struct wd_dir *dir) WD_MUST_CHECK;

/* Adds the settings, tokenizer and recipe files among dir->names. */
enum wd_status wd_file_level_sides(struct wd_dir *dir) WD_MUST_CHECK;

/* Reads one weight file of the bundle into it. */
typedef enum wd_status (*wd_file_level_read)(struct wd_draft *build,
    const struct wd_source *source, uint32_t file, struct wd_error *err);

/* Sorts the files by name and reads each: weights by `read`, the others as
 * they are read beside safetensors. What is wrong with one becomes a note,
 * unless it is the given one. Errors: those of read about the given file;
 * WD_NOMEM, WD_LIMIT. */
enum wd_status wd_file_level_files(
    struct wd_dir *dir, wd_file_level_read read) WD_MUST_CHECK;

/* A setting of text. */
enum wd_status wd_file_level_setting(struct wd_draft *build, const char *key,
    const char *value, struct wd_error *err) WD_MUST_CHECK;

/* ---- the formats ---- */

/* pytorch.c: a checkpoint of torch.save: a zip archive with data.pkl in its
 * one folder, or before PyTorch 1.6 a pickle that begins with a number of its
 * own. `head` is of wd_pytorch_head bytes at least. */
#define WD_PYTORCH_HEAD 15
bool wd_pytorch_pickle(const uint8_t *head);
enum wd_status wd_pytorch_looks_like(const struct wd_source *source, bool *is,
    struct wd_error *err) WD_MUST_CHECK;
bool wd_pytorch_name(struct wd_slice name);
/* Whether both are named as shards of one set. */
bool wd_pytorch_same_set(struct wd_slice a, struct wd_slice b);
enum wd_status wd_pytorch_describe(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

/* tensorrt.c: config.json and rank0.engine, rank1.engine, ... of
 * TensorRT-LLM. */
bool wd_tensorrt_name(struct wd_slice name);
enum wd_status wd_tensorrt_describe(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

/* coreml.c: a package (Manifest.json, Data/com.apple.CoreML), a compiled model
 * (coremldata.bin), a lone .mlmodel, or the file that holds the weights of
 * any. */
bool wd_coreml_name(struct wd_slice name);
enum wd_status wd_coreml_looks_like(const struct wd_source *source, bool *is,
    struct wd_error *err) WD_MUST_CHECK;
enum wd_status wd_coreml_describe(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

#endif
