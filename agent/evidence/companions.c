#include "evidence/companions.h"

#include <stdio.h>

#include "evidence/devices.h"

#define GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name

static bool
is_held(const struct wd_model *model)
{
	size_t i;

	for (i = 0; i < model->file_count; i++)
		if (model->files[i].held != WD_NONE)
			return true;
	return false;
}

static bool
is_asleep(const struct wd_model *model)
{
	size_t i;

	for (i = 0; i < model->file_count; i++)
		if (model->bundle->files[model->files[i].bundle_file].role ==
			WD_ROLE_WEIGHTS &&
		    !model->files[i].asleep)
			return false;
	return model->kind == WD_KIND_MODEL;
}

static bool
has_mapped_tensor(const struct wd_model *model)
{
	size_t i;

	for (i = 0; i < model->file_count; i++)
		if (model->files[i].origin == WD_ORIGIN_MAPPED &&
		    model->files[i].coverage.tensors_covered > 0)
			return true;
	return false;
}

static bool
maps_its_models(const struct wd_group *group)
{
	bool any = false;
	size_t i;

	for (i = 0; i < group->model_count; i++) {
		if (group->models[i].kind != WD_KIND_MODEL)
			continue;
		if (group->models[i].grade != GRADE(RESIDENT))
			return false;
		any = true;
	}
	return any;
}

static bool
would_map_draft(const struct wd_look *look, const struct wd_group *group)
{
	return group->engine_asked && group->maps_drafts &&
	    group->sleeps != WD_YES && group->members_complete &&
	    maps_its_models(group) && wd_group_on_device(look, group) == WD_NO;
}

static enum wd_tristate
in_use(const struct wd_look *look, const struct wd_group *group,
    const struct wd_model *model)
{
	bool fixed = group->engine_asked && group->mutable == WD_NO;

	if (has_mapped_tensor(model))
		return model->kind != WD_KIND_ADAPTER || fixed ? WD_YES :
								 WD_NOT_KNOWN;
	if (model->kind == WD_KIND_DRAFT && !is_held(model) &&
	    would_map_draft(look, group))
		return WD_NO;
	return WD_NOT_KNOWN;
}

/* An engine that sleeps, of which not even a file is named: nothing else would
 * say why nothing is there. */
static enum wd_status
note_empty(struct wd_look *look, const struct wd_group *group)
{
	char what[96];

	if (group->model_count > 0 || group->hop_count > 0 ||
	    group->unexplained || !group->members_complete)
		return WD_OK;
	(void)snprintf(
	    what, sizeof(what), "weights of %s", group->sleeps_engine);
	return wd_blinds_add(&look->other_blinds, WD_GONE,
	    look->members[group->members[0]].pid,
	    "send it a request, then ask again", what, WD_ASLEEP);
}

enum wd_status
wd_look_companions(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	bool sleeps = group->engine_asked && group->sleeps == WD_YES;
	size_t i;

	for (i = 0; i < group->model_count; i++) {
		struct wd_model *model = &group->models[i];

		model->in_use = in_use(look, group, model);
		model->asleep = is_asleep(model);
	}
	if (sleeps && note_empty(look, group) != WD_OK)
		return wd_fail(err, WD_NOMEM, "companions: out of memory");
	return WD_OK;
}
