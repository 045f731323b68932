#include "host/linux/names.h"

#include <ctype.h>

#include "host/linux/procfs.h"

static const struct wd_slice none = { NULL, 0 };

struct wd_slice
wd_cgroup_choose(struct wd_slice text)
{
	struct wd_slice line, unified = none, systemd = none, other = none;
	struct wd_cgroup_line parsed;

	while (wd_slice_cut(&text, '\n', &line)) {
		if (!wd_parse_cgroup_line(line, &parsed))
			continue;
		if (parsed.hierarchy == 0)
			unified = parsed.path;
		else if (parsed.path.len <= 1)
			continue;
		else if (wd_slice_equal(
			     parsed.controllers, wd_slice_text("name=systemd")))
			systemd = parsed.path;
		else if (other.len == 0)
			other = parsed.path;
	}
	if (unified.len > 1)
		return unified;
	if (systemd.len > 0)
		return systemd;
	return other.len > 0 ? other : unified;
}

/* ---- units --------------------------------------------------------------- */

static bool
is_unit(struct wd_slice name)
{
	static const char *const kinds[] = { ".service", ".scope", ".socket",
		".mount", ".swap" };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (wd_slice_ends(name, kinds[i]))
			return true;
	return false;
}

/* The next element that is no slice. */
static bool
next_non_slice(struct wd_slice *path, struct wd_slice *name)
{
	while (wd_slice_cut(path, '/', name))
		if (name->len > 0 && !wd_slice_ends(*name, ".slice"))
			return true;
	return false;
}

struct wd_slice
wd_cgroup_unit(struct wd_slice path)
{
	struct wd_slice name, inner;

	if (!next_non_slice(&path, &name) || !is_unit(name))
		return none;
	if (wd_slice_starts(name, "user@") && next_non_slice(&path, &inner) &&
	    is_unit(inner))
		return inner;
	return name;
}

/* ---- containers ---------------------------------------------------------- */

#define CONTAINER_ID_BYTES 64

/* Exactly 64 hexadecimal digits within `name`, with no further one at either
 * side: "docker-ID.scope", "cri-containerd-ID.scope", "ID", "...:ID". */
static struct wd_slice
find_id(struct wd_slice name)
{
	size_t i, run = 0;

	for (i = 0; i <= name.len; i++) {
		if (i < name.len && isxdigit(name.data[i])) {
			run++;
			continue;
		}
		if (run == CONTAINER_ID_BYTES)
			return (struct wd_slice){ name.data + i - run, run };
		run = 0;
	}
	return none;
}

static struct wd_slice
between(struct wd_slice name, const char *start, const char *end)
{
	size_t before = wd_slice_text(start).len;
	size_t after = wd_slice_text(end).len;

	if (!wd_slice_starts(name, start) || !wd_slice_ends(name, end) ||
	    name.len <= before + after)
		return none;
	return (
	    struct wd_slice){ name.data + before, name.len - before - after };
}

static struct wd_slice
named_container(struct wd_slice name, struct wd_slice parent)
{
	static const struct {
		const char *start, *end;
	} forms[] = {
		{ "lxc.payload.", "" },
		{ "systemd-nspawn@", ".service" },
		{ "machine-", ".scope" },
	};
	struct wd_slice found;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		found = between(name, forms[i].start, forms[i].end);
		if (found.len > 0)
			return found;
	}
	if (wd_slice_equal(parent, wd_slice_text("lxc")) ||
	    wd_slice_equal(parent, wd_slice_text("lxc.payload")))
		return name;
	return none;
}

struct wd_slice
wd_cgroup_container(struct wd_slice path)
{
	struct wd_slice name, parent = none, id = none, named = none, found;

	while (wd_slice_cut(&path, '/', &name)) {
		if (name.len == 0)
			continue;
		/* podman's monitor stands beside the container, not in it. */
		if (wd_slice_starts(name, "libpod-conmon-") ||
		    wd_slice_starts(name, "crio-conmon-"))
			return none;
		found = find_id(name);
		if (found.len > 0)
			id = found; /* the innermost one */
		if (named.len == 0)
			named = named_container(name, parent);
		parent = name;
	}
	return id.len > 0 ? id : named;
}
