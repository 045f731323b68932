#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/gguf.h"

/* Value types, as the specification numbers them. */
enum value_type {
	VALUE_U8,
	VALUE_I8,
	VALUE_U16,
	VALUE_I16,
	VALUE_U32,
	VALUE_I32,
	VALUE_F32,
	VALUE_BOOL,
	VALUE_STRING,
	VALUE_ARRAY,
	VALUE_U64,
	VALUE_I64,
	VALUE_F64,
	VALUE_TYPES,
};

static const uint8_t value_sizes[VALUE_TYPES] = {
	[VALUE_U8] = 1,
	[VALUE_I8] = 1,
	[VALUE_U16] = 2,
	[VALUE_I16] = 2,
	[VALUE_U32] = 4,
	[VALUE_I32] = 4,
	[VALUE_F32] = 4,
	[VALUE_BOOL] = 1,
	[VALUE_U64] = 8,
	[VALUE_I64] = 8,
	[VALUE_F64] = 8,
};

#define STAGE_BYTES 4096

/* Where a value goes: into the canonical text of a setting, or, for the
 * tokenizer, as the bytes of a little-endian file of version 3 into a digest.
 * A tokenizer has a million small items; `stage` spares the hasher them. */
struct sink {
	struct wd_canon *canon;   /* NULL: nothing is kept as text */
	struct wd_hasher *hasher; /* NULL: nothing is hashed */
	uint8_t stage[STAGE_BYTES];
	size_t staged;
};

static void
flush(struct sink *sink)
{
	wd_hasher_add(sink->hasher, sink->stage, sink->staged);
	sink->staged = 0;
}

static void
hash_bytes(struct sink *sink, const uint8_t *bytes, size_t len)
{
	if (len > STAGE_BYTES - sink->staged)
		flush(sink);
	if (len > STAGE_BYTES) {
		wd_hasher_add(sink->hasher, bytes, len);
		return;
	}
	memcpy(sink->stage + sink->staged, bytes, len);
	sink->staged += len;
}

static void
hash_bits(struct sink *sink, uint64_t bits, unsigned size)
{
	uint8_t bytes[8];
	unsigned i;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)(bits >> (8 * i));
	hash_bytes(sink, bytes, size);
}

static int64_t
sign_extend(uint64_t bits, unsigned size)
{
	unsigned shift = 64 - 8 * size;

	return (int64_t)(bits << shift) >> shift;
}

static double
float_of(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float value;

	memcpy(&value, &low, sizeof(value));
	/* Its exact value; the text is the shortest of that double. */
	return (double)value;
}

static double
double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void
text_scalar(struct wd_canon *canon, enum value_type type, uint64_t bits)
{
	switch (type) {
	case VALUE_F32:
		wd_canon_double(canon, float_of(bits));
		return;
	case VALUE_F64:
		wd_canon_double(canon, double_of(bits));
		return;
	case VALUE_BOOL:
		wd_canon_bytes(
		    canon, bits != 0 ? "true" : "false", bits != 0 ? 4 : 5);
		return;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		wd_canon_signed(canon, sign_extend(bits, value_sizes[type]));
		return;
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		wd_canon_unsigned(canon, bits);
		return;
	case VALUE_STRING:
	case VALUE_ARRAY:
	case VALUE_TYPES:
		return;
	}
}

static void
put_scalar(struct sink *sink, enum value_type type, uint64_t bits)
{
	if (sink->canon != NULL)
		text_scalar(sink->canon, type, bits);
	if (sink->hasher != NULL)
		hash_bits(sink, bits, value_sizes[type]);
}

static enum wd_status
read_string(struct wd_window *window, struct sink *sink, bool quoted)
{
	uint64_t len = wd_window_u64(window);

	if (!wd_window_promised(window, len))
		return window->status;
	if (sink->hasher != NULL)
		hash_bits(sink, len, 8);
	if (sink->canon != NULL && quoted)
		wd_canon_bytes(sink->canon, "\"", 1);
	while (len > 0) {
		struct wd_slice part = wd_window_part(window, len);

		if (window->status != WD_OK)
			return window->status;
		if (sink->hasher != NULL)
			hash_bytes(sink, part.data, part.len);
		if (sink->canon != NULL && quoted)
			wd_canon_quoted(sink->canon, part.data, part.len);
		else if (sink->canon != NULL)
			wd_canon_bytes(sink->canon, part.data, part.len);
		len -= part.len;
	}
	if (sink->canon != NULL && quoted)
		wd_canon_bytes(sink->canon, "\"", 1);
	return WD_OK;
}

static enum wd_status
read_array_start(
    struct wd_window *window, enum value_type *type, uint64_t *count)
{
	uint64_t at = wd_window_at(window);
	uint32_t number = wd_window_u32(window);
	uint64_t least;

	*count = wd_window_u64(window);
	if (window->status != WD_OK)
		return window->status;
	if (number == VALUE_ARRAY)
		return wd_window_fail(window, WD_MALFORMED, at,
		    "an array of arrays, which no engine reads");
	if (number >= VALUE_TYPES)
		return wd_window_fail(window, WD_MALFORMED, at,
		    "an array of values of an unknown type");
	*type = (enum value_type)number;
	least = *type == VALUE_STRING ? 8 : value_sizes[*type];
	if (*count > INT64_MAX / 8)
		return wd_window_fail(window, WD_MALFORMED, at + 4,
		    "an array has more items than any file could hold");
	if (!wd_window_promised(window, *count * least))
		return window->status;
	if (*count > WD_MAX_GGUF_ARRAY)
		return wd_window_fail(window, WD_LIMIT, at + 4,
		    "an array has more items than any known model's");
	return WD_OK;
}

static enum wd_status
read_array(struct wd_window *window, struct sink *sink)
{
	enum value_type type = VALUE_U8;
	uint64_t count = 0, i;
	enum wd_status st = read_array_start(window, &type, &count);

	if (st != WD_OK)
		return st;
	if (sink->hasher != NULL) {
		hash_bits(sink, (uint64_t)type, 4);
		hash_bits(sink, count, 8);
	}
	if (sink->canon != NULL)
		wd_canon_bytes(sink->canon, "[", 1);
	for (i = 0; i < count && st == WD_OK; i++) {
		if (sink->canon != NULL && i > 0)
			wd_canon_bytes(sink->canon, ",", 1);
		if (type == VALUE_STRING) {
			st = read_string(window, sink, true);
			continue;
		}
		put_scalar(
		    sink, type, wd_window_bits(window, value_sizes[type]));
		st = window->status;
	}
	if (sink->canon != NULL)
		wd_canon_bytes(sink->canon, "]", 1);
	return st;
}

/* `*bits` is the value of a scalar. */
static enum wd_status
read_value(struct wd_window *window, enum value_type type, struct sink *sink,
    uint64_t *bits)
{
	if (sink->hasher != NULL)
		hash_bits(sink, (uint64_t)type, 4);
	if (type == VALUE_STRING)
		return read_string(window, sink, false);
	if (type == VALUE_ARRAY)
		return read_array(window, sink);
	*bits = wd_window_bits(window, value_sizes[type]);
	if (window->status == WD_OK)
		put_scalar(sink, type, *bits);
	return window->status;
}

/* A key that was seen, to find those that stand twice. */
struct seen {
	struct wd_slice key;
	uint64_t offset;
};

struct key {
	struct wd_slice name;
	enum value_type type;
	uint64_t offset;       /* of the key */
	uint64_t value_offset; /* of the value */
};

/* Everything one run over the keys needs. */
struct run {
	struct wd_draft *build;
	struct wd_window *window;
	struct wd_gguf_facts *facts;
	struct wd_hasher *hasher;
	bool with_keys;
	struct sink sink;
	struct wd_buf text; /* the key's bytes */
	struct wd_error *err;
};

static enum wd_status
read_key(struct run *run, struct key *key)
{
	struct wd_window *window = run->window;
	uint64_t len;
	uint32_t type;

	key->offset = wd_window_at(window);
	len = wd_window_u64(window);
	if (window->status == WD_OK && len > WD_MAX_GGUF_KEY)
		return wd_window_fail(window, WD_MALFORMED, key->offset,
		    "a key is longer than 65535 bytes");
	if (!wd_window_promised(window, len))
		return window->status;
	wd_buf_reset(&run->text);
	while (run->text.len < len) {
		struct wd_slice part =
		    wd_window_part(window, len - run->text.len);

		if (window->status != WD_OK)
			return window->status;
		if (wd_buf_append(&run->text, part.data, part.len) != WD_OK)
			return wd_fail(
			    run->err, run->text.status, "no memory for a key");
	}
	key->name = wd_buf_slice(&run->text);
	if (len > 0 && memchr(key->name.data, '\0', key->name.len) != NULL)
		return wd_window_fail(window, WD_MALFORMED, key->offset,
		    "a key has a NUL byte in it");
	type = wd_window_u32(window);
	if (window->status == WD_OK && type >= VALUE_TYPES)
		return wd_window_fail(window, WD_MALFORMED,
		    wd_window_at(window) - 4,
		    "a key's value has an unknown type");
	key->type = (enum value_type)type;
	key->value_offset = wd_window_at(window);
	return window->status;
}

static bool
is_integer(enum value_type type)
{
	return type != VALUE_F32 && type != VALUE_F64 && type != VALUE_BOOL &&
	    type != VALUE_STRING && type != VALUE_ARRAY;
}

static enum wd_status
note_alignment(struct run *run, const struct key *key, uint64_t bits)
{
	if (key->type != VALUE_U32 || bits == 0 || (bits & (bits - 1)) != 0)
		return wd_window_fail(run->window, WD_MALFORMED,
		    key->value_offset,
		    "general.alignment is no 32-bit power of two");
	run->facts->alignment = bits;
	return WD_OK;
}

/* The keys that tell how to read the file. */
static enum wd_status
note_fact(struct run *run, const struct key *key, uint64_t bits)
{
	struct wd_gguf_facts *facts = run->facts;

	if (wd_slice_equal(key->name, wd_slice_text("general.alignment")))
		return note_alignment(run, key, bits);
	if (!is_integer(key->type))
		return WD_OK;
	if (wd_slice_equal(key->name, wd_slice_text("split.no"))) {
		facts->split_no = bits;
	} else if (wd_slice_equal(key->name, wd_slice_text("split.count"))) {
		facts->split_count = bits;
		facts->has_split = true;
	} else if (wd_slice_equal(
		       key->name, wd_slice_text("split.tensors.count"))) {
		facts->split_tensors = bits;
	} else if (wd_slice_equal(
		       key->name, wd_slice_text("general.file_type"))) {
		facts->file_type = bits;
		facts->has_file_type = true;
	}
	return WD_OK;
}

static char **
named_place(struct wd_bundle *bundle, struct wd_slice key)
{
	if (wd_slice_equal(key, wd_slice_text("general.name")))
		return &bundle->inner_name;
	if (wd_slice_equal(key, wd_slice_text("general.architecture")))
		return &bundle->architecture;
	return NULL;
}

static enum wd_status
keep_setting(struct run *run, const struct key *key)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf name;
	char **place = named_place(run->build->bundle, key->name);
	enum wd_status st;
	char *value;

	wd_buf_init(&name, key->name.len + sizeof("bundle."));
	(void)wd_buf_text(&name, "bundle.");
	(void)wd_buf_append(&name, key->name.data, key->name.len);
	if (name.status != WD_OK)
		return wd_fail(run->err, name.status, "no memory for a key");
	st =
	    wd_draft_setting(run->build, wd_buf_slice(&name), &value, run->err);
	if (st == WD_OK && place != NULL && key->type == VALUE_STRING)
		*place = value;
	return st;
}

static enum wd_status
keep_part(struct run *run, const struct key *key)
{
	struct wd_sha256 digest;
	enum wd_status st;

	flush(&run->sink);
	st = wd_hasher_finish(run->hasher, &digest, run->err);
	if (st != WD_OK)
		return st;
	return wd_draft_part(run->build, key->name, &digest, run->err);
}

static bool
is_tokenizer(struct wd_slice key)
{
	return wd_slice_starts(key, "tokenizer.");
}

/* split.* say how the file was cut, not what the model is. */
static bool
is_setting(struct wd_slice key)
{
	return !is_tokenizer(key) && !wd_slice_starts(key, "split.");
}

static enum wd_status
read_pair(struct run *run, struct key *key)
{
	enum wd_status st = read_key(run, key);
	uint64_t bits = 0;

	if (st != WD_OK)
		return st;
	run->sink.canon = NULL;
	run->sink.hasher = NULL;
	if (run->with_keys && is_setting(key->name)) {
		run->sink.canon = &run->build->canon;
		wd_canon_reset(run->sink.canon);
	} else if (run->with_keys && is_tokenizer(key->name)) {
		run->sink.hasher = run->hasher;
	}
	st = read_value(run->window, key->type, &run->sink, &bits);
	if (st == WD_OK)
		st = note_fact(run, key, bits);
	if (st == WD_OK && run->sink.canon != NULL)
		st = keep_setting(run, key);
	if (st == WD_OK && run->sink.hasher != NULL)
		st = keep_part(run, key);
	return st;
}

static int
compare_seen(const void *a, const void *b)
{
	const struct seen *left = a, *right = b;
	int order = wd_slice_compare(left->key, right->key);

	if (order != 0)
		return order;
	return left->offset < right->offset ? -1 : 1;
}

static enum wd_status
check_twins(struct run *run, struct seen *seen, size_t count)
{
	char shown[128];
	size_t i;

	if (count == 0)
		return WD_OK;
	qsort(seen, count, sizeof(*seen), compare_seen);
	for (i = 1; i < count; i++)
		if (wd_slice_equal(seen[i].key, seen[i - 1].key))
			return wd_fail_at(run->err, WD_MALFORMED,
			    seen[i].offset,
			    "key \"%s\" stands twice; readers differ on which "
			    "one counts",
			    wd_escape_short(shown, sizeof(shown), seen[i].key));
	return WD_OK;
}

static enum wd_status
read_all(struct run *run, struct seen *seen, uint64_t count)
{
	struct key key = { .type = VALUE_U8 };
	enum wd_status st = WD_OK;
	uint64_t i;
	char *copy;

	for (i = 0; i < count; i++) {
		st = read_pair(run, &key);
		if (st == WD_OK)
			st = wd_draft_copy(
			    run->build, key.name, &copy, run->err);
		if (st != WD_OK)
			return st;
		seen[i] =
		    (struct seen){ { (const uint8_t *)copy, key.name.len },
			    key.offset };
	}
	return check_twins(run, seen, (size_t)count);
}

enum wd_status
wd_gguf_keys(struct wd_draft *build, struct wd_window *window, uint64_t count,
    bool with_keys, struct wd_gguf_facts *facts, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) struct seen *seen = NULL;
	WD_CLEANUP(wd_free_scoped) struct run *run = NULL;
	enum wd_status st;

	run = wd_calloc(1, sizeof(*run));
	seen = wd_calloc((size_t)count, sizeof(*seen));
	if (run == NULL || seen == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for the keys");
	run->build = build;
	run->window = window;
	run->facts = facts;
	run->with_keys = with_keys;
	run->err = err;
	wd_buf_init(&run->text, WD_MAX_GGUF_KEY);
	st = wd_hasher_new(&run->hasher, err);
	if (st == WD_OK)
		st = read_all(run, seen, count);
	wd_hasher_free(&run->hasher);
	wd_buf_release(&run->text);
	return st;
}
