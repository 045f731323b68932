#include "verdict/bundle_diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "wire/build.h"

#define RESULT(name) WEIGHTD__V1__BUNDLE_DIFF__RESULT__RESULT_##name

#define FACT_BYTES 320

struct diffing {
	const Weightd__V1__Bundle *a;
	const Weightd__V1__Bundle *b;
	Weightd__V1__BundleDiff *diff;
	struct wd_build build;
};

/* ---- one fact -------------------------------------------------------------
 */

/* A NULL text: that side has no such fact. Appends to any of the lists. */
static void
add_fact(struct diffing *d, size_t *count, Weightd__V1__FactDifference ***items,
    const char *a, const char *b, const char *field)
{
	Weightd__V1__FactDifference *row = wd_build_add(&d->build, count,
	    (void ***)items, &weightd__v1__fact_difference__descriptor);

	if (row == NULL)
		return;
	wd_build_text(&d->build, &row->field, field);
	if (a != NULL) {
		wd_build_text(&d->build, &row->a, a);
		row->a_presence_case =
		    WEIGHTD__V1__FACT_DIFFERENCE__A_PRESENCE_A;
	}
	if (b != NULL) {
		wd_build_text(&d->build, &row->b, b);
		row->b_presence_case =
		    WEIGHTD__V1__FACT_DIFFERENCE__B_PRESENCE_B;
	}
}

static bool
is_same_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a, b) == 0;
}

static void
text_fact(struct diffing *d, const char *field, const char *a, const char *b)
{
	if (!is_same_text(a, b))
		add_fact(d, &d->diff->n_facts, &d->diff->facts, a, b, field);
}

/* An empty text of a message is one that the bundle does not have. */
static void
named_fact(struct diffing *d, const char *field, const char *a, const char *b)
{
	text_fact(d, field, a[0] == '\0' ? NULL : a, b[0] == '\0' ? NULL : b);
}

static void
number_fact(struct diffing *d, const char *field, uint64_t a, uint64_t b)
{
	char text[2][24];

	(void)snprintf(text[0], sizeof(text[0]), "%" PRIu64, a);
	(void)snprintf(text[1], sizeof(text[1]), "%" PRIu64, b);
	text_fact(d, field, text[0], text[1]);
}

static const char *
digest_text(const Weightd__V1__Digest *digest, char text[WD_SHA256_TEXT_BYTES])
{
	struct wd_sha256 sha256;

	return wd_message_digest(digest, &sha256) ?
	    wd_sha256_text(&sha256, text) :
	    NULL;
}

static void
digest_fact(struct diffing *d, const char *field, const Weightd__V1__Digest *a,
    const Weightd__V1__Digest *b)
{
	char text[2][WD_SHA256_TEXT_BYTES];

	text_fact(d, field, digest_text(a, text[0]), digest_text(b, text[1]));
}

static void
enum_fact(struct diffing *d, const char *field,
    const ProtobufCEnumDescriptor *type, int a, int b, const char *prefix)
{
	const ProtobufCEnumValue *left =
	    protobuf_c_enum_descriptor_get_value(type, a);
	const ProtobufCEnumValue *right =
	    protobuf_c_enum_descriptor_get_value(type, b);

	if (left != NULL && right != NULL)
		text_fact(d, field, left->name + strlen(prefix),
		    right->name + strlen(prefix));
	else
		number_fact(d, field, (uint64_t)a, (uint64_t)b);
}

/* A count that is not known is a lower bound, and no number to compare. */
static const char *
count_text(const Weightd__V1__Bundle *bundle, char text[40])
{
	if (!bundle->parameters_known && bundle->tensor_count == 0)
		return "unknown";
	(void)snprintf(text, 40, "%s%" PRIu64,
	    bundle->parameters_known ? "" : "at least ",
	    bundle->parameter_count);
	return text;
}

static void
compare_facts(struct diffing *d)
{
	const Weightd__V1__Bundle *a = d->a, *b = d->b;
	char text[2][40];

	enum_fact(d, "format", &weightd__v1__bundle_format__descriptor,
	    (int)a->format, (int)b->format, "BUNDLE_FORMAT_");
	number_fact(d, "format_version", a->format_version, b->format_version);
	text_fact(d, "byte_order", a->big_endian ? "big-endian" : "little",
	    b->big_endian ? "big-endian" : "little");
	enum_fact(d, "kind", &weightd__v1__bundle_kind__descriptor,
	    (int)a->kind, (int)b->kind, "BUNDLE_KIND_");
	named_fact(d, "inner_name", a->inner_name, b->inner_name);
	named_fact(d, "architecture", a->architecture, b->architecture);
	text_fact(d, "parameter_count", count_text(a, text[0]),
	    count_text(b, text[1]));
	number_fact(d, "stored_element_count", a->stored_element_count,
	    b->stored_element_count);
	number_fact(d, "tensor_count", a->tensor_count, b->tensor_count);
	number_fact(d, "tensor_bytes", a->tensor_bytes, b->tensor_bytes);
	named_fact(
	    d, "declared_recipe", a->declared_recipe, b->declared_recipe);
	digest_fact(
	    d, "encoding_digest", a->encoding_digest, b->encoding_digest);
	digest_fact(
	    d, "settings_digest", a->settings_digest, b->settings_digest);
	digest_fact(
	    d, "tokenizer_digest", a->tokenizer_digest, b->tokenizer_digest);
	if (a->content_digest != NULL && b->content_digest != NULL)
		digest_fact(
		    d, "content_digest", a->content_digest, b->content_digest);
}

/* ---- lists ----------------------------------------------------------------
 */

static void
compare_settings(struct diffing *d)
{
	const Weightd__V1__Bundle *a = d->a, *b = d->b;
	size_t i = 0, j = 0;

	while (i < a->n_settings || j < b->n_settings) {
		const Weightd__V1__Setting *left = NULL, *right = NULL;
		int order = i == a->n_settings ?
		    1 :
		    j == b->n_settings ?
		    -1 :
		    strcmp(a->settings[i]->key, b->settings[j]->key);

		if (order <= 0)
			left = a->settings[i++];
		if (order >= 0)
			right = b->settings[j++];
		if (order == 0 && strcmp(left->value, right->value) == 0)
			continue;
		add_fact(d, &d->diff->n_settings, &d->diff->settings,
		    left == NULL ? NULL : left->value,
		    right == NULL ? NULL : right->value,
		    left == NULL ? right->key : left->key);
	}
}

static int
order_classes(
    const Weightd__V1__ClassCount *a, const Weightd__V1__ClassCount *b)
{
	int order = strcmp(a->tensor_class, b->tensor_class);

	if (order == 0)
		order = strcmp(a->count->encoding, b->count->encoding);
	return order;
}

static int
compare_pointers(const void *a, const void *b)
{
	return order_classes(*(Weightd__V1__ClassCount *const *)a,
	    *(Weightd__V1__ClassCount *const *)b);
}

/* A message has them by bytes, which is no order to compare in. */
static Weightd__V1__ClassCount **
sorted_classes(const Weightd__V1__Bundle *bundle)
{
	Weightd__V1__ClassCount **rows =
	    wd_calloc(bundle->n_classes, sizeof(*rows));

	if (rows == NULL || bundle->n_classes == 0)
		return rows;
	memcpy(rows, bundle->classes, bundle->n_classes * sizeof(*rows));
	qsort(rows, bundle->n_classes, sizeof(*rows), compare_pointers);
	return rows;
}

static void
add_class(struct diffing *d, const Weightd__V1__ClassCount *a,
    const Weightd__V1__ClassCount *b)
{
	const Weightd__V1__ClassCount *some = a != NULL ? a : b;
	Weightd__V1__ClassDifference *row = WD_BUILD_ADD(&d->build, d->diff,
	    classes, &weightd__v1__class_difference__descriptor);

	if (row == NULL)
		return;
	wd_build_text(&d->build, &row->tensor_class, some->tensor_class);
	wd_build_text(&d->build, &row->encoding, some->count->encoding);
	if (a != NULL) {
		row->a_tensor_count = a->count->tensor_count;
		row->a_parameter_count = a->count->parameter_count;
	}
	if (b != NULL) {
		row->b_tensor_count = b->count->tensor_count;
		row->b_parameter_count = b->count->parameter_count;
	}
}

static bool
is_same_count(
    const Weightd__V1__ClassCount *a, const Weightd__V1__ClassCount *b)
{
	return a != NULL && b != NULL &&
	    a->count->tensor_count == b->count->tensor_count &&
	    a->count->parameter_count == b->count->parameter_count;
}

static void
compare_classes(struct diffing *d)
{
	WD_CLEANUP(wd_free_scoped)
	Weightd__V1__ClassCount **a = sorted_classes(d->a);
	WD_CLEANUP(wd_free_scoped)
	Weightd__V1__ClassCount **b = sorted_classes(d->b);
	size_t i = 0, j = 0, ends = d->a->n_classes;

	if ((a == NULL || b == NULL) && d->build.status == WD_OK)
		d->build.status = WD_NOMEM;
	while (d->build.status == WD_OK && (i < ends || j < d->b->n_classes)) {
		int order = i == ends    ? 1 :
		    j == d->b->n_classes ? -1 :
					   order_classes(a[i], b[j]);
		const Weightd__V1__ClassCount *left =
		    order <= 0 ? a[i++] : NULL;
		const Weightd__V1__ClassCount *right =
		    order >= 0 ? b[j++] : NULL;

		if (!is_same_count(left, right))
			add_class(d, left, right);
	}
}

/* ---- files ----------------------------------------------------------------
 */

/* What a file is called in the content digest: nothing when it is the whole
 * bundle, the number of its shard, else its name. */
static int
order_files(const struct diffing *d, const Weightd__V1__BundleFile *a,
    const Weightd__V1__BundleFile *b)
{
	if (d->a->single_file && d->b->single_file)
		return 0;
	if (a->shard != b->shard)
		return a->shard < b->shard ? -1 : 1;
	if (a->shard > 0)
		return 0;
	return wd_slice_compare((struct wd_slice){ a->name.data, a->name.len },
	    (struct wd_slice){ b->name.data, b->name.len });
}

static void
file_field(char field[FACT_BYTES], const Weightd__V1__BundleFile *file)
{
	char shown[FACT_BYTES - 64];

	if (file->shard > 0)
		(void)snprintf(
		    field, FACT_BYTES, "shard %" PRIu32, file->shard);
	else
		(void)snprintf(field, FACT_BYTES, "%s",
		    wd_escape_short(shown, sizeof(shown),
			(struct wd_slice){ file->name.data, file->name.len }));
}

/* A digest is named only where the other side has one too: a file that nobody
 * has hashed does not differ from one that somebody has. */
static const char *
file_text(const Weightd__V1__BundleFile *file, bool with_digest,
    char text[FACT_BYTES])
{
	char digest[WD_SHA256_TEXT_BYTES];

	if (file == NULL)
		return NULL;
	if (!file->present)
		return "missing";
	(void)snprintf(text, FACT_BYTES, "%" PRIu64 " bytes%s%s",
	    file->size_bytes, with_digest ? " " : "",
	    with_digest ? digest_text(file->sha256, digest) : "");
	return text;
}

static void
compare_file(struct diffing *d, const Weightd__V1__BundleFile *a,
    const Weightd__V1__BundleFile *b)
{
	char field[FACT_BYTES], text[2][FACT_BYTES];
	struct wd_sha256 unused;
	bool digests = a != NULL && b != NULL &&
	    wd_message_digest(a->sha256, &unused) &&
	    wd_message_digest(b->sha256, &unused);
	const char *left = file_text(a, digests, text[0]);
	const char *right = file_text(b, digests, text[1]);

	if (is_same_text(left, right))
		return;
	file_field(field, a != NULL ? a : b);
	add_fact(d, &d->diff->n_files, &d->diff->files, left, right, field);
}

static void
compare_files(struct diffing *d)
{
	const Weightd__V1__Bundle *a = d->a, *b = d->b;
	size_t i = 0, j = 0;

	while (i < a->n_files || j < b->n_files) {
		const Weightd__V1__BundleFile *left = NULL, *right = NULL;
		int order = i == a->n_files ? 1 :
		    j == b->n_files         ? -1 :
				      order_files(d, a->files[i], b->files[j]);

		if (order <= 0)
			left = a->files[i++];
		if (order >= 0)
			right = b->files[j++];
		compare_file(d, left, right);
	}
}

/* ---- the result -----------------------------------------------------------
 */

static Weightd__V1__BundleDiff__Result
judge(const struct diffing *d)
{
	const Weightd__V1__BundleDiff *diff = d->diff;

	if (diff->n_facts + diff->n_classes + diff->n_settings + diff->n_files >
	    0)
		return RESULT(DIFFERENT);
	if (diff->a_incomplete || diff->b_incomplete)
		return RESULT(INCOMPLETE);
	if (d->a->content_digest == NULL || d->b->content_digest == NULL)
		return RESULT(HEADERS_EQUAL);
	return RESULT(EQUAL);
}

enum wd_status
wd_bundle_diff(const Weightd__V1__Bundle *a, const Weightd__V1__Bundle *b,
    Weightd__V1__BundleDiff **diff, struct wd_error *err)
{
	struct diffing d = { .a = a, .b = b, .build = wd_build_init() };

	d.diff = wd_build_new(&d.build, &weightd__v1__bundle_diff__descriptor);
	if (d.diff == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for the differences");
	wd_build_bytes(&d.build, &d.diff->a_path,
	    (struct wd_slice){ a->path.data, a->path.len });
	wd_build_bytes(&d.build, &d.diff->b_path,
	    (struct wd_slice){ b->path.data, b->path.len });
	d.diff->a_incomplete = a->incomplete;
	d.diff->b_incomplete = b->incomplete;
	compare_facts(&d);
	compare_classes(&d);
	compare_settings(&d);
	compare_files(&d);
	d.diff->result = judge(&d);
	if (d.build.status != WD_OK) {
		wd_message_free(d.diff);
		return wd_fail(
		    err, d.build.status, "no memory for the differences");
	}
	*diff = d.diff;
	return WD_OK;
}
