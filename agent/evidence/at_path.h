/*
 * at_path.h - the bundle at a path of this host, for whoever asks about it and
 * not about a port.
 *
 * Only what lies below a folder that the operator named (model_roots), or a
 * file that a process maps just now, is opened for the reader: the agent can
 * read more than those who ask. Below a root the bundle's other files are
 * found beside it, and none of them leads out of the root either; a file that
 * is only mapped is described alone.
 */
#ifndef WD_EVIDENCE_AT_PATH_H
#define WD_EVIDENCE_AT_PATH_H

#include "evidence/attest.h"

struct wd_at_path {
	struct wd_slice path; /* absolute, of a file or of a folder */
	const char *const *roots;
	size_t root_count;
};

/* Describes it; digests as `wish` says, PENDING where they are not known yet.
 * Errors: WD_INVALID for a path that is none (relative, empty, with ".." or a
 * NUL), or a folder of several bundles; WD_DENIED when it may not be looked at,
 * in the same words whether something is there or not; WD_NOTFOUND when below a
 * root nothing is there, or no bundle; WD_IO when files of a folder could not
 * be looked into, and none of the others is weights; those of
 * wd_reader_describe; WD_NOMEM. The caller frees it with wd_message_free. */
enum wd_status wd_describe_at_path(const struct wd_evidence *evidence,
    const struct wd_at_path *at, enum wd_digest_wish wish,
    const struct wd_deadline *deadline, Weightd__V1__Bundle **bundle,
    struct wd_error *err) WD_MUST_CHECK;

#endif
