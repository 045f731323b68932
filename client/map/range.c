#include "map/range.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"

#define MOST_DIGITS 9
#define MOST_BRACKETS 8
#define MOST_SPANS 64
#define MOST_NAME 255 /* RFC 1035, 2.3.4 */

/* "01-64": `width` digits each, 0: as many as it takes. */
struct span {
	uint32_t from, to;
	unsigned width;
};

/* One bracket, and the text before it. */
struct bracket {
	struct wd_slice before;
	struct span spans[MOST_SPANS];
	size_t span_count;
	size_t names; /* that it stands for */
};

struct range {
	struct wd_slice text;
	struct bracket brackets[MOST_BRACKETS];
	size_t bracket_count;
	struct wd_slice after; /* the last bracket */
	size_t names;
};

/* ---- reading ------------------------------------------------------------- */

static enum wd_status
refuse(const struct range *range, const char *what, struct wd_error *err)
{
	char shown[96];

	return wd_fail(err, WD_INVALID,
	    "host \"%s\": %s; write ranges as in gpu-[01-64].dc1 or n[1,3,5-7]",
	    wd_escape_short(shown, sizeof(shown), range->text), what);
}

static bool
read_number(struct wd_slice text, uint32_t *number)
{
	uint64_t value = 0;

	if (text.len == 0 || text.len > MOST_DIGITS ||
	    !wd_slice_number(text, 10, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

static const char *
read_span(struct wd_slice text, struct span *span)
{
	struct wd_slice to = text, from;
	bool padded;

	if (memchr(text.data, '-', text.len) == NULL)
		from = text;
	else
		(void)wd_slice_cut(&to, '-', &from);
	if (!read_number(from, &span->from) || !read_number(to, &span->to))
		return "a bracket holds numbers of at most 9 digits";
	if (span->to < span->from)
		return "a range counts up";
	padded = from.len > 1 && from.data[0] == '0';
	span->width = padded ? (unsigned)from.len : 0;
	if (padded ? to.len != from.len : to.len > 1 && to.data[0] == '0')
		return "both ends of a range have the same number of digits "
		       "when one begins with a zero";
	return NULL;
}

/* What stands between the brackets. */
static const char *
read_spans(struct wd_slice text, struct bracket *bracket)
{
	struct wd_slice rest = text, item = { NULL, 0 };
	const char *wrong;

	if (text.len == 0 || text.data[text.len - 1] == ',')
		return "a bracket is empty or ends with a comma";
	while (wd_slice_cut(&rest, ',', &item)) {
		struct span *span = &bracket->spans[bracket->span_count];

		if (bracket->span_count == MOST_SPANS)
			return "a bracket has more than 64 parts";
		if (item.len == 0)
			return "a bracket has an empty part";
		wrong = read_span(item, span);
		if (wrong != NULL)
			return wrong;
		bracket->span_count++;
		bracket->names += (size_t)span->to - span->from + 1;
	}
	return NULL;
}

static const char *
read_bracket(struct range *range, struct wd_slice *rest)
{
	struct bracket *bracket = &range->brackets[range->bracket_count];
	struct wd_slice inside = { NULL, 0 };
	const char *wrong;

	if (range->bracket_count == MOST_BRACKETS)
		return "it has more than 8 brackets";
	(void)wd_slice_cut(rest, '[', &bracket->before);
	if (memchr(rest->data, ']', rest->len) == NULL)
		return "a bracket is not closed";
	(void)wd_slice_cut(rest, ']', &inside);
	if (memchr(bracket->before.data, ']', bracket->before.len) != NULL)
		return "a bracket is closed that was not opened";
	wrong = read_spans(inside, bracket);
	if (wrong != NULL)
		return wrong;
	range->bracket_count++;
	range->names = range->names > WD_MAX_HOSTS / bracket->names ?
	    WD_MAX_HOSTS + 1 :
	    range->names * bracket->names;
	return NULL;
}

static enum wd_status
read_range(struct wd_slice text, struct range *range, struct wd_error *err)
{
	struct wd_slice rest = text;
	const char *wrong = NULL;

	memset(range, 0, sizeof(*range));
	range->text = text;
	range->names = 1;
	while (wrong == NULL && rest.len > 0 &&
	    memchr(rest.data, '[', rest.len) != NULL)
		wrong = read_bracket(range, &rest);
	if (wrong == NULL && rest.len > 0 &&
	    memchr(rest.data, ']', rest.len) != NULL)
		wrong = "a bracket is closed that was not opened";
	if (wrong != NULL)
		return refuse(range, wrong, err);
	range->after = rest;
	if (text.len + MOST_DIGITS * range->bracket_count > MOST_NAME)
		return refuse(range, "its names are too long", err);
	if (range->names > WD_MAX_HOSTS)
		return wd_fail(err, WD_LIMIT,
		    "host \"%.*s\" stands for more than %d hosts; split the "
		    "map",
		    (int)(text.len < 80 ? text.len : 80),
		    (const char *)text.data, WD_MAX_HOSTS);
	return WD_OK;
}

/* ---- writing ------------------------------------------------------------- */

static void
write_number(const struct bracket *bracket, size_t at, struct wd_buf *name)
{
	const struct span *span = bracket->spans;

	for (; at > span->to - span->from; span++)
		at -= (size_t)(span->to - span->from) + 1;
	(void)wd_buf_printf(
	    name, "%0*u", (int)span->width, (unsigned)(span->from + at));
}

/* Name number `at`. */
static enum wd_status
write_name(const struct range *range, size_t at, struct wd_buf *name)
{
	size_t place = range->names, i;

	wd_buf_reset(name);
	for (i = 0; i < range->bracket_count; i++) {
		const struct bracket *bracket = &range->brackets[i];

		place /= bracket->names;
		(void)wd_buf_append(
		    name, bracket->before.data, bracket->before.len);
		write_number(bracket, at / place % bracket->names, name);
	}
	return wd_buf_append(name, range->after.data, range->after.len);
}

bool
wd_range_is(struct wd_slice text)
{
	return text.len > 0 && memchr(text.data, ':', text.len) == NULL &&
	    (memchr(text.data, '[', text.len) != NULL ||
		memchr(text.data, ']', text.len) != NULL);
}

enum wd_status
wd_range_expand(struct wd_slice text,
    enum wd_status (*each)(void *ctx, const char *name, struct wd_error *err),
    void *ctx, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped)
	struct range *range = wd_calloc(1, sizeof(*range));
	WD_CLEANUP(wd_buf_release) struct wd_buf name = { .data = NULL };
	enum wd_status st;
	size_t i;

	wd_buf_init(&name, MOST_NAME + 1);
	if (range == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	range->text = range->after = text;
	range->names = 1;
	if (text.len > MOST_NAME)
		return refuse(range, "its names are too long", err);
	if (wd_range_is(text) && (st = read_range(text, range, err)) != WD_OK)
		return st;
	for (i = 0; i < range->names; i++) {
		if (write_name(range, i, &name) != WD_OK)
			return wd_fail(err, name.status, "out of memory");
		st = each(ctx, wd_buf_string(&name), err);
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}
