#include "support/bundle_make.h"

#include <string.h>

static const struct make_encoding encodings[] = {
	{ "F32", 0, 1, 4 },
	{ "F16", 1, 1, 2 },
	{ "Q4_0", 2, 32, 18 },
	{ "Q4_1", 3, 32, 20 },
	{ "Q5_0", 6, 32, 22 },
	{ "Q5_1", 7, 32, 24 },
	{ "Q8_0", 8, 32, 34 },
	{ "Q2_K", 10, 256, 84 },
	{ "Q3_K", 11, 256, 110 },
	{ "Q4_K", 12, 256, 144 },
	{ "Q5_K", 13, 256, 176 },
	{ "Q6_K", 14, 256, 210 },
	{ "IQ2_XXS", 16, 256, 66 },
	{ "IQ4_NL", 20, 32, 18 },
	{ "IQ4_XS", 23, 256, 136 },
	{ "I8", 24, 1, 1 },
	{ "I32", 26, 1, 4 },
	{ "F64", 28, 1, 8 },
	{ "BF16", 30, 1, 2 },
	{ "TQ1_0", 34, 256, 54 },
	{ "TQ2_0", 35, 256, 66 },
	{ "MXFP4", 39, 32, 17 },
	{ "NVFP4", 40, 64, 36 },
};

const struct make_encoding *
make_encoding(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++)
		if (strcmp(encodings[i].name, name) == 0)
			return &encodings[i];
	return NULL;
}

/* splitmix64: one 8-byte word per step, little-endian, nothing kept over. */
void
make_random(uint64_t *state, uint8_t *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		uint64_t z;

		if (i % 8 == 0)
			*state += UINT64_C(0x9e3779b97f4a7c15);
		z = *state;
		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		bytes[i] = (uint8_t)((z ^ z >> 31) >> (8 * (i % 8)));
	}
}

static void
put(struct wd_buf *out, uint64_t value, unsigned size, bool big_endian)
{
	unsigned i;

	for (i = 0; i < size; i++) {
		unsigned shift = 8 * (big_endian ? size - 1 - i : i);

		(void)wd_buf_byte(out, (uint8_t)(value >> shift));
	}
}

static void
put_random(struct wd_buf *out, uint64_t seed, uint64_t len)
{
	uint8_t *space;

	if (wd_buf_reserve(out, (size_t)len, &space) != WD_OK)
		return;
	make_random(&seed, space, (size_t)len);
	wd_buf_advance(out, (size_t)len);
}

static uint64_t
padded(uint64_t size, uint64_t alignment)
{
	return (size + alignment - 1) / alignment * alignment;
}

/* GGUF: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */

void
make_gguf_init(struct make_gguf *gguf)
{
	*gguf = (struct make_gguf){ .version = 3, .alignment = 32 };
	wd_buf_init(&gguf->keys, MAKE_MAX_BYTES);
	wd_buf_init(&gguf->infos, MAKE_MAX_BYTES);
}

void
make_gguf_release(struct make_gguf *gguf)
{
	wd_buf_release(&gguf->keys);
	wd_buf_release(&gguf->infos);
}

void
make_gguf_put_u32(
    const struct make_gguf *gguf, struct wd_buf *out, uint32_t value)
{
	put(out, value, 4, gguf->big_endian);
}

void
make_gguf_put_u64(
    const struct make_gguf *gguf, struct wd_buf *out, uint64_t value)
{
	put(out, value, 8, gguf->big_endian);
}

static void
put_string(
    const struct make_gguf *gguf, struct wd_buf *out, struct wd_slice text)
{
	make_gguf_put_u64(gguf, out, text.len);
	(void)wd_buf_append(out, text.data, text.len);
}

void
make_gguf_key(struct make_gguf *gguf, const char *key, uint32_t type)
{
	put_string(gguf, &gguf->keys, wd_slice_text(key));
	make_gguf_put_u32(gguf, &gguf->keys, type);
	gguf->key_count++;
}

void
make_gguf_bytes(struct make_gguf *gguf, const char *key, struct wd_slice value)
{
	make_gguf_key(gguf, key, MAKE_STRING);
	put_string(gguf, &gguf->keys, value);
}

void
make_gguf_string(struct make_gguf *gguf, const char *key, const char *value)
{
	make_gguf_bytes(gguf, key, wd_slice_text(value));
}

static unsigned
number_size(enum make_gguf_type type)
{
	static const uint8_t sizes[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8,
		8 };

	return sizes[type];
}

void
make_gguf_number(struct make_gguf *gguf, const char *key,
    enum make_gguf_type type, uint64_t bits)
{
	make_gguf_key(gguf, key, (uint32_t)type);
	put(&gguf->keys, bits, number_size(type), gguf->big_endian);
}

void
make_gguf_u32(struct make_gguf *gguf, const char *key, uint32_t value)
{
	make_gguf_number(gguf, key, MAKE_U32, value);
}

void
make_gguf_f32(struct make_gguf *gguf, const char *key, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	make_gguf_number(gguf, key, MAKE_F32, bits);
}

void
make_gguf_f64(struct make_gguf *gguf, const char *key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	make_gguf_number(gguf, key, MAKE_F64, bits);
}

void
make_gguf_bool(struct make_gguf *gguf, const char *key, bool value)
{
	make_gguf_number(gguf, key, MAKE_BOOL, value ? 1 : 0);
}

void
make_gguf_strings(
    struct make_gguf *gguf, const char *key, const char *prefix, uint64_t count)
{
	struct wd_buf text;
	uint64_t i;

	wd_buf_init(&text, MAKE_MAX_BYTES);
	make_gguf_key(gguf, key, MAKE_ARRAY);
	make_gguf_put_u32(gguf, &gguf->keys, MAKE_STRING);
	make_gguf_put_u64(gguf, &gguf->keys, count);
	for (i = 0; i < count; i++) {
		wd_buf_reset(&text);
		(void)wd_buf_printf(
		    &text, "%s%llu", prefix, (unsigned long long)i);
		put_string(gguf, &gguf->keys, wd_buf_slice(&text));
	}
	wd_buf_release(&text);
}

void
make_gguf_numbers(struct make_gguf *gguf, const char *key,
    enum make_gguf_type type, const uint64_t *bits, uint64_t count)
{
	uint64_t i;

	make_gguf_key(gguf, key, MAKE_ARRAY);
	make_gguf_put_u32(gguf, &gguf->keys, (uint32_t)type);
	make_gguf_put_u64(gguf, &gguf->keys, count);
	for (i = 0; i < count; i++)
		put(&gguf->keys, bits[i], number_size(type), gguf->big_endian);
}

void
make_gguf_raw_tensor(struct make_gguf *gguf, struct wd_slice name,
    uint32_t dim_count, const uint64_t *dims, uint32_t dims_written,
    uint32_t type, uint64_t offset)
{
	uint32_t i;

	put_string(gguf, &gguf->infos, name);
	make_gguf_put_u32(gguf, &gguf->infos, dim_count);
	for (i = 0; i < dims_written; i++)
		make_gguf_put_u64(gguf, &gguf->infos, dims[i]);
	make_gguf_put_u32(gguf, &gguf->infos, type);
	make_gguf_put_u64(gguf, &gguf->infos, offset);
	gguf->tensor_count++;
}

bool
make_gguf_tensor(struct make_gguf *gguf, const char *name, const char *encoding,
    const uint64_t *dims, uint32_t dim_count)
{
	const struct make_encoding *how = make_encoding(encoding);
	uint64_t elements = 1;
	uint32_t i;

	if (how == NULL)
		return false;
	for (i = 0; i < dim_count; i++)
		elements *= dims[i];
	make_gguf_raw_tensor(gguf, wd_slice_text(name), dim_count, dims,
	    dim_count, how->id, gguf->data_size);
	gguf->data_size +=
	    padded(elements / how->block * how->bytes, gguf->alignment);
	return true;
}

enum wd_status
make_gguf_header(const struct make_gguf *gguf, struct wd_buf *out)
{
	if (gguf->keys.status != WD_OK)
		return gguf->keys.status;
	if (gguf->infos.status != WD_OK)
		return gguf->infos.status;
	(void)wd_buf_text(out, "GGUF");
	make_gguf_put_u32(gguf, out, gguf->version);
	make_gguf_put_u64(gguf, out, gguf->tensor_count);
	make_gguf_put_u64(gguf, out, gguf->key_count);
	(void)wd_buf_append(out, gguf->keys.data, gguf->keys.len);
	(void)wd_buf_append(out, gguf->infos.data, gguf->infos.len);
	while (out->status == WD_OK && out->len % gguf->alignment != 0)
		(void)wd_buf_byte(out, 0);
	return out->status;
}

enum wd_status
make_gguf_file(const struct make_gguf *gguf, uint64_t seed, struct wd_buf *out)
{
	if (make_gguf_header(gguf, out) == WD_OK)
		put_random(out, seed, gguf->data_size);
	return out->status;
}

/* safetensors: https://github.com/huggingface/safetensors#format */

void
make_safetensors_init(struct make_safetensors *st)
{
	*st = (struct make_safetensors){ .data_size = 0 };
	wd_buf_init(&st->entries, MAKE_MAX_BYTES);
}

void
make_safetensors_release(struct make_safetensors *st)
{
	wd_buf_release(&st->entries);
}

void
make_safetensors_raw(struct make_safetensors *st, const char *member)
{
	if (st->entries.len > 0)
		(void)wd_buf_byte(&st->entries, ',');
	(void)wd_buf_text(&st->entries, member);
}

void
make_safetensors_tensor(struct make_safetensors *st, const char *name,
    const char *dtype, const char *shape, uint64_t size_bytes)
{
	unsigned long long start = st->data_size;

	if (st->entries.len > 0)
		(void)wd_buf_byte(&st->entries, ',');
	st->data_size += size_bytes;
	(void)wd_buf_printf(&st->entries,
	    "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,"
	    "\"data_offsets\":[%llu,%llu]}",
	    name, dtype, shape, start, (unsigned long long)st->data_size);
}

enum wd_status
make_safetensors_header(const struct make_safetensors *st, struct wd_buf *out)
{
	uint64_t len = st->entries.len + 2, whole = padded(len, 8);

	if (st->entries.status != WD_OK)
		return st->entries.status;
	put(out, whole, 8, false);
	(void)wd_buf_byte(out, '{');
	(void)wd_buf_append(out, st->entries.data, st->entries.len);
	(void)wd_buf_byte(out, '}');
	for (; len < whole; len++)
		(void)wd_buf_byte(out, ' ');
	return out->status;
}

enum wd_status
make_safetensors_file(
    const struct make_safetensors *st, uint64_t seed, struct wd_buf *out)
{
	if (make_safetensors_header(st, out) == WD_OK)
		put_random(out, seed, st->data_size);
	return out->status;
}

enum wd_status
make_safetensors_text(const char *header, size_t data, struct wd_buf *out)
{
	put(out, strlen(header), 8, false);
	(void)wd_buf_text(out, header);
	while (data-- > 0)
		(void)wd_buf_byte(out, 0);
	return out->status;
}
