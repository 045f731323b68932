#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/limits.h"
#include "base/mem.h"

/* One parse: where it is, and the containers that are open. */
struct building {
	struct wd_yaml *yaml;
	const char *name;
	struct wd_error *err;
	uint32_t open[WD_MAX_YAML_DEPTH]; /* indexes of nodes */
	size_t depth;
	bool has_key; /* the next node is the value of this key: */
	struct wd_slice key;
	uint32_t key_line, key_column;
	size_t documents;
};

static uint32_t
from_one(size_t zero_based)
{
	return zero_based >= UINT32_MAX ? UINT32_MAX : (uint32_t)zero_based + 1;
}

static enum wd_status
fail_at(const struct building *b, enum wd_status status, uint32_t line,
    uint32_t column, const char *why)
{
	return wd_fail(
	    b->err, status, "%s:%u:%u: %s", b->name, line, column, why);
}

static enum wd_status
fail_event(const struct building *b, enum wd_status status,
    const yaml_event_t *event, const char *why)
{
	return fail_at(b, status, from_one(event->start_mark.line),
	    from_one(event->start_mark.column), why);
}

/* ---- texts ---------------------------------------------------------------
 */

/* All texts together are never longer than the input with its escapes taken
 * apart: an escape of two bytes gives at most three (\N, \_, \L, \P). */
static enum wd_status
keep_text(struct building *b, const yaml_event_t *event, struct wd_slice *text)
{
	struct wd_yaml *y = b->yaml;
	size_t len = event->data.scalar.length;

	if (memchr(event->data.scalar.value, 0, len + 1) !=
	    event->data.scalar.value + len)
		return fail_event(
		    b, WD_MALFORMED, event, "a NUL byte in a text");
	if (len >= y->text_room - y->text_len)
		return fail_event(b, WD_LIMIT, event, "too much text");
	memcpy(y->texts + y->text_len, event->data.scalar.value, len);
	*text = (struct wd_slice){ y->texts + y->text_len, len };
	y->text_len += len;
	return WD_OK;
}

/* ---- nodes ---------------------------------------------------------------
 */

static struct wd_yaml_node *
container(const struct building *b)
{
	return b->depth == 0 ? NULL : &b->yaml->nodes[b->open[b->depth - 1]];
}

static void
append(struct building *b, uint32_t index)
{
	struct wd_yaml_node *parent = container(b);

	if (parent == NULL)
		return;
	if (parent->last == 0)
		parent->first = index;
	else
		b->yaml->nodes[parent->last].next = index;
	parent->last = index;
	parent->count++;
}

static enum wd_status
add_node(struct building *b, enum wd_yaml_kind kind, const yaml_event_t *event,
    struct wd_yaml_node **added)
{
	struct wd_yaml *y = b->yaml;
	struct wd_yaml_node *node;
	enum wd_status st = wd_grow((void **)&y->nodes, y->count, &y->capacity,
	    sizeof(*y->nodes), WD_MAX_YAML_NODES);

	if (st != WD_OK)
		return fail_event(b, st, event,
		    st == WD_LIMIT ? "more values than are read" : "no memory");
	node = &y->nodes[y->count];
	memset(node, 0, sizeof(*node));
	node->kind = kind;
	node->line = from_one(event->start_mark.line);
	node->column = from_one(event->start_mark.column);
	if (b->has_key) {
		node->key = b->key;
		node->key_line = b->key_line;
		node->key_column = b->key_column;
		b->has_key = false;
	}
	append(b, (uint32_t)y->count);
	y->count++;
	*added = node;
	return WD_OK;
}

static bool
wants_key(const struct building *b)
{
	const struct wd_yaml_node *at = container(b);

	return at != NULL && at->kind == WD_YAML_MAP && !b->has_key;
}

static enum wd_status
take_scalar(struct building *b, const yaml_event_t *event)
{
	bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	struct wd_yaml_node *node;
	struct wd_slice text;
	enum wd_status st;

	if (event->data.scalar.tag != NULL)
		return fail_event(b, WD_MALFORMED, event, "tags are refused");
	st = keep_text(b, event, &text);
	if (st != WD_OK)
		return st;
	if (!wants_key(b)) {
		st = add_node(b, WD_YAML_SCALAR, event, &node);
		if (st != WD_OK)
			return st;
		node->text = text;
		node->quoted = quoted;
		return WD_OK;
	}
	if (!quoted && wd_slice_equal(text, wd_slice_text("<<")))
		return fail_event(
		    b, WD_MALFORMED, event, "merge keys are refused");
	b->has_key = true;
	b->key = text;
	b->key_line = from_one(event->start_mark.line);
	b->key_column = from_one(event->start_mark.column);
	return WD_OK;
}

static enum wd_status
take_start(struct building *b, enum wd_yaml_kind kind,
    const yaml_event_t *event, const yaml_char_t *tag)
{
	struct wd_yaml_node *node;
	enum wd_status st;

	if (tag != NULL)
		return fail_event(b, WD_MALFORMED, event, "tags are refused");
	if (wants_key(b))
		return fail_event(
		    b, WD_MALFORMED, event, "a key must be a plain text");
	if (b->depth == WD_MAX_YAML_DEPTH)
		return fail_event(
		    b, WD_LIMIT, event, "nested deeper than is read");
	st = add_node(b, kind, event, &node);
	if (st == WD_OK)
		b->open[b->depth++] = (uint32_t)(b->yaml->count - 1);
	return st;
}

/* ---- keys that stand twice ------------------------------------------------
 */

static int
compare_keys(const void *a, const void *b)
{
	const struct wd_yaml_node *x = *(const struct wd_yaml_node *const *)a;
	const struct wd_yaml_node *y = *(const struct wd_yaml_node *const *)b;
	int order = wd_slice_compare(x->key, y->key);

	/* Members of one map stand in the order of the text. */
	return order != 0 ? order : (x > y) - (x < y);
}

static enum wd_status
take_map_end(struct building *b)
{
	const struct wd_yaml_node *map = container(b), *m;
	WD_CLEANUP(wd_free_scoped) const struct wd_yaml_node **sorted = NULL;
	size_t i = 0;

	sorted = wd_calloc(map->count, sizeof(*sorted));
	if (sorted == NULL)
		return fail_at(
		    b, WD_NOMEM, map->line, map->column, "no memory");
	for (m = wd_yaml_first(b->yaml, map); m != NULL;
	     m = wd_yaml_next(b->yaml, m))
		sorted[i++] = m;
	if (i > 1)
		qsort(sorted, i, sizeof(*sorted), compare_keys);
	while (i-- > 1)
		if (wd_slice_equal(sorted[i]->key, sorted[i - 1]->key))
			return fail_at(b, WD_MALFORMED, sorted[i]->key_line,
			    sorted[i]->key_column, "this key stands twice");
	b->depth--;
	return WD_OK;
}

/* ---- events --------------------------------------------------------------
 */

static enum wd_status
take(struct building *b, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (b->documents++ > 0)
			return fail_event(b, WD_MALFORMED, event,
			    "a second document; one is read");
		return WD_OK;
	case YAML_SCALAR_EVENT:
		return take_scalar(b, event);
	case YAML_SEQUENCE_START_EVENT:
		return take_start(
		    b, WD_YAML_LIST, event, event->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return take_start(
		    b, WD_YAML_MAP, event, event->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
		b->depth--;
		return WD_OK;
	case YAML_MAPPING_END_EVENT:
		return take_map_end(b);
	case YAML_ALIAS_EVENT:
		return fail_event(
		    b, WD_MALFORMED, event, "aliases are refused");
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return WD_OK;
}

static enum wd_status
fail_parser(const struct building *b, const yaml_parser_t *parser)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return wd_fail(b->err, WD_NOMEM, "%s: no memory", b->name);
	/* The reader knows only the byte, not the line. */
	if (parser->error == YAML_READER_ERROR)
		return wd_fail_at(b->err, WD_MALFORMED, parser->problem_offset,
		    "%s: byte %zu: %s", b->name, parser->problem_offset,
		    parser->problem);
	return fail_at(b, WD_MALFORMED, from_one(parser->problem_mark.line),
	    from_one(parser->problem_mark.column),
	    parser->problem != NULL ? parser->problem : "no YAML");
}

static enum wd_status
parse_events(struct building *b, yaml_parser_t *parser)
{
	enum wd_status st = WD_OK;
	bool ended = false;

	while (st == WD_OK && !ended) {
		yaml_event_t event;

		if (!yaml_parser_parse(parser, &event))
			return fail_parser(b, parser);
		st = take(b, &event);
		ended = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	return st;
}

static enum wd_status
parse_all(struct building *b, struct wd_slice text)
{
	static const yaml_event_t nothing;
	struct wd_yaml_node *root;
	yaml_parser_t parser;
	enum wd_status st;

	if (!yaml_parser_initialize(&parser))
		return wd_fail(b->err, WD_NOMEM, "%s: no memory", b->name);
	/* UTF-16 would be recognised by its mark: one encoding is enough. */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
	    &parser, text.len > 0 ? text.data : (const uint8_t *)"", text.len);
	st = parse_events(b, &parser);
	yaml_parser_delete(&parser);
	if (st == WD_OK && b->yaml->count == 0)
		st = add_node(b, WD_YAML_SCALAR, &nothing, &root);
	return st;
}

enum wd_status
wd_yaml_parse(struct wd_slice text, const char *name, struct wd_yaml *yaml,
    struct wd_error *err)
{
	struct building b = { .yaml = yaml, .name = name, .err = err };
	enum wd_status st;

	memset(yaml, 0, sizeof(*yaml));
	if (text.len > WD_MAX_YAML_FILE)
		return wd_fail(err, WD_LIMIT,
		    "%s: %zu bytes, more than the %lu that are read", name,
		    text.len, (unsigned long)WD_MAX_YAML_FILE);
	yaml->text_room = 2 * text.len + 1;
	yaml->texts = wd_calloc(yaml->text_room, 1);
	if (yaml->texts == NULL)
		return wd_fail(err, WD_NOMEM, "%s: no memory", name);
	st = parse_all(&b, text);
	if (st != WD_OK)
		wd_yaml_release(yaml);
	return st;
}

void
wd_yaml_release(struct wd_yaml *yaml)
{
	wd_free(yaml->nodes);
	wd_free(yaml->texts);
	memset(yaml, 0, sizeof(*yaml));
}

const struct wd_yaml_node *
wd_yaml_first(const struct wd_yaml *yaml, const struct wd_yaml_node *node)
{
	return node->first == 0 ? NULL : &yaml->nodes[node->first];
}

const struct wd_yaml_node *
wd_yaml_next(const struct wd_yaml *yaml, const struct wd_yaml_node *node)
{
	return node->next == 0 ? NULL : &yaml->nodes[node->next];
}

const struct wd_yaml_node *
wd_yaml_get(
    const struct wd_yaml *yaml, const struct wd_yaml_node *map, const char *key)
{
	const struct wd_yaml_node *m;

	if (map == NULL || map->kind != WD_YAML_MAP)
		return NULL;
	for (m = wd_yaml_first(yaml, map); m != NULL; m = wd_yaml_next(yaml, m))
		if (wd_slice_equal(m->key, wd_slice_text(key)))
			return m;
	return NULL;
}
