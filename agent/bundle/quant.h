/*
 * quant.h - what a quantised bundle's configuration says, and how its packed
 * tensors are unpacked by arithmetic: private to the quant_*.c and mlx.c.
 *
 * A weight is unpacked only when the configuration names its scheme and the
 * shapes of the words and of all tensors beside them agree with what it says.
 * Where the configuration has several rules (bits and group sizes), and only
 * one of them fits the shapes, that one it is: names and patterns of modules,
 * which engines match in ways of their own, are then not needed. In every
 * other case the count is not known. Nothing here guesses.
 *
 * The layouts are in agent/bundle/README.md, "Packed tensors".
 */
#ifndef WD_BUNDLE_QUANT_H
#define WD_BUNDLE_QUANT_H

#include "bundle/draft.h"
#include "bundle/safetensors.h"

enum wd_quant_method {
	WD_QUANT_OTHER, /* named, but not one of the following */
	WD_QUANT_MLX,
	WD_QUANT_GPTQ, /* AutoGPTQ, GPTQModel, AutoRound in that packing */
	WD_QUANT_AWQ,
	WD_QUANT_COMPRESSED, /* compressed-tensors, of llm-compressor */
	WD_QUANT_FP8,
	WD_QUANT_BITSANDBYTES,
	WD_QUANT_MXFP4,
	WD_QUANT_MODELOPT,
	WD_QUANT_BITNET,
};

struct wd_quant_rule {
	enum wd_quant_method method;
	uint64_t bits; /* of one parameter, 1 to 16 */
	int64_t group; /* parameters of one scale; -1: a whole row; 0: not
			* said */
	bool floating; /* the parameters are floating-point */
};

struct wd_quant {
	struct wd_quant_rule rules[WD_MAX_QUANT_RULES];
	size_t rule_count;
	unsigned methods;  /* bits, 1 << enum wd_quant_method */
	const json_t *mlx; /* MLX's object, with its overrides; or NULL */
	uint64_t block[2]; /* FP8: rows and columns of one scale; or 0 */
	char other[96];    /* the scheme that is not known, to show */
};

/* quant_config.c: all that the configurations say. The trees must outlive
 * `quant`. */
void wd_quant_read(struct wd_quant *quant, const struct wd_hub_trees *trees);

/* One packed weight. */
struct wd_packed {
	const struct wd_bundle *bundle; /* its tensors are in order */
	const struct wd_quant *quant;
	struct wd_slice stem;          /* the name without its ending */
	const struct wd_tensor *words; /* what is packed */
	const struct wd_tensor *scales;
};

#define WD_LABEL_BYTES 64

/* What was found out about it. */
struct wd_unpacked {
	uint64_t parameters;
	char label[WD_LABEL_BYTES]; /* "mlx-affine-4bit-g64" */
};

/* Each returns NULL and fills `out`, or says why the weight cannot be
 * unpacked; static text. */
typedef const char *wd_unpack(
    const struct wd_packed *packed, struct wd_unpacked *out);
wd_unpack wd_unpack_mlx;        /* mlx.c */
wd_unpack wd_unpack_qweight;    /* quant_words.c: GPTQ and AWQ */
wd_unpack wd_unpack_compressed; /* quant_words.c */
wd_unpack wd_unpack_blocks;     /* quant_float.c: MXFP4 of gpt-oss */
wd_unpack wd_unpack_nibbles;    /* quant_float.c: bitsandbytes, 4 bits */
wd_unpack wd_unpack_bytes;      /* quant_float.c: bitsandbytes, 8 bits */
wd_unpack wd_unpack_scaled;     /* quant_float.c: a weight and NAME_scale */

/* The tensor called `stem` and `ending`, or NULL. */
const struct wd_tensor *wd_packed_find(
    const struct wd_bundle *bundle, struct wd_slice stem, const char *ending);
const struct wd_tensor *wd_packed_part(
    const struct wd_packed *packed, const char *ending);

/* The last dimension, 1 of a scalar; and the product of all others. */
uint64_t wd_tensor_columns(const struct wd_tensor *tensor);
uint64_t wd_tensor_rows(const struct wd_tensor *tensor);

/* Bits of one stored element; 0 when its encoding has no plain size. */
uint64_t wd_tensor_bits(const struct wd_tensor *tensor);

bool wd_tensor_is(const struct wd_tensor *tensor, const char *encoding);

/* Whether `count` scales of `group` parameters make up a row of `length`; the
 * last group may be a part of one. */
bool wd_groups_fit(int64_t group, uint64_t count, uint64_t length);

/* "-g128", "-channel" for -1, "" for 0; returns `out`. */
#define WD_GROUP_BYTES 32
const char *wd_group_name(int64_t group, char out[WD_GROUP_BYTES]);

#endif
