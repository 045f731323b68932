/*
 * pack.h - a bundle's facts as bytes, to be carried from the reader to the
 * observer.
 *
 * Every field of a wd_bundle but the file digests (which come later, by
 * wd_bundle_set_digest) goes over and comes back as it was. The reader may
 * have been taken over by a hostile file, so unpacking believes nothing that
 * memory safety rests on: counts against limits.h, indexes against their
 * arrays, texts without a NUL inside.
 */
#ifndef WD_SEAM_PACK_H
#define WD_SEAM_PACK_H

#include "bundle/bundle.h"
#include "weightd/seam/v1/reader.pb-c.h"

/* The facts as a message that the caller frees with wd_facts_free. Texts stay
 * the bundle's, which must outlive it. Errors: WD_NOMEM. */
enum wd_status wd_facts_of(const struct wd_bundle *bundle,
    Weightd__Seam__V1__Facts **facts, struct wd_error *err) WD_MUST_CHECK;
void wd_facts_free(Weightd__Seam__V1__Facts **facts);

/* The bundle again; the caller frees it with wd_bundle_free. Errors:
 * WD_MALFORMED, WD_LIMIT, WD_NOMEM. */
enum wd_status wd_facts_bundle(const Weightd__Seam__V1__Facts *facts,
    struct wd_bundle **bundle, struct wd_error *err) WD_MUST_CHECK;

#endif
