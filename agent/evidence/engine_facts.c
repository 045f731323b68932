/*
 * What the engine table says of a group: whether its weights can change while
 * it runs, whether parts of it are elsewhere, and the options it was started
 * with. Words of a process may only make the answer more careful (engines.h).
 */
#include <string.h>

#include "base/mem.h"
#include "evidence/engines.h"
#include "evidence/look.h"

/* One YES is enough; NO only when every member says so. */
static enum wd_tristate
join(enum wd_tristate a, enum wd_tristate b)
{
	if (a == WD_YES || b == WD_YES)
		return WD_YES;
	return a == WD_NO && b == WD_NO ? WD_NO : WD_NOT_KNOWN;
}

/* Members that neither own the port nor hold weights say nothing of the
 * engine: shells, log writers, the compilers that engines start. */
static bool
counts(const struct wd_group *group, const struct wd_look *look, size_t member)
{
	size_t i, j;

	if (!look->members[member].candidate)
		return false;
	if (wd_group_is_owner(group, &look->members[member]))
		return true;
	for (i = 0; i < group->held_count; i++)
		for (j = 0;
		     group->held[i].used && j < group->held[i].hold_count; j++)
			if (group->held[i].holds[j].member == member)
				return true;
	return false;
}

static const struct wd_run_setting *
find_setting(const struct wd_run_settings *settings, const char *key)
{
	size_t i;

	for (i = 0; i < settings->count; i++)
		if (strcmp(settings->items[i].key, key) == 0)
			return &settings->items[i];
	return NULL;
}

static void
drop_setting(struct wd_run_settings *settings, const char *key)
{
	size_t i;

	for (i = 0; i < settings->count; i++) {
		if (strcmp(settings->items[i].key, key) != 0)
			continue;
		wd_free(settings->items[i].key);
		wd_free(settings->items[i].value);
		settings->count--;
		memmove(&settings->items[i], &settings->items[i + 1],
		    (settings->count - i) * sizeof(settings->items[i]));
		return;
	}
}

/* An option that two members give differently is in force in neither as far
 * as anybody can tell. */
static bool
keep_common(struct wd_run_settings *all, const struct wd_run_settings *more)
{
	bool agreed = true;
	size_t i = 0;

	while (i < all->count) {
		const struct wd_run_setting *other =
		    find_setting(more, all->items[i].key);

		if (other != NULL &&
		    strcmp(other->value, all->items[i].value) == 0) {
			i++;
			continue;
		}
		agreed = false;
		drop_setting(all, all->items[i].key);
	}
	return agreed && all->count == more->count;
}

static bool
is_set(const struct wd_run_settings *settings, const char *key, const char *to)
{
	const struct wd_run_setting *found = find_setting(settings, key);

	return found != NULL && strcmp(found->value, to) == 0;
}

enum wd_tristate
wd_group_copies(const struct wd_group *group)
{
	/* Tensors that were moved elsewhere by hand may be copies too, and an
	 * option that is not known may do the same. */
	return group->engine_asked && group->may_repack &&
		group->run.complete &&
		is_set(&group->run, "run.repack", "off") &&
		find_setting(&group->run, "run.override_tensor") == NULL ?
	    WD_NO :
	    WD_NOT_KNOWN;
}

static enum wd_status
take_settings(struct wd_group *group, const struct wd_process *process,
    bool first, struct wd_error *err)
{
	struct wd_run_settings more;
	enum wd_status st;
	bool agreed;

	st = wd_engine_run_settings(process, first ? &group->run : &more, err);
	if (st != WD_OK || first)
		return st;
	/* A worker that shows only a title has nothing to add. */
	if (!process->argv_overwritten) {
		agreed = keep_common(&group->run, &more);
		group->run.complete &= more.complete && agreed;
	}
	wd_run_settings_release(&more);
	return WD_OK;
}

static void
learn(enum wd_tristate *known, bool first, enum wd_tristate found)
{
	*known = first ? found : join(*known, found);
}

static void
take_facts(struct wd_group *group, const struct wd_process *p, bool first)
{
	struct wd_recognition found = wd_engine_recognise(p);
	const char *name = found.engine == NULL ? NULL : found.engine->name;
	const char *why_mutable, *why_partial;
	enum wd_tristate mutable = wd_engine_mutable(p, &why_mutable);
	enum wd_tristate partial = wd_engine_partial(p, &why_partial);
	enum wd_tristate sleeps = wd_engine_sleeps(p, NULL);

	if (mutable == WD_YES) {
		group->mutable_reason = why_mutable;
		group->mutable_engine = name;
	}
	if (partial == WD_YES) {
		group->partial_reason = why_partial;
		group->partial_engine = name;
	}
	if (sleeps == WD_YES)
		group->sleeps_engine = name;
	learn(&group->mutable, first, mutable);
	learn(&group->partial, first, partial);
	learn(&group->sleeps, first, sleeps);
	learn(&group->updatable, first,
	    wd_engine_updatable_without_files(p, NULL));
	group->maps_drafts =
	    (first || group->maps_drafts) && wd_engine_maps_drafts(p);
	group->may_repack =
	    (first || group->may_repack) && wd_engine_may_repack(p);
}

enum wd_status
wd_look_engines(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	bool first = true;
	enum wd_status st;
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_process *p =
		    &look->members[group->members[i]].process;

		if (!counts(group, look, group->members[i]))
			continue;
		take_facts(group, p, first);
		st = take_settings(group, p, first, err);
		if (st != WD_OK)
			return st;
		first = false;
	}
	group->engine_asked = !first;
	return WD_OK;
}
