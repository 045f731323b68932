/*
 * encoding.h - how the formats store the elements of a tensor.
 *
 * An encoding stores `block` elements in `bits` bits; plain types have a block
 * of one. Names are those of the format, in capitals as its tools print them.
 */
#ifndef WD_BUNDLE_ENCODING_H
#define WD_BUNDLE_ENCODING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

struct wd_encoding {
	const char *name;
	uint32_t block; /* elements; 0: the size is not known */
	uint32_t bits;  /* of one block */
};

/* By the number of ggml's enum ggml_type; NULL when it is not known. Ids that
 * ggml has given up (4, 5, 31 to 33, 36 to 38) keep their names; 4 and 5 never
 * stood in a GGUF file and have no size. */
const struct wd_encoding *wd_gguf_type(uint32_t id);

/* By the dtype of a safetensors header; NULL when it is not known. */
const struct wd_encoding *wd_safetensors_dtype(struct wd_slice name);

/* Bytes of `elements` in this encoding. False when they are no whole number
 * of blocks or bytes, or the product overflows. */
bool wd_encoding_size(const struct wd_encoding *encoding, uint64_t elements,
    uint64_t *size_bytes) WD_MUST_CHECK;

/* What general.file_type (llama.cpp's enum llama_ftype, which is not
 * ggml_type) calls itself, and the encoding in which most bytes then are.
 * NULL when it is not known or names no single encoding. */
const char *wd_gguf_file_type(uint64_t file_type, const char **encoding);

#endif
