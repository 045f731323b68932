/*
 * draft.h - a bundle in the making: what the parsers of this room share.
 *
 * The parsers add files, tensors, settings, tokenizer parts and notes in the
 * order in which they meet them; wd_draft_finish sorts, checks what only shows
 * over all files (a tensor that two of them carry), and computes the
 * fingerprint.
 */
#ifndef WD_BUNDLE_DRAFT_H
#define WD_BUNDLE_DRAFT_H

#include "bundle/arena.h"
#include "bundle/bundle.h"
#include "bundle/canon.h"
#include "bundle/encoding.h"

/* One key or file of the tokenizer: its name, and the digest of its value. */
struct wd_token_part {
	struct wd_slice name;
	struct wd_sha256 sha256;
};

struct wd_draft {
	struct wd_bundle *bundle;
	size_t tensor_capacity;
	size_t file_capacity;
	size_t setting_capacity;
	size_t note_capacity;
	struct wd_token_part *parts;
	size_t part_count;
	size_t part_capacity;
	struct wd_canon canon; /* for one value after the other */

	/* What somebody holds, and where it lies. Either may be NULL. */
	const struct wd_source *given;
	struct wd_slice given_name;
	const struct wd_folder *folder;
	const struct wd_bundle_options *options; /* the defaults at first */
};

enum wd_status wd_draft_init(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;
void wd_draft_release(struct wd_draft *build);

/* A file of the bundle, present until somebody finds otherwise. */
enum wd_status wd_draft_file(struct wd_draft *build, struct wd_slice name,
    enum wd_file_role role, struct wd_error *err) WD_MUST_CHECK;

/* A tensor; its name must be in the arena already, escaped. */
enum wd_status wd_draft_tensor(struct wd_draft *build,
    const struct wd_tensor *tensor, struct wd_error *err) WD_MUST_CHECK;

/* A setting whose value is what build->canon holds. `key` is the whole key.
 * Both are kept escaped. `*value` (may be NULL) is the value kept. */
enum wd_status wd_draft_setting(struct wd_draft *build, struct wd_slice key,
    char **value, struct wd_error *err) WD_MUST_CHECK;

/* A part of the tokenizer. */
enum wd_status wd_draft_part(struct wd_draft *build, struct wd_slice name,
    const struct wd_sha256 *sha256, struct wd_error *err) WD_MUST_CHECK;

/* A copy in the arena. */
enum wd_status wd_draft_copy(struct wd_draft *build, struct wd_slice bytes,
    char **copy, struct wd_error *err) WD_MUST_CHECK;

/* The escaped form in the arena (see bundle.h). */
enum wd_status wd_draft_escaped(struct wd_draft *build, struct wd_slice bytes,
    char **copy, struct wd_error *err) WD_MUST_CHECK;

/* Text that is escaped already, made short for a message; returns `out`. */
#define WD_SHORT_BYTES 112
const char *wd_draft_short(char out[WD_SHORT_BYTES], const char *escaped);

/* A note; untrusted bytes in it are escaped by the caller. WD_NOTE_INCOMPLETE
 * makes the bundle incomplete. */
enum wd_status wd_draft_note(struct wd_draft *build, enum wd_note_kind kind,
    struct wd_error *err, const char *format, ...) WD_MUST_CHECK
    __attribute__((format(printf, 4, 5)));

/* What was added since the mark is forgotten again (a file that turned out
 * to be broken half-way through). */
struct wd_draft_mark {
	size_t tensors, settings, parts, notes;
	bool incomplete;
};
struct wd_draft_mark wd_draft_mark(const struct wd_draft *build);
void wd_draft_back(struct wd_draft *build, const struct wd_draft_mark *mark);

/* Forgets the names that a file gave to the bundle. */
void wd_draft_unname(struct wd_draft *build);

/* A file beside the given one, or that one itself. Errors: those of the
 * folder's open; WD_GONE without a folder. */
struct wd_opened {
	struct wd_source source;
	const struct wd_folder *folder; /* whose close it needs; or NULL */
};
enum wd_status wd_draft_open(struct wd_draft *build, struct wd_slice name,
    struct wd_opened *opened, struct wd_error *err) WD_MUST_CHECK;
void wd_opened_close(struct wd_opened *opened);

/* The encoding that holds most bytes; NULL without tensors. After the finish.
 */
const char *wd_draft_main_encoding(const struct wd_draft *build);

/* Sorts the tensors by name; again costs nothing. Errors: WD_MALFORMED when two
 * have one name. */
enum wd_status wd_draft_order(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

/* Sorts, sums up and fingerprints. Errors: WD_MALFORMED when two tensors have
 * one name, or the sums overflow; WD_LIMIT, WD_NOMEM, WD_IO. */
enum wd_status wd_draft_finish(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

/* Holds the tensors of one file, which begin at index `first`, against the
 * rule that no byte belongs to two of them. `*end` is the first byte behind
 * the last tensor, `*unused` the number of bytes from `start` to there that
 * belong to none. Errors: WD_MALFORMED, WD_NOMEM. */
enum wd_status wd_draft_layout(const struct wd_draft *build, size_t first,
    uint64_t start, uint64_t *end, uint64_t *unused,
    struct wd_error *err) WD_MUST_CHECK;

/* fingerprint.c: fills the digests and the derived recipe of a bundle whose
 * arrays are in order. Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_fingerprint(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

/* settings.c: the members of a JSON object as settings, below `prefix`.
 * Errors: WD_LIMIT, WD_NOMEM. */
enum wd_status wd_settings_json(struct wd_draft *build, const char *prefix,
    const json_t *object, struct wd_error *err) WD_MUST_CHECK;

/* settings.c: sorts by key; a key that stands twice with other values gets a
 * value that equals none of them. Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_settings_order(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

/* declared.c: notes where the configuration's labels disagree with the tensors.
 * After the finish. Errors: WD_NOMEM, WD_LIMIT. */
enum wd_status wd_declared_check(struct wd_draft *build, const json_t *config,
    struct wd_error *err) WD_MUST_CHECK;

#endif
