/* yaml.h: the tree, what is refused, and where errors say it is. */
#include "base/yaml.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "support/suite.h"

#define BYTES(text)                                                            \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}

/* The tree on one line: scalars bare or 'quoted', [a,b], {k:v}. */
static void
flatten(const struct wd_yaml *yaml, const struct wd_yaml_node *root,
    struct wd_buf *out)
{
	const struct wd_yaml_node *stack[WD_MAX_YAML_DEPTH + 1], *node = root;
	size_t depth = 0;

	while (node != NULL) {
		if (depth > 0 && node != wd_yaml_first(yaml, stack[depth - 1]))
			wd_buf_byte(out, ',');
		if (depth > 0 && stack[depth - 1]->kind == WD_YAML_MAP) {
			wd_buf_append(out, node->key.data, node->key.len);
			wd_buf_byte(out, ':');
		}
		if (node->kind == WD_YAML_SCALAR) {
			wd_buf_text(out, node->quoted ? "'" : "");
			wd_buf_append(out, node->text.data, node->text.len);
			wd_buf_text(out, node->quoted ? "'" : "");
		} else {
			wd_buf_text(out, node->kind == WD_YAML_MAP ? "{" : "[");
			stack[depth++] = node;
			node = wd_yaml_first(yaml, node);
			if (node != NULL)
				continue;
			node = stack[--depth];
			wd_buf_text(out, node->kind == WD_YAML_MAP ? "}" : "]");
		}
		while (depth > 0 && wd_yaml_next(yaml, node) == NULL) {
			node = stack[--depth];
			wd_buf_text(out, node->kind == WD_YAML_MAP ? "}" : "]");
		}
		node = depth == 0 ? NULL : wd_yaml_next(yaml, node);
	}
}

static const struct {
	struct wd_slice text;
	const char *tree;
} good[] = {
	{ BYTES(""), "" },
	{ BYTES("# nothing\n"), "" },
	{ BYTES("a"), "a" },
	{ BYTES("a: 1\nb: [x, 'y', \"z\"]\n"), "{a:1,b:[x,'y','z']}" },
	{ BYTES("{\"a\": {\"b\": []}, \"c\": {}}"), "{a:{b:[]},c:{}}" },
	{ BYTES("a: |\n  two\n  lines\nb: no\n"), "{a:'two\nlines\n',b:no}" },
	{ BYTES("- a: &x 1\n- '<<': 2\n"), "[{a:1},{<<:2}]" },
	{ BYTES("\xef\xbb\xbf"
		"a: \"\\u00e9\"\n"),
	    "{a:'\xc3\xa9'}" },
	{ BYTES("a:\nb: ~\n"), "{a:,b:~}" },
	{ BYTES("{a: {x: 1}, b: {x: 1}}"), "{a:{x:1},b:{x:1}}" },
	/* Two bytes that become three. */
	{ BYTES("\"\\L\\L\""), "'\xe2\x80\xa8\xe2\x80\xa8'" },
};

START_TEST(good_text)
{
	WD_CLEANUP(wd_yaml_release) struct wd_yaml yaml;
	WD_CLEANUP(wd_buf_release) struct wd_buf out;
	struct wd_error err;

	wd_error_init(&err);
	wd_buf_init(&out, 4096);
	memset(&yaml, 0, sizeof(yaml));
	ck_assert_msg(wd_yaml_parse(good[_i].text, "t", &yaml, &err) == WD_OK,
	    "%s", err.message);
	flatten(&yaml, &yaml.nodes[0], &out);
	ck_assert_str_eq(wd_buf_string(&out), good[_i].tree);
}
END_TEST

static const struct {
	struct wd_slice text;
	enum wd_status status;
	const char *message;
} bad[] = {
	{ BYTES("a: &x 1\nb: *x\n"), WD_MALFORMED, "t:2:4: aliases" },
	{ BYTES("a: 1\nb: 2\n  \na: 3\n"), WD_MALFORMED,
	    "t:4:1: this key stands twice" },
	{ BYTES("{a: 1, 'a': 2}"), WD_MALFORMED, "t:1:8: this key" },
	{ BYTES("x:\n  - {b: 1, c: 2, b: 3}\n"), WD_MALFORMED, "t:2:18: this" },
	{ BYTES("a: !!str 1\n"), WD_MALFORMED, "t:1:4: tags" },
	{ BYTES("a: !x [1]\n"), WD_MALFORMED, "t:1:4: tags" },
	{ BYTES("!x {a: 1}\n"), WD_MALFORMED, "t:1:1: tags" },
	{ BYTES("<<: 1\n"), WD_MALFORMED, "t:1:1: merge keys" },
	{ BYTES("? [a]\n: 1\n"), WD_MALFORMED, "t:1:3: a key must be" },
	{ BYTES("{{}: 1}"), WD_MALFORMED, "t:1:2: a key must be" },
	{ BYTES("a: 1\n---\nb: 2\n"), WD_MALFORMED, "t:2:1: a second doc" },
	{ BYTES("a: \"x\\0y\"\n"), WD_MALFORMED, "t:1:4: a NUL" },
	{ BYTES("\"\\0\": 1\n"), WD_MALFORMED, "t:1:1: a NUL" },
	{ BYTES("a: [1, 2\n"), WD_MALFORMED, "t:2:1: " },
	{ BYTES("a: 1\n b: 2\n"), WD_MALFORMED, "t:2:3: " },
	{ BYTES("a: \xff\n"), WD_MALFORMED, "t: byte 3: " },
	{ BYTES("a: \x01\n"), WD_MALFORMED, "t: byte 3: " },
	{ BYTES("\xff\xfe"
		"a\0"),
	    WD_MALFORMED, "t: byte 0: " },
};

START_TEST(bad_text)
{
	struct wd_yaml yaml;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_int_eq(
	    wd_yaml_parse(bad[_i].text, "t", &yaml, &err), bad[_i].status);
	ck_assert_msg(
	    strncmp(err.message, bad[_i].message, strlen(bad[_i].message)) == 0,
	    "%s", err.message);
	ck_assert_ptr_null(yaml.nodes);
	ck_assert_ptr_null(yaml.texts);
}
END_TEST

static enum wd_status
parse_repeated(const char *unit, size_t count, struct wd_error *err)
{
	WD_CLEANUP(wd_yaml_release) struct wd_yaml yaml;
	WD_CLEANUP(wd_buf_release) struct wd_buf text;

	memset(&yaml, 0, sizeof(yaml));
	wd_buf_init(&text, 64UL << 20);
	while (count-- > 0)
		wd_buf_text(&text, unit);
	return wd_yaml_parse(wd_buf_slice(&text), "t", &yaml, err);
}

START_TEST(caps)
{
	struct wd_error err;

	wd_error_init(&err);
	/* Open to the end: the cap is met before that is noticed. */
	ck_assert_int_eq(
	    parse_repeated("[", WD_MAX_YAML_DEPTH + 1, &err), WD_LIMIT);
	ck_assert_str_eq(err.message, "t:1:33: nested deeper than is read");
	ck_assert_int_eq(
	    parse_repeated("[", WD_MAX_YAML_DEPTH, &err), WD_MALFORMED);
	ck_assert_int_eq(
	    parse_repeated("- a\n", WD_MAX_YAML_NODES, &err), WD_LIMIT);
	ck_assert_int_eq(
	    parse_repeated("- a\n", WD_MAX_YAML_NODES - 1, &err), WD_OK);
	ck_assert_int_eq(
	    parse_repeated("#\n", WD_MAX_YAML_FILE / 2, &err), WD_OK);
	ck_assert_int_eq(
	    parse_repeated("#\n", WD_MAX_YAML_FILE / 2 + 1, &err), WD_LIMIT);
}
END_TEST

START_TEST(places_and_members)
{
	static const struct wd_slice text =
	    BYTES("a: 1\nlist:\n  - x\n  - k:  v\n");
	WD_CLEANUP(wd_yaml_release) struct wd_yaml yaml;
	const struct wd_yaml_node *node;

	memset(&yaml, 0, sizeof(yaml));
	ck_assert_int_eq(wd_yaml_parse(text, "t", &yaml, NULL), WD_OK);
	node = wd_yaml_get(&yaml, &yaml.nodes[0], "list");
	ck_assert_ptr_nonnull(node);
	ck_assert_uint_eq(node->count, 2);
	ck_assert_uint_eq(node->key_line, 2);
	node = wd_yaml_next(&yaml, wd_yaml_first(&yaml, node));
	node = wd_yaml_get(&yaml, node, "k");
	ck_assert_ptr_nonnull(node);
	ck_assert_uint_eq(node->line, 4);
	ck_assert_uint_eq(node->column, 9);
	ck_assert_uint_eq(node->key_column, 5);
	ck_assert_ptr_null(wd_yaml_get(&yaml, node, "k"));
	ck_assert_ptr_null(wd_yaml_get(&yaml, NULL, "k"));
	ck_assert_ptr_null(wd_yaml_get(&yaml, &yaml.nodes[0], "k"));
}
END_TEST

START_TEST(out_of_memory)
{
	static const struct wd_slice text = BYTES("a: {b: [1, 2], c: x}\n");
	uint64_t n;

	for (n = 0;; n++) {
		struct wd_yaml yaml;
		enum wd_status st;
		int failed;

		wd_mem_fail_after(n);
		st = wd_yaml_parse(text, "t", &yaml, NULL);
		failed = wd_mem_has_failed();
		wd_mem_fail_after(UINT64_MAX);
		if (!failed) {
			ck_assert_int_eq(st, WD_OK);
			wd_yaml_release(&yaml);
			break;
		}
		ck_assert_int_eq(st, WD_NOMEM);
		ck_assert_ptr_null(yaml.nodes);
	}
	ck_assert_uint_ge(n, 3);
}
END_TEST

WD_SUITE_BEGIN("base yaml")
WD_LOOP(good_text, good);
WD_LOOP(bad_text, bad);
WD_TEST(caps);
WD_TEST(places_and_members);
WD_TEST(out_of_memory);
WD_SUITE_END
