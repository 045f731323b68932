/*
 * bundle_make.h - writes small GGUF and safetensors files into buffers, for
 * tests and for the program wd-mkbundle.
 *
 * Written from the format's specifications, apart from agent/bundle: the
 * tables of block sizes here and there are held against each other by tests.
 * What is wrong on purpose (a cut file, an offset beside the alignment) can be
 * written too. Tensor data is a stream of pseudo-random bytes that depends on
 * the seed only. Failures stay in the buffers; the finish functions return
 * them.
 */
#ifndef WD_TESTS_SUPPORT_BUNDLE_MAKE_H
#define WD_TESTS_SUPPORT_BUNDLE_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define MAKE_MAX_BYTES (1UL << 30)

/* Value types of GGUF metadata, as the specification numbers them. */
enum make_gguf_type {
	MAKE_U8,
	MAKE_I8,
	MAKE_U16,
	MAKE_I16,
	MAKE_U32,
	MAKE_I32,
	MAKE_F32,
	MAKE_BOOL,
	MAKE_STRING,
	MAKE_ARRAY,
	MAKE_U64,
	MAKE_I64,
	MAKE_F64,
};

/* How a tensor type is stored: `block` elements in `bytes` bytes. */
struct make_encoding {
	const char *name;
	uint32_t id;
	uint32_t block;
	uint32_t bytes;
};

/* By its ggml name ("Q4_K"); NULL when it is not in the table. */
const struct make_encoding *make_encoding(const char *name);

/* A GGUF file in the making: keys first, then tensors, in any order. */
struct make_gguf {
	struct wd_buf keys;
	struct wd_buf infos;
	uint32_t version; /* 3 */
	bool big_endian;
	uint64_t alignment; /* 32; make_gguf_u32("general.alignment") apart */
	uint64_t key_count;
	uint64_t tensor_count;
	uint64_t data_size; /* of the tensors so far, padded */
};

void make_gguf_init(struct make_gguf *gguf);
void make_gguf_release(struct make_gguf *gguf);

/* One key each. */
void make_gguf_string(
    struct make_gguf *gguf, const char *key, const char *value);
void make_gguf_bytes(
    struct make_gguf *gguf, const char *key, struct wd_slice value);
void make_gguf_number(struct make_gguf *gguf, const char *key,
    enum make_gguf_type type, uint64_t bits);
void make_gguf_u32(struct make_gguf *gguf, const char *key, uint32_t value);
void make_gguf_f32(struct make_gguf *gguf, const char *key, float value);
void make_gguf_f64(struct make_gguf *gguf, const char *key, double value);
void make_gguf_bool(struct make_gguf *gguf, const char *key, bool value);

/* An array of `count` strings PREFIX0, PREFIX1, ... */
void make_gguf_strings(struct make_gguf *gguf, const char *key,
    const char *prefix, uint64_t count);

/* An array of numbers; `bits` holds one per item. */
void make_gguf_numbers(struct make_gguf *gguf, const char *key,
    enum make_gguf_type type, const uint64_t *bits, uint64_t count);

/* The beginning of any key: its name and the number of its value type; what
 * follows is appended to gguf->keys by the caller. */
void make_gguf_key(struct make_gguf *gguf, const char *key, uint32_t type);
void make_gguf_put_u32(
    const struct make_gguf *gguf, struct wd_buf *out, uint32_t value);
void make_gguf_put_u64(
    const struct make_gguf *gguf, struct wd_buf *out, uint64_t value);

/* A tensor behind those before it. False when the encoding is not in the
 * table. */
bool make_gguf_tensor(struct make_gguf *gguf, const char *name,
    const char *encoding, const uint64_t *dims, uint32_t dim_count);

/* A tensor exactly as said, right or wrong; data_size stays. */
void make_gguf_raw_tensor(struct make_gguf *gguf, struct wd_slice name,
    uint32_t dim_count, const uint64_t *dims, uint32_t dims_written,
    uint32_t type, uint64_t offset);

/* Everything before the tensor data, padded to the alignment. */
enum wd_status make_gguf_header(
    const struct make_gguf *gguf, struct wd_buf *out);

/* The whole file: the header and data_size bytes of data. */
enum wd_status make_gguf_file(
    const struct make_gguf *gguf, uint64_t seed, struct wd_buf *out);

/* A safetensors file in the making. */
struct make_safetensors {
	struct wd_buf entries; /* JSON members, without the braces */
	uint64_t data_size;
};

void make_safetensors_init(struct make_safetensors *st);
void make_safetensors_release(struct make_safetensors *st);

/* A tensor behind those before it; `bits` is the size of one element, and
 * `shape` JSON text: "[4,8]". */
void make_safetensors_tensor(struct make_safetensors *st, const char *name,
    const char *dtype, const char *shape, uint64_t size_bytes);

/* Any member, as JSON text: "\"__metadata__\":{}". */
void make_safetensors_raw(struct make_safetensors *st, const char *member);

/* Length, header padded with spaces to 8 bytes. */
enum wd_status make_safetensors_header(
    const struct make_safetensors *st, struct wd_buf *out);
enum wd_status make_safetensors_file(
    const struct make_safetensors *st, uint64_t seed, struct wd_buf *out);

/* The length field and `header` as it stands, then `data` zero bytes. */
enum wd_status make_safetensors_text(
    const char *header, size_t data, struct wd_buf *out);

/* The next `len` pseudo-random bytes of the stream `*state`. */
void make_random(uint64_t *state, uint8_t *bytes, size_t len);

#endif
