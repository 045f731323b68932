/*
 * packed_make.h - the tensors of quantised weights, as the schemes' own tools
 * write them, for tests and for wd-mkbundle. Written apart from agent/bundle:
 * the arithmetic here goes from parameters to words, there from words to
 * parameters.
 */
#ifndef WD_TESTS_SUPPORT_PACKED_MAKE_H
#define WD_TESTS_SUPPORT_PACKED_MAKE_H

#include "support/bundle_make.h"

/* A scheme of which one row has MAKE_PACKED_COLUMNS parameters. */
#define MAKE_PACKED_COLUMNS 256

struct make_part {
	const char *ending; /* of the tensor's name, behind the stem */
	const char *dtype;
	unsigned bits;     /* of one element */
	const char *shape; /* dimensions; R: rows, E: rows / 8, B: rows / 128
			    * rounded up, H: half of all parameters, A: all
			    * parameters / 64 */
};

struct make_scheme {
	const char *name;
	const char *config; /* a member of config.json */
	struct make_part parts[6];
};

/* By its name ("mlx-4", "gptq-4", "fp8"); NULL when it is not in the table. */
const struct make_scheme *make_scheme(const char *name);

/* Adds part number `at` of the weight `stem` with that many rows, a multiple
 * of 8. `name` gets the tensor's name. False behind the last part. */
bool make_packed_part(struct make_safetensors *st,
    const struct make_scheme *scheme, size_t at, const char *stem,
    uint64_t rows, char *name, size_t size);

#endif
