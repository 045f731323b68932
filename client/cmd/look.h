/*
 * look.h - one look at a bundle on this machine's disk: opened, described,
 * hashed, and held against its first state.
 *
 * What goes wrong is said on standard error, with names escaped; functions
 * return the exit code that it means.
 */
#ifndef WD_CMD_LOOK_H
#define WD_CMD_LOOK_H

#include "bundle/bundle.h"
#include "cmd/cmd.h"
#include "cmd/kept.h"
#include "wire/bundle.h"

/* What is open while the bundle is looked at. */
struct wd_look {
	struct wd_kept kept;
	bool is_tag;          /* `name` is a tag of an Ollama store */
	char *real;           /* its path; or NULL */
	struct wd_slice name; /* of the file that was given; empty: a folder */
	struct wd_bundle *bundle;
	struct wd_file_digest *digests; /* one for each file of the bundle */
};

/* Nothing is open yet. */
void wd_look_init(struct wd_look *look);
void wd_look_release(struct wd_look *look);

/* Opens and describes what lies at `path`, which must outlive the look.
 * Returns WD_EXIT_MATCH, WD_EXIT_USAGE (nothing is there, several bundles are)
 * or WD_EXIT_UNVERIFIABLE. */
int wd_look_describe(struct wd_look *look, const char *path);

/* Hashes every file through the descriptor that it was described through.
 * WD_EXIT_UNVERIFIABLE when one could not be; WD_EXIT_MISMATCH when the name of
 * a blob says another digest than its bytes have. */
int wd_look_hash(struct wd_look *look);

/* WD_EXIT_UNVERIFIABLE when a file is not what it was when the look began. */
int wd_look_check_unchanged(const struct wd_look *look);

/* Says why, with the path escaped. A path that is not there is the caller's
 * mistake; one that cannot be read leaves the question open. */
int wd_look_report(const char *path, enum wd_status st, const char *message);

#endif
