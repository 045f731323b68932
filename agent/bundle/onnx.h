/*
 * onnx.h - ONNX models: the tensor table out of the protobuf.
 *
 * Specification: onnx/onnx.proto (IR version 3 to 13) and docs/IR.md,
 * docs/ExternalData.md of https://github.com/onnx/onnx. The file has no magic:
 * it is told from others by being nothing but fields of a ModelProto.
 *
 * What is counted: every tensor that the model stores, as an initializer of
 * the main graph, of a subgraph or of a function, or as an attribute of a node
 * (Constant); a note says how many are no initializers of the main graph. Their
 * names begin with where they stand: "node12.0/NAME" is the first attribute of
 * the 13th node. Scales and zero points of quantised operators count 0, and
 * weights that an operator packs count as it unpacks them (onnx_nodes.c).
 * training_info is not part of what is served.
 */
#ifndef WD_BUNDLE_ONNX_H
#define WD_BUNDLE_ONNX_H

#include "bundle/draft.h"

/* Whether the whole file is fields of a ModelProto, with a version and one
 * graph that begins as a graph does, up to its very end. Reads a few KiB.
 * `*is` is false when it cannot be read to the end. Errors: WD_NOMEM, those of
 * read. */
enum wd_status wd_onnx_looks_like(const struct wd_source *source, bool *is,
    struct wd_error *err) WD_MUST_CHECK;

/* The given file and the files of external data beside it. Errors:
 * WD_MALFORMED, WD_TRUNCATED, WD_LIMIT, WD_NOMEM, those of read. What is
 * wrong with the other files becomes notes. */
enum wd_status wd_onnx_describe(
    struct wd_draft *build, struct wd_error *err) WD_MUST_CHECK;

#endif
