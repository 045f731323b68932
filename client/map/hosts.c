#include "map/hosts.h"

#include <search.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "map/range.h"

static int
by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

void
wd_hosts_release(struct wd_hosts *hosts)
{
	size_t i;

	for (i = 0; i < hosts->count; i++) {
		(void)tdelete(hosts->items[i], &hosts->tree, by_name);
		wd_free(hosts->items[i]);
	}
	wd_free(hosts->items);
	memset(hosts, 0, sizeof(*hosts));
}

/* ---- one name ------------------------------------------------------------ */

static enum wd_status
add_name(void *ctx, const char *name, struct wd_error *err)
{
	struct wd_hosts *hosts = ctx;
	char *copy;
	enum wd_status st;

	if (tfind(name, &hosts->tree, by_name) != NULL)
		return WD_OK;
	st = wd_grow((void **)&hosts->items, hosts->count, &hosts->capacity,
	    sizeof(*hosts->items), WD_MAX_HOSTS);
	if (st == WD_LIMIT)
		return wd_fail(err, st,
		    "more than %d hosts; ask for the fleet in parts",
		    WD_MAX_HOSTS);
	copy = st == WD_OK ? wd_strdup(name) : NULL;
	if (copy == NULL || tsearch(copy, &hosts->tree, by_name) == NULL) {
		wd_free(copy);
		return wd_fail(err, WD_NOMEM, "out of memory");
	}
	hosts->items[hosts->count++] = copy;
	return WD_OK;
}

static bool
is_plain(struct wd_slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (text.data[i] <= ' ' || text.data[i] >= 0x7f ||
		    text.data[i] == '/' || text.data[i] == '@')
			return false;
	return text.len > 0;
}

enum wd_status
wd_hosts_add(struct wd_hosts *hosts, struct wd_slice text, struct wd_error *err)
{
	char shown[96];

	if (!is_plain(text))
		return wd_fail(err, WD_INVALID,
		    "\"%s\" is no host; write a name or an address alone",
		    wd_escape_short(shown, sizeof(shown), text));
	return wd_range_expand(text, add_name, hosts, err);
}

/* ---- lines --------------------------------------------------------------- */

static struct wd_slice
trim(struct wd_slice text)
{
	while (text.len > 0 && text.data[0] <= ' ') {
		text.data++;
		text.len--;
	}
	while (text.len > 0 && text.data[text.len - 1] <= ' ')
		text.len--;
	return text;
}

static enum wd_status
at_line(struct wd_error *err, enum wd_status st, const char *name,
    uint32_t line, uint32_t column, const struct wd_error *why)
{
	if (column == 0)
		return wd_fail(
		    err, st, "%s:%u: %s", name, (unsigned)line, why->message);
	return wd_fail(err, st, "%s:%u:%u: %s", name, (unsigned)line,
	    (unsigned)column, why->message);
}

static enum wd_status
require_some(
    const struct wd_hosts *hosts, const char *name, struct wd_error *err)
{
	if (hosts->count > 0)
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "%s: names no host; an empty fleet proves nothing", name);
}

enum wd_status
wd_hosts_add_lines(struct wd_hosts *hosts, const char *name,
    struct wd_slice text, struct wd_error *err)
{
	struct wd_slice rest = text, line = { NULL, 0 }, host;
	struct wd_error why;
	uint32_t number = 0;
	enum wd_status st;

	wd_error_init(&why);
	while (wd_slice_cut(&rest, '\n', &line)) {
		number++;
		host = line; /* an empty one is not cut */
		(void)wd_slice_cut(&line, '#', &host);
		host = trim(host);
		if (host.len == 0)
			continue;
		st = wd_hosts_add(hosts, host, &why);
		if (st != WD_OK)
			return at_line(err, st, name, number, 0, &why);
	}
	return require_some(hosts, name, err);
}

/* ---- file_sd ------------------------------------------------------------- */

static bool
has_colon(struct wd_slice text)
{
	return text.len > 0 && memchr(text.data, ':', text.len) != NULL;
}

/* "HOST:PORT" without the port; "[::1]:9100" without brackets too. */
static struct wd_slice
host_of(struct wd_slice target)
{
	struct wd_slice rest = target, host = { NULL, 0 };

	if (wd_slice_starts(target, "[")) {
		rest.data++;
		rest.len--;
		(void)wd_slice_cut(&rest, ']', &host);
		if (has_colon(host))
			return host;
		rest = target;
	}
	(void)wd_slice_cut(&rest, ':', &host);
	/* Two colons: an address without brackets and port. */
	return has_colon(rest) ? target : host;
}

static enum wd_status
add_targets(struct wd_hosts *hosts, const char *name,
    const struct wd_yaml *yaml, const struct wd_yaml_node *group,
    struct wd_error *err)
{
	const struct wd_yaml_node *targets =
	    wd_yaml_get(yaml, group, "targets");
	const struct wd_yaml_node *node;
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	if (targets == NULL || targets->kind != WD_YAML_LIST)
		return wd_fail(err, WD_INVALID,
		    "%s:%u:%u: a group of file_sd has a list `targets`", name,
		    (unsigned)group->line, (unsigned)group->column);
	for (node = wd_yaml_first(yaml, targets); node != NULL;
	     node = wd_yaml_next(yaml, node)) {
		st = wd_hosts_add(hosts,
		    node->kind == WD_YAML_SCALAR ? host_of(node->text) :
						   (struct wd_slice){ NULL, 0 },
		    &why);
		if (st != WD_OK)
			return at_line(
			    err, st, name, node->line, node->column, &why);
	}
	return WD_OK;
}

enum wd_status
wd_hosts_add_file_sd(struct wd_hosts *hosts, const char *name,
    struct wd_slice text, struct wd_error *err)
{
	WD_CLEANUP(wd_yaml_release) struct wd_yaml yaml = { .nodes = NULL };
	const struct wd_yaml_node *group;
	enum wd_status st = wd_yaml_parse(text, name, &yaml, err);

	if (st != WD_OK)
		return st;
	if (yaml.nodes[0].kind != WD_YAML_LIST)
		return wd_fail(err, WD_INVALID,
		    "%s: is no file_sd file, which is a list of groups with "
		    "`targets`",
		    name);
	for (group = wd_yaml_first(&yaml, &yaml.nodes[0]);
	     group != NULL && st == WD_OK; group = wd_yaml_next(&yaml, group))
		st = add_targets(hosts, name, &yaml, group, err);
	return st == WD_OK ? require_some(hosts, name, err) : st;
}
