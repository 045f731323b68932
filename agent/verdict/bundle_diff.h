/*
 * bundle_diff.h - two bundles held against each other, field by field.
 *
 * Pure: two messages in, one message out, in a fixed order; used for `bundle
 * diff` and for telling hosts apart that run one name. The paths and the names
 * of single files are where things lie and no difference of content; the tensor
 * tables are not in the messages (wire/tensor_diff.h compares those).
 */
#ifndef WD_VERDICT_BUNDLE_DIFF_H
#define WD_VERDICT_BUNDLE_DIFF_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "weightd/v1/verdict.pb-c.h"

/* The caller frees `*diff` with wd_message_free. Errors: WD_NOMEM. */
enum wd_status wd_bundle_diff(const Weightd__V1__Bundle *a,
    const Weightd__V1__Bundle *b, Weightd__V1__BundleDiff **diff,
    struct wd_error *err) WD_MUST_CHECK;

/* Appends the differences as text for people; `path` texts come from the
 * message. Errors: those of the buffer. */
enum wd_status wd_show_bundle_diff(const Weightd__V1__BundleDiff *diff,
    bool with_colour, struct wd_buf *out) WD_MUST_CHECK;

#endif
