/* Headers and indexes that are read without a tree: the same answer as with
 * one, and whatever is unusual is left to it. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bundle/plain_json.h"
#include "bundle/safetensors.h"
#include "support/memory_folder.h"
#include "support/suite.h"

#define T(name, shape, from, to)                                               \
	"\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape                     \
	",\"data_offsets\":[" from "," to "]}"
#define ONE T("a", "[2]", "0", "8")

static struct wd_bundle *bundle;
static struct wd_error err;

/* ---- one value ------------------------------------------------------------
 */

static const struct {
	const char *text;
	bool plain;
	uint64_t value;
} numbers[] = {
	{ "0,", true, 0 },
	{ " 12]", true, 12 },
	{ "999999999999999999 ", true, 999999999999999999 },
	{ "1000000000000000000 ", false, 0 },
	{ "01,", false, 0 },
	{ "00,", false, 0 },
	{ "-1,", false, 0 },
	{ "1", false, 0 },
	{ "", false, 0 },
	{ "x", false, 0 },
	{ "\"1\"", false, 0 },
};

START_TEST(whole_numbers)
{
	struct wd_plain text = { wd_slice_text(numbers[_i].text), true };
	uint64_t value = wd_plain_number(&text);

	ck_assert_int_eq(text.plain, numbers[_i].plain);
	if (text.plain)
		ck_assert_uint_eq(value, numbers[_i].value);
}
END_TEST

static const struct {
	const char *text;
	const char *inside; /* NULL: not plain */
} strings[] = {
	{ "\"\"", "" },
	{ "\t\"a b\",", "a b" },
	{ "\"a", NULL },
	{ "\"", NULL },
	{ "a", NULL },
	{ "\"a\\n\"", NULL },
	{ "\"a\n\"", NULL },
	{ "\"\x7f\"", NULL },
	{ "\"\xc3\xa9\"", NULL },
};

START_TEST(plain_strings)
{
	struct wd_plain text = { wd_slice_text(strings[_i].text), true };
	struct wd_slice inside = wd_plain_string(&text);

	ck_assert_int_eq(text.plain, strings[_i].inside != NULL);
	if (text.plain)
		ck_assert(
		    wd_slice_equal(inside, wd_slice_text(strings[_i].inside)));
}
END_TEST

static const struct {
	const char *text;
	size_t len; /* 0: not plain */
} objects[] = {
	{ "{}x", 2 },
	{ "{\"a\":{\"b\":1}}}", 13 },
	{ "{\"}\\\"}\":1}", 10 },
	{ "{\"a\"", 0 },
	{ "{\"\\", 0 },
	{ "[{}]", 0 },
	{ "", 0 },
};

START_TEST(whole_objects)
{
	struct wd_plain text = { wd_slice_text(objects[_i].text), true };

	ck_assert_uint_eq(wd_plain_object(&text).len, objects[_i].len);
	ck_assert_int_eq(text.plain, objects[_i].len > 0);
}
END_TEST

/* ---- headers --------------------------------------------------------------
 */

static const struct {
	const char *what;
	const char *header;
	bool plain;
} headers[] = {
	{ "one tensor", "{" ONE "}", true },
	{ "blanks", " {\r\n\t" ONE " , " T("b", "[ 1 , 2 ]", "8", "16") "} ",
	    true },
	{ "a scalar", "{" T("a", "[]", "0", "4") "}", true },
	{ "eight dimensions", "{" T("a", "[1,1,1,1,1,1,1,2]", "0", "8") "}",
	    true },
	{ "another order",
	    "{\"a\":{\"data_offsets\":[0,8],\"shape\":[2],\"dtype\":\"F32\"}}",
	    true },
	{ "metadata", "{\"__metadata__\":{\"a\":\"}\"}," ONE "}", true },
	{ "nothing", "{}", false },
	{ "an escape", "{" T("\\u0061", "[2]", "0", "8") "}", false },
	{ "another member",
	    "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],"
	    "\"x\":[]}}",
	    false },
	{ "a member twice",
	    "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],"
	    "\"data_offsets\":[0,8]}}",
	    false },
	{ "a member less", "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}",
	    false },
	{ "one name", "{" ONE "," T("b", "[0]", "8", "8") "," ONE "}", false },
	{ "metadata twice", "{\"__metadata__\":{},\"__metadata__\":{}," ONE "}",
	    false },
	{ "metadata that are no object", "{\"__metadata__\":[]," ONE "}",
	    false },
	{ "nine dimensions", "{" T("a", "[1,1,1,1,1,1,1,1,2]", "0", "8") "}",
	    false },
	{ "a product of 2^63",
	    "{" T("a", "[4294967296,2147483648]", "0", "0") "}", false },
	{ "a product of 2^64",
	    "{" T("a", "[4294967296,4294967296]", "0", "0") "}", false },
	{ "offsets the other way", "{" T("a", "[2]", "8", "0") "}", false },
	{ "offsets that do not fit", "{" T("a", "[2]", "0", "9") "}", false },
	{ "three offsets", "{" T("a", "[2]", "0", "8,8") "}", false },
	{ "an unknown type",
	    "{\"a\":{\"dtype\":\"Z\",\"shape\":[2],\"data_offsets\":[0,8]}}",
	    false },
	{ "a fraction", "{" T("a", "[2.0]", "0", "8") "}", false },
	{ "something behind it", "{" ONE "} x", false },
	{ "a comma too many", "{" ONE ",}", false },
	{ "no end", "{" ONE, false },
};

static enum wd_status
describe(const char *header, const struct wd_slice *prefix)
{
	struct wd_buf file;
	size_t len = strlen(header) + (prefix == NULL ? 0 : prefix->len), i;
	enum wd_status st;

	wd_buf_init(&file, 65536);
	for (i = 0; i < 8; i++)
		(void)wd_buf_byte(&file, (uint8_t)(len >> (8 * i)));
	/* After the brace, where it changes nothing but how it is read. */
	(void)wd_buf_append(&file, header, 1);
	if (prefix != NULL)
		(void)wd_buf_append(&file, prefix->data, prefix->len);
	(void)wd_buf_text(&file, header + 1);
	for (i = 0; i < 16; i++)
		(void)wd_buf_byte(&file, 0);
	wd_error_init(&err);
	st =
	    describe_bytes(wd_buf_slice(&file), "m.safetensors", &bundle, &err);
	wd_buf_release(&file);
	return st;
}

START_TEST(what_is_plain)
{
	struct wd_draft build;
	struct wd_slice metadata;
	bool plain;

	ck_assert_int_eq(wd_draft_init(&build, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_draft_file(&build, wd_slice_text("m"), WD_ROLE_WEIGHTS, NULL),
	    WD_OK);
	ck_assert_int_eq(
	    wd_safetensors_plain(&build, wd_slice_text(headers[_i].header), 8,
		0, &metadata, &plain, NULL),
	    WD_OK);
	ck_assert_msg(plain == headers[_i].plain, "%s", headers[_i].what);
	ck_assert(plain == (build.bundle->tensor_count > 0));
	wd_draft_release(&build);
}
END_TEST

/* A second tensor of no bytes whose name needs an escape makes a header unusual
 * and changes nothing of the first. */
START_TEST(both_ways_agree)
{
	static const char strange[] = T("\\u007a", "[0]", "0", "0") ",";
	static const char usual[] = T("z", "[0]", "0", "0") ",";
	struct wd_slice one = wd_slice_text(usual);
	struct wd_slice other = wd_slice_text(strange);
	struct wd_sha256 encodings, settings;
	enum wd_status st = describe(headers[_i].header, &one);

	if (headers[_i].header[0] != '{' ||
	    strcmp(headers[_i].header, "{}") == 0) {
		wd_bundle_free(&bundle);
		return;
	}
	if (st != WD_OK) {
		ck_assert_int_eq(describe(headers[_i].header, &other), st);
		return;
	}
	encodings = bundle->encoding_digest;
	settings = bundle->settings_digest;
	wd_bundle_free(&bundle);
	ck_assert_int_eq(describe(headers[_i].header, &other), WD_OK);
	ck_assert(wd_sha256_equal(&encodings, &bundle->encoding_digest));
	ck_assert(wd_sha256_equal(&settings, &bundle->settings_digest));
	wd_bundle_free(&bundle);
}
END_TEST

/* ---- indexes --------------------------------------------------------------
 */

#define MAP "\"weight_map\":{\"a\":\"m-1.safetensors\"}"

static const struct {
	const char *what;
	const char *index;
	const char *note; /* NULL: it is read */
} indexes[] = {
	{ "plain", "{\"metadata\":{\"total_size\":8}," MAP "}", NULL },
	{ "without metadata", "{" MAP "}", NULL },
	{ "an escape", "{\"weight_map\":{\"\\u0061\":\"m-1.safetensors\"}}",
	    NULL },
	{ "another member", "{\"x\":1," MAP "}", NULL },
	{ "metadata of another kind", "{\"metadata\":null," MAP "}", NULL },
	{ "a name twice",
	    "{\"weight_map\":{\"a\":\"m-1.safetensors\","
	    "\"b\":\"m-1.safetensors\",\"a\":\"m-1.safetensors\"}}",
	    "a key stands twice" },
	{ "two maps", "{" MAP "," MAP "}", "a key stands twice" },
	{ "broken metadata", "{\"metadata\":{1}," MAP "}", "not valid JSON" },
	{ "metadata with a key twice",
	    "{\"metadata\":{\"a\":1,\"a\":1}," MAP "}", "a key stands twice" },
	{ "no map", "{\"metadata\":{}}", "has no weight_map" },
	{ "something behind it", "{" MAP "}x", "not valid JSON" },
};

START_TEST(indexes_both_ways)
{
	static const char header[] =
	    "\x3b\0\0\0\0\0\0\0{" ONE "}\0\0\0\0\0\0\0";
	static struct memory_folder folder;
	size_t len = strlen("{" ONE "}");
	struct memory_file *file;

	memory_folder_init(&folder);
	file = memory_folder_add(&folder, "m-1.safetensors",
	    (struct wd_slice){ (const uint8_t *)header, 8 + len + 8 });
	file->bytes.data[0] = (uint8_t)len;
	(void)memory_folder_text(
	    &folder, "model.safetensors.index.json", indexes[_i].index);
	wd_error_init(&err);
	ck_assert_int_eq(
	    memory_folder_describe(&folder, "m-1.safetensors", &bundle, &err),
	    WD_OK);
	if (indexes[_i].note == NULL)
		ck_assert_msg(bundle->file_count == 2 && !bundle->incomplete,
		    "%s", indexes[_i].what);
	else
		ck_assert_msg(note_with(bundle, WD_NOTE_INCOMPLETE,
				  indexes[_i].note) != NULL,
		    "%s", indexes[_i].what);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}
END_TEST

WD_SUITE_BEGIN("bundle plain")
WD_LOOP(whole_numbers, numbers);
WD_LOOP(plain_strings, strings);
WD_LOOP(whole_objects, objects);
WD_LOOP(what_is_plain, headers);
WD_LOOP(both_ways_agree, headers);
WD_LOOP(indexes_both_ways, indexes);
WD_SUITE_END
