#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "evidence/look.h"

static void
held_release(struct wd_held *held)
{
	wd_file_release(&held->file);
	wd_bytes_release(&held->path);
	wd_free(held->holds);
}

void
wd_claim_release(struct wd_claim *claim)
{
	wd_free(claim->key);
	wd_bytes_release(&claim->store);
	wd_bytes_release(&claim->label);
	wd_bytes_release(&claim->stored);
	wd_bytes_release(&claim->value);
	wd_bytes_release(&claim->path);
	wd_file_release(&claim->file);
}

static void
model_release(struct wd_model *model)
{
	size_t i;

	for (i = 0; i < model->file_count; i++) {
		if (model->files[i].owned)
			(void)close(model->files[i].fd);
		if (model->files[i].replaced)
			wd_file_release(&model->files[i].path_file);
	}
	for (i = 0; i < model->name_count; i++) {
		wd_free(model->names[i].name);
		wd_free(model->names[i].leads_to);
	}
	for (i = 0; i < model->commit_count; i++)
		wd_bytes_release(&model->commits[i]);
	wd_free(model->names);
	wd_free(model->commits);
	wd_free(model->files);
	wd_free(model->others);
	wd_bytes_release(&model->path);
	wd_bundle_free(&model->bundle);
}

static void
group_release(struct wd_group *group)
{
	size_t i;

	for (i = 0; i < group->model_count; i++)
		model_release(&group->models[i]);
	for (i = 0; i < group->claim_count; i++)
		wd_claim_release(&group->claims[i]);
	for (i = 0; i < group->held_count; i++)
		held_release(&group->held[i]);
	wd_free(group->models);
	wd_free(group->claims);
	wd_free(group->held);
	wd_free(group->members);
	wd_free(group->owners);
	wd_free(group->hops);
	wd_run_settings_release(&group->run);
}

void
wd_member_release(struct wd_member *member)
{
	wd_process_release(&member->process);
	wd_mappings_release(&member->mappings);
	wd_descriptors_release(&member->descriptors);
	wd_device_uses_release(&member->devices);
	wd_free(member->ties);
}

void
wd_look_release(struct wd_look *look)
{
	size_t i;

	for (i = 0; i < look->group_count; i++)
		group_release(&look->groups[i]);
	for (i = 0; i < look->member_count; i++)
		wd_member_release(&look->members[i]);
	wd_free(look->groups);
	wd_free(look->members);
	wd_free(look->listener_group);
	wd_free(look->owners_state);
	wd_listeners_release(&look->listeners);
	wd_listeners_release(&look->all);
	wd_free(look->listening);
	wd_holders_release(&look->holders);
	wd_pids_release(&look->pids);
	wd_blinds_release(&look->listener_blinds);
	wd_blinds_release(&look->owner_blinds);
	wd_blinds_release(&look->weight_blinds);
	wd_blinds_release(&look->other_blinds);
	memset(look, 0, sizeof(*look));
}
