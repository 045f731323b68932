/*
 * onnx_make.h - writes protobuf fields, and with them small ONNX models, into
 * buffers. Written from the encoding's specification and onnx.proto, apart
 * from agent/bundle. Failures stay in the buffers.
 */
#ifndef WD_TESTS_SUPPORT_ONNX_MAKE_H
#define WD_TESTS_SUPPORT_ONNX_MAKE_H

#include <stdint.h>

#include "base/buf.h"

/* One field each. */
void make_pb_number(struct wd_buf *out, uint32_t field, uint64_t value);
void make_pb_bytes(struct wd_buf *out, uint32_t field, struct wd_slice bytes);
void make_pb_text(struct wd_buf *out, uint32_t field, const char *text);
void make_pb_varint(struct wd_buf *out, uint64_t value);

/* A field whose value is `inner`, which is released. */
void make_pb_message(struct wd_buf *out, uint32_t field, struct wd_buf *inner);

/* A TensorProto: name, type, dimensions, and `raw` bytes of data. */
void make_onnx_tensor(struct wd_buf *out, const char *name, uint64_t type,
    const uint64_t *dims, unsigned dim_count, uint64_t raw);

/* As before, with its data in another file; NULL leaves an entry out. */
void make_onnx_external(struct wd_buf *out, const char *name, uint64_t type,
    const uint64_t *dims, unsigned dim_count, const char *location,
    const char *offset, const char *length);

/* A NodeProto: its operator and inputs (up to NULL); attributes are appended
 * by the caller. */
void make_onnx_node(
    struct wd_buf *out, const char *op, const char *const *inputs);
void make_onnx_int(struct wd_buf *node, const char *name, uint64_t value);

/* The whole model around a GraphProto, which is released. */
void make_onnx_model(struct wd_buf *out, struct wd_buf *graph);

#endif
