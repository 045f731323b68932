/*
 * attest.h - from a question about a port to the attestation.
 *
 * Joins the facts of a host (host.h) with what a reader says of files
 * (seam/reader.h) and what the store remembers. Reads sockets, owners, then
 * mappings, and at the end everything that could have moved once more; on a
 * change the whole look is repeated, and when it still moves the answer says
 * so. Judges nothing: see verdict.h.
 */
#ifndef WD_EVIDENCE_ATTEST_H
#define WD_EVIDENCE_ATTEST_H

#include "base/clock.h"
#include "base/error.h"
#include "evidence/digest_work.h"
#include "host/host.h"
#include "seam/reader.h"
#include "store/store.h"
#include "weightd/v1/service.pb-c.h"

/* What a look works with; everything is borrowed. */
struct wd_evidence {
	struct wd_host *host;
	struct wd_reader *reader;
	struct wd_store *store;
	const struct wd_clock *clock;
	/* Where files are hashed in the background; NULL: by the question
	 * itself. */
	struct wd_digest_work *work;
};

enum wd_digest_wish {
	WD_DIGEST_CACHED_ONLY, /* never read a file for it */
	WD_DIGEST_START,       /* hash it in the background, do not wait */
	WD_DIGEST_COMPUTE,     /* hash what is not cached, until the deadline */
	WD_DIGEST_FRESH,       /* hash even when it is cached */
};

/* Answers `question`. The attestation is always whole: what could not be seen
 * is a blind spot in it, not an error. Errors: WD_INVALID (port 0 or above
 * 65535, an address that is none), WD_NOMEM. The caller frees it with
 * weightd__v1__attestation__free_unpacked(attestation, NULL). */
enum wd_status wd_attest_port(const struct wd_evidence *evidence,
    const Weightd__V1__Question *question, enum wd_digest_wish digests,
    const struct wd_deadline *deadline, Weightd__V1__Attestation **attestation,
    struct wd_error *err) WD_MUST_CHECK;

#endif
