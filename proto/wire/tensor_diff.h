/*
 * tensor_diff.h - the tensors of two bundles held against each other, name by
 * name, as part of a BundleDiff. Only who has both tensor tables can do it:
 * they are not in the Bundle message.
 */
#ifndef WD_WIRE_TENSOR_DIFF_H
#define WD_WIRE_TENSOR_DIFF_H

#include "bundle/bundle.h"
#include "weightd/v1/verdict.pb-c.h"

/* Adds to `diff` each tensor whose shape or encoding differs, or that one side
 * lacks, in the order of names; at most `most`, but all are counted. Errors:
 * WD_NOMEM, WD_LIMIT; `diff` can then still be freed. */
enum wd_status wd_tensor_diff(const struct wd_bundle *a,
    const struct wd_bundle *b, size_t most, Weightd__V1__BundleDiff *diff,
    struct wd_error *err) WD_MUST_CHECK;

#endif
