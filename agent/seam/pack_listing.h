/*
 * pack_listing.h - a wd_listing as a message and back. Private to this room.
 */
#ifndef WD_SEAM_PACK_LISTING_H
#define WD_SEAM_PACK_LISTING_H

#include "bundle/listing.h"
#include "weightd/seam/v1/reader.pb-c.h"

/* The message borrows from `listing`; wd_listing_message_free frees the rest.
 * Errors: WD_NOMEM. */
enum wd_status wd_listing_message(const struct wd_listing *listing,
    Weightd__Seam__V1__Listing **message, struct wd_error *err) WD_MUST_CHECK;

void wd_listing_message_free(Weightd__Seam__V1__Listing **message);

/* The other end does not believe the reader: texts are checked to be escaped,
 * uses to be known ones. Errors: WD_MALFORMED, WD_NOMEM. `listing` is empty on
 * failure. */
enum wd_status wd_listing_of_message(const Weightd__Seam__V1__Listing *message,
    struct wd_listing *listing, struct wd_error *err) WD_MUST_CHECK;

#endif
