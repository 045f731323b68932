#include "seam/pack.h"

#include <string.h>

#include "base/mem.h"
#include "bundle/arena.h"

/* Formats are added now and then; none has a number above this. */
#define MAX_FORMAT 64

/* ---- bundle to message --------------------------------------------------- */

/* protobuf-c's messages are filled in arrays of our own: one allocation for
 * all tensors, not one for each. */
struct packed {
	Weightd__Seam__V1__Facts facts; /* first: what the caller sees */
	ProtobufCBinaryData texts[3];
	ProtobufCBinaryData *names;
	Weightd__Seam__V1__Tensor *tensors, **tensor_list;
	uint64_t *shapes;
	Weightd__Seam__V1__File *files, **file_list;
	Weightd__Seam__V1__Pair *pairs, **pair_list;
	Weightd__Seam__V1__Encoding *encodings, **encoding_list;
	Weightd__Seam__V1__Note *notes, **note_list;
};

static ProtobufCBinaryData
borrow(const void *bytes, size_t len)
{
	ProtobufCBinaryData data = { .len = len };

	/* Packing reads it only. */
	memcpy(&data.data, &bytes, sizeof(bytes));
	return data;
}

static ProtobufCBinaryData
borrow_text(const char *text)
{
	return borrow(text, strlen(text));
}

static void
maybe_text(const char *text, ProtobufCBinaryData *room, size_t *count,
    ProtobufCBinaryData **field)
{
	if (text == NULL)
		return;
	*room = borrow_text(text);
	*count = 1;
	*field = room;
}

static uint32_t
encoding_index(const struct wd_bundle *bundle, const char *encoding)
{
	uint32_t i;

	for (i = 0; i < bundle->encoding_count; i++)
		if (strcmp(bundle->encodings[i].encoding, encoding) == 0)
			break;
	return i;
}

static bool
allocate(struct packed *p, const struct wd_bundle *bundle)
{
#define ROOM(items, list, count)                                               \
	((p->items = wd_calloc((count), sizeof(*p->items))) != NULL &&         \
	    (p->list = wd_calloc((count), sizeof(*p->list))) != NULL)
	return ROOM(tensors, tensor_list, bundle->tensor_count) &&
	    ROOM(files, file_list, bundle->file_count) &&
	    ROOM(pairs, pair_list, bundle->setting_count) &&
	    ROOM(encodings, encoding_list, bundle->encoding_count) &&
	    ROOM(notes, note_list, bundle->note_count) &&
	    (p->names = wd_calloc(bundle->encoding_count, sizeof(*p->names))) !=
	    NULL;
#undef ROOM
}

static void
pack_tensor(const struct wd_bundle *bundle, const struct wd_tensor *tensor,
    Weightd__Seam__V1__Tensor *out)
{
	weightd__seam__v1__tensor__init(out);
	out->name = borrow(tensor->name, tensor->name_len);
	out->encoding = encoding_index(bundle, tensor->encoding);
	out->n_shape = tensor->dims;
	/* Packing reads it only. */
	memcpy(&out->shape, &(const uint64_t *){ tensor->shape },
	    sizeof(out->shape));
	out->file = tensor->file;
	out->offset = tensor->offset;
	out->size_bytes = tensor->size_bytes;
	out->sized = tensor->sized;
	out->elements = tensor->elements;
	out->parameters = tensor->parameters;
	out->helper = tensor->helper;
}

static void
pack_file(const struct wd_bundle_file *file, Weightd__Seam__V1__File *out)
{
	weightd__seam__v1__file__init(out);
	out->name = borrow(file->name, file->name_len);
	out->role = file->role;
	out->shard = file->shard;
	out->present = file->present;
	out->counted = file->counted;
	out->size_bytes = file->size_bytes;
	out->needed_bytes = file->needed_bytes;
	out->data_offset = file->data_offset;
}

static void
pack_encoding(const struct wd_encoding_count *encoding, uint32_t name,
    Weightd__Seam__V1__Encoding *out)
{
	weightd__seam__v1__encoding__init(out);
	out->name = name;
	out->tensors = encoding->tensors;
	out->elements = encoding->elements;
	out->parameters = encoding->parameters;
	out->size_bytes = encoding->size_bytes;
}

static void
pack_arrays(struct packed *p, const struct wd_bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++) {
		pack_tensor(bundle, &bundle->tensors[i], &p->tensors[i]);
		p->tensor_list[i] = &p->tensors[i];
	}
	for (i = 0; i < bundle->file_count; i++) {
		pack_file(&bundle->files[i], &p->files[i]);
		p->file_list[i] = &p->files[i];
	}
	for (i = 0; i < bundle->setting_count; i++) {
		weightd__seam__v1__pair__init(&p->pairs[i]);
		p->pairs[i].key = borrow_text(bundle->settings[i].key);
		p->pairs[i].value = borrow_text(bundle->settings[i].value);
		p->pair_list[i] = &p->pairs[i];
	}
	for (i = 0; i < bundle->encoding_count; i++) {
		p->names[i] = borrow_text(bundle->encodings[i].encoding);
		pack_encoding(
		    &bundle->encodings[i], (uint32_t)i, &p->encodings[i]);
		p->encoding_list[i] = &p->encodings[i];
	}
	for (i = 0; i < bundle->note_count; i++) {
		weightd__seam__v1__note__init(&p->notes[i]);
		p->notes[i].kind = bundle->notes[i].kind;
		p->notes[i].text = borrow_text(bundle->notes[i].text);
		p->note_list[i] = &p->notes[i];
	}
}

static void
pack_lists(struct packed *p, const struct wd_bundle *bundle)
{
	Weightd__Seam__V1__Facts *f = &p->facts;

	f->n_encoding_names = bundle->encoding_count;
	f->encoding_names = p->names;
	f->n_tensors = bundle->tensor_count;
	f->tensors = p->tensor_list;
	f->n_files = bundle->file_count;
	f->files = p->file_list;
	f->n_settings = bundle->setting_count;
	f->settings = p->pair_list;
	f->n_encodings = bundle->encoding_count;
	f->encodings = p->encoding_list;
	f->n_notes = bundle->note_count;
	f->notes = p->note_list;
}

static void
pack_rest(struct packed *p, const struct wd_bundle *bundle)
{
	Weightd__Seam__V1__Facts *f = &p->facts;

	f->format = bundle->format;
	f->kind = bundle->kind;
	f->format_version = bundle->format_version;
	f->big_endian = bundle->big_endian;
	f->incomplete = bundle->incomplete;
	f->single_file = bundle->single_file;
	maybe_text(
	    bundle->inner_name, &p->texts[0], &f->n_inner_name, &f->inner_name);
	maybe_text(bundle->architecture, &p->texts[1], &f->n_architecture,
	    &f->architecture);
	maybe_text(bundle->declared_recipe, &p->texts[2], &f->n_declared_recipe,
	    &f->declared_recipe);
	f->derived_recipe = borrow_text(bundle->derived_recipe);
	f->parameters_known = bundle->parameters_known;
	f->parameter_count = bundle->parameter_count;
	f->stored_elements = bundle->stored_elements;
	f->tensor_bytes = bundle->tensor_bytes;
	if (!bundle->tensors_unread)
		f->encoding_digest = borrow(bundle->encoding_digest.bytes,
		    sizeof(bundle->encoding_digest));
	f->settings_digest = borrow(
	    bundle->settings_digest.bytes, sizeof(bundle->settings_digest));
	if (bundle->has_tokenizer)
		f->tokenizer_digest = borrow(bundle->tokenizer_digest.bytes,
		    sizeof(bundle->tokenizer_digest));
}

void
wd_facts_free(Weightd__Seam__V1__Facts **facts)
{
	struct packed *p = (struct packed *)*facts;

	if (p == NULL)
		return;
	wd_free(p->names);
	wd_free(p->tensors);
	wd_free(p->tensor_list);
	wd_free(p->files);
	wd_free(p->file_list);
	wd_free(p->pairs);
	wd_free(p->pair_list);
	wd_free(p->encodings);
	wd_free(p->encoding_list);
	wd_free(p->notes);
	wd_free(p->note_list);
	wd_free(p);
	*facts = NULL;
}

enum wd_status
wd_facts_of(const struct wd_bundle *bundle, Weightd__Seam__V1__Facts **facts,
    struct wd_error *err)
{
	struct packed *p = wd_calloc(1, sizeof(*p));

	if (p != NULL) {
		weightd__seam__v1__facts__init(&p->facts);
		*facts = &p->facts;
		if (allocate(p, bundle)) {
			pack_arrays(p, bundle);
			pack_lists(p, bundle);
			pack_rest(p, bundle);
			return WD_OK;
		}
		wd_facts_free(facts);
	}
	return wd_fail(err, WD_NOMEM, "reader: no memory for the facts");
}

/* ---- message to bundle --------------------------------------------------- */

struct unpacked {
	const Weightd__Seam__V1__Facts *facts;
	struct wd_bundle *bundle;
	char **encodings; /* names, in the arena */
	struct wd_error *err;
};

static enum wd_status
wrong(struct unpacked *u, const char *what)
{
	return wd_fail(u->err, WD_MALFORMED,
	    "reader: its answer is broken (%s); the reader may have been "
	    "taken over by a file it read",
	    what);
}

static enum wd_status
no_memory(struct unpacked *u)
{
	return wd_fail(u->err, WD_NOMEM, "reader: no memory for its answer");
}

static enum wd_status
text_of(struct unpacked *u, ProtobufCBinaryData data, char **text)
{
	if (data.len > 0 && memchr(data.data, '\0', data.len) != NULL)
		return wrong(u, "a NUL in a text");
	*text = wd_arena_copy(
	    u->bundle->arena, (struct wd_slice){ data.data, data.len });
	return *text == NULL ? no_memory(u) : WD_OK;
}

static enum wd_status
maybe_text_of(struct unpacked *u, size_t count,
    const ProtobufCBinaryData *texts, char **text)
{
	return count == 0 ? WD_OK : text_of(u, texts[0], text);
}

static bool
digest_of(ProtobufCBinaryData data, struct wd_sha256 *digest)
{
	if (data.len != sizeof(digest->bytes))
		return false;
	memcpy(digest->bytes, data.data, data.len);
	return true;
}

static enum wd_status
check_counts(struct unpacked *u)
{
	const Weightd__Seam__V1__Facts *f = u->facts;

	if (f->n_tensors > WD_MAX_TENSORS || f->n_files > WD_MAX_BUNDLE_FILES ||
	    f->n_settings > WD_MAX_SETTINGS ||
	    f->n_encodings > WD_MAX_ENCODINGS ||
	    f->n_encoding_names != f->n_encodings ||
	    f->n_notes > WD_MAX_BUNDLE_NOTES)
		return wrong(u, "too many rows");
	if (f->derived_recipe.len >= sizeof(u->bundle->derived_recipe))
		return wrong(u, "a recipe that is too long");
	return WD_OK;
}

static bool
make_arrays(struct unpacked *u)
{
	const Weightd__Seam__V1__Facts *f = u->facts;
	struct wd_bundle *b = u->bundle;

	b->arena = wd_arena_new();
	b->tensors = wd_calloc(f->n_tensors, sizeof(*b->tensors));
	b->files = wd_calloc(f->n_files, sizeof(*b->files));
	b->settings = wd_calloc(f->n_settings, sizeof(*b->settings));
	b->encodings = wd_calloc(f->n_encodings, sizeof(*b->encodings));
	b->notes = wd_calloc(f->n_notes, sizeof(*b->notes));
	u->encodings = wd_calloc(f->n_encodings, sizeof(*u->encodings));
	return b->arena != NULL && b->tensors != NULL && b->files != NULL &&
	    b->settings != NULL && b->encodings != NULL && b->notes != NULL &&
	    u->encodings != NULL;
}

static enum wd_status
unpack_encodings(struct unpacked *u)
{
	struct wd_bundle *b = u->bundle;
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < u->facts->n_encodings && st == WD_OK; i++)
		st = text_of(u, u->facts->encoding_names[i], &u->encodings[i]);
	for (i = 0; i < u->facts->n_encodings && st == WD_OK; i++) {
		const Weightd__Seam__V1__Encoding *in = u->facts->encodings[i];

		if (in->name >= u->facts->n_encodings)
			return wrong(u, "an encoding that is not there");
		b->encodings[b->encoding_count++] =
		    (struct wd_encoding_count){ u->encodings[in->name],
			    in->tensors, in->elements, in->parameters,
			    in->size_bytes };
	}
	return st;
}

static enum wd_status
unpack_tensor(struct unpacked *u, const Weightd__Seam__V1__Tensor *in,
    struct wd_tensor *out)
{
	char *name;
	enum wd_status st;

	if (in->n_shape > WD_MAX_TENSOR_DIMS ||
	    in->encoding >= u->facts->n_encodings ||
	    in->file >= u->facts->n_files)
		return wrong(u, "a tensor without a place");
	st = text_of(u, in->name, &name);
	if (st != WD_OK)
		return st;
	out->name = name;
	out->name_len = in->name.len;
	out->encoding = u->encodings[in->encoding];
	out->dims = (unsigned)in->n_shape;
	if (in->n_shape > 0)
		memcpy(
		    out->shape, in->shape, in->n_shape * sizeof(out->shape[0]));
	out->file = in->file;
	out->offset = in->offset;
	out->size_bytes = in->size_bytes;
	out->sized = in->sized;
	out->elements = in->elements;
	out->parameters = in->parameters;
	out->helper = in->helper;
	return WD_OK;
}

static enum wd_status
unpack_file(struct unpacked *u, const Weightd__Seam__V1__File *in,
    struct wd_bundle_file *out)
{
	enum wd_status st = text_of(u, in->name, &out->name);

	if (st != WD_OK)
		return st;
	if (in->role > WD_ROLE_TOKENIZER)
		return wrong(u, "a file of an unknown role");
	out->name_len = in->name.len;
	out->role = (enum wd_file_role)in->role;
	out->shard = in->shard;
	out->present = in->present;
	out->counted = in->counted;
	out->size_bytes = in->size_bytes;
	out->needed_bytes = in->needed_bytes;
	out->data_offset = in->data_offset;
	return WD_OK;
}

static enum wd_status
unpack_note(
    struct unpacked *u, const Weightd__Seam__V1__Note *in, struct wd_note *out)
{
	if (in->kind > WD_NOTE_NOT_PART)
		return wrong(u, "a note of an unknown kind");
	out->kind = (enum wd_note_kind)in->kind;
	return text_of(u, in->text, &out->text);
}

static enum wd_status
unpack_arrays(struct unpacked *u)
{
	const Weightd__Seam__V1__Facts *f = u->facts;
	struct wd_bundle *b = u->bundle;
	enum wd_status st = unpack_encodings(u);
	size_t i;

	for (i = 0; i < f->n_files && st == WD_OK; i++)
		st = unpack_file(u, f->files[i], &b->files[b->file_count++]);
	for (i = 0; i < f->n_tensors && st == WD_OK; i++)
		st = unpack_tensor(
		    u, f->tensors[i], &b->tensors[b->tensor_count++]);
	for (i = 0; i < f->n_notes && st == WD_OK; i++)
		st = unpack_note(u, f->notes[i], &b->notes[b->note_count++]);
	for (i = 0; i < f->n_settings && st == WD_OK; i++) {
		struct wd_setting *out = &b->settings[b->setting_count++];

		st = text_of(u, f->settings[i]->key, &out->key);
		if (st == WD_OK)
			st = text_of(u, f->settings[i]->value, &out->value);
	}
	return st;
}

static enum wd_status
unpack_rest(struct unpacked *u)
{
	const Weightd__Seam__V1__Facts *f = u->facts;
	struct wd_bundle *b = u->bundle;
	enum wd_status st;

	st = maybe_text_of(u, f->n_inner_name, f->inner_name, &b->inner_name);
	if (st == WD_OK)
		st = maybe_text_of(
		    u, f->n_architecture, f->architecture, &b->architecture);
	if (st == WD_OK)
		st = maybe_text_of(u, f->n_declared_recipe, f->declared_recipe,
		    &b->declared_recipe);
	if (st != WD_OK)
		return st;
	if (f->format > MAX_FORMAT || f->kind > WD_KIND_DRAFT)
		return wrong(u, "an unknown format");
	b->format = (enum wd_bundle_format)f->format;
	b->kind = (enum wd_bundle_kind)f->kind;
	b->format_version = f->format_version;
	b->big_endian = f->big_endian;
	b->incomplete = f->incomplete;
	b->single_file = f->single_file;
	if (f->derived_recipe.len > 0)
		memcpy(b->derived_recipe, f->derived_recipe.data,
		    f->derived_recipe.len);
	b->parameters_known = f->parameters_known;
	b->parameter_count = f->parameter_count;
	b->stored_elements = f->stored_elements;
	b->tensor_bytes = f->tensor_bytes;
	b->has_tokenizer = f->tokenizer_digest.len > 0;
	b->tensors_unread = f->encoding_digest.len == 0;
	if (b->tensors_unread && f->n_tensors > 0)
		return wrong(u, "tensors without a digest of their encodings");
	if ((!b->tensors_unread &&
		!digest_of(f->encoding_digest, &b->encoding_digest)) ||
	    !digest_of(f->settings_digest, &b->settings_digest) ||
	    (b->has_tokenizer &&
		!digest_of(f->tokenizer_digest, &b->tokenizer_digest)))
		return wrong(u, "a digest of the wrong length");
	return WD_OK;
}

enum wd_status
wd_facts_bundle(const Weightd__Seam__V1__Facts *facts,
    struct wd_bundle **bundle, struct wd_error *err)
{
	WD_CLEANUP(wd_bundle_free)
	struct wd_bundle *made = wd_calloc(1, sizeof(*made));
	struct unpacked u = { facts, made, NULL, err };
	enum wd_status st;

	if (made == NULL)
		return no_memory(&u);
	st = check_counts(&u);
	if (st == WD_OK && !make_arrays(&u))
		st = no_memory(&u);
	if (st == WD_OK)
		st = unpack_arrays(&u);
	if (st == WD_OK)
		st = unpack_rest(&u);
	wd_free(u.encodings);
	if (st == WD_OK)
		*bundle = wd_steal(&made);
	return st;
}
