#include "evidence/blind.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/escape.h"
#include "evidence/devices.h"
#include "evidence/remedy.h"

/* Smaller unknown files are locale archives, fonts and logs. */
#define LARGE_FILE_BYTES (1ULL << 20)
/* Memory below this holds no language model worth serving. */
#define LARGE_MEMORY_BYTES (256ULL << 20)
/* More blind spots of one kind than anybody reads. */
#define MAX_FILES_NAMED 8

/* A program of this size may carry its weights inside itself. */
#define LARGE_PROGRAM_BYTES (256ULL << 20)

static enum wd_status
blind_file(
    struct wd_look *look, struct wd_group *group, const struct wd_held *held)
{
	char shown[256], what[384];
	enum wd_status why =
	    held->open_status != WD_OK ? held->open_status : held->sniff_status;
	struct wd_refusal words = { "its content is of no format that we read",
		"a format that the agent does not know yet needs a newer "
		"agent" };

	if (why != WD_OK)
		words = wd_look_remedy(look, WD_REFUSED_OBJECT, why);
	(void)wd_escape_short(
	    shown, sizeof(shown), wd_bytes_slice(&held->path));
	(void)snprintf(what, sizeof(what), "held file %s (%" PRIu64 " bytes)",
	    shown, held->first_state.size_bytes);
	group->unexplained = true;
	return wd_blinds_add(&look->weight_blinds,
	    held->open_status == WD_OK ? WD_UNSUPPORTED : held->open_status,
	    look->members[held->holds[0].member].pid, words.remedy, what,
	    words.reason);
}

static bool
is_own_program(const struct wd_look *look, const struct wd_held *held)
{
	size_t i;

	for (i = 0; i < held->hold_count; i++) {
		const struct wd_identity *id =
		    &look->members[held->holds[i].member].process.identity;

		if (id->generation_known &&
		    id->exe_device == held->first_state.device &&
		    id->exe_inode == held->first_state.inode)
			return true;
	}
	return false;
}

/* Code is no weights, however large a library is; a program of its own can be
 * both in one file. */
static bool
is_blind(const struct wd_look *look, const struct wd_held *held)
{
	uint64_t size = held->first_state.size_bytes;

	if (held->hold_count == 0 || held->used ||
	    held->open_status == WD_INVALID)
		return false;
	if (held->open_status != WD_OK || held->sniff_status != WD_OK)
		return true;
	if (held->format != WD_FORMAT_UNKNOWN)
		return false;
	if (held->executable)
		return size >= LARGE_PROGRAM_BYTES &&
		    is_own_program(look, held);
	return size >= LARGE_FILE_BYTES;
}

static enum wd_status
blind_rest(struct wd_look *look, struct wd_group *group, unsigned more)
{
	char what[96];

	if (more == 0 && !group->too_many)
		return WD_OK;
	if (group->too_many)
		(void)snprintf(what, sizeof(what),
		    "held files beyond the first %zu", group->held_count);
	else
		(void)snprintf(what, sizeof(what), "%u more held files", more);
	group->unexplained = true;
	return wd_blinds_add(&look->weight_blinds,
	    group->too_many ? WD_LIMIT : WD_UNSUPPORTED, 0,
	    "see the blind spots before this one", what,
	    group->too_many ? "no more are looked into" :
			      "not listed one by one");
}

static enum wd_status
blind_files(struct wd_look *look, struct wd_group *group)
{
	enum wd_status st = WD_OK;
	unsigned named = 0;
	size_t i;

	for (i = 0; i < group->held_count && st == WD_OK; i++)
		if (is_blind(look, &group->held[i]) &&
		    named++ < MAX_FILES_NAMED)
			st = blind_file(look, group, &group->held[i]);
	if (st != WD_OK)
		return st;
	return blind_rest(
	    look, group, named > MAX_FILES_NAMED ? named - MAX_FILES_NAMED : 0);
}

static uint64_t
memory_of(const struct wd_process *p)
{
	return p->rss_anon_bytes + p->rss_shmem_bytes + p->swap_bytes +
	    p->hugetlb_bytes;
}

bool
wd_is_large_memory(const struct wd_process *process)
{
	return memory_of(process) >= LARGE_MEMORY_BYTES;
}

/* Whether a member holds it that is not only tied. */
static bool
is_held_by_own(const struct wd_look *look, const struct wd_held *held)
{
	size_t i;

	for (i = 0; i < held->hold_count; i++)
		if (look->members[held->holds[i].member].role != WD_MEMBER_TIED)
			return true;
	return false;
}

/* A model that only tied processes hold accounts for no memory of others. */
static bool
accounts_for(const struct wd_look *look, const struct wd_group *group,
    const struct wd_model *model, const struct wd_member *member)
{
	size_t i;

	if (member->role == WD_MEMBER_TIED)
		return true;
	for (i = 0; i < model->file_count; i++)
		if (model->files[i].held == WD_NONE ||
		    is_held_by_own(look, &group->held[model->files[i].held]))
			return true;
	return false;
}

/* Bytes of the models that held files account for: what is only named explains
 * nothing, and an adapter accounts for no model. */
static uint64_t
explained_bytes(const struct wd_look *look, const struct wd_group *group,
    const struct wd_member *member)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < group->model_count; i++)
		if (group->models[i].kind == WD_KIND_MODEL &&
		    group->models[i].grade >=
			WEIGHTD__V1__GRADE__GRADE_INFERRED &&
		    accounts_for(look, group, &group->models[i], member) &&
		    !wd_add_u64(
			bytes, group->models[i].bundle->tensor_bytes, &bytes))
			bytes = UINT64_MAX;
	return bytes;
}

/* Memory in which a model could be that no file shows: beside one that is
 * seen, another as large. */
static enum wd_status
blind_memory(struct wd_look *look, struct wd_group *group,
    const struct wd_member *member)
{
	uint64_t bytes = memory_of(&member->process);
	char what[160];

	if (!wd_is_large_memory(&member->process) ||
	    bytes < explained_bytes(look, group, member))
		return WD_OK;
	(void)snprintf(what, sizeof(what),
	    "%" PRIu64 " MiB of memory of process %d", bytes >> 20,
	    (int)member->pid);
	group->unexplained = true;
	return wd_blinds_add(&look->weight_blinds, WD_UNSUPPORTED, member->pid,
	    "start the engine with memory mapping on, so that its weights "
	    "can be seen",
	    what,
	    "no file explains it; weights that were read and closed "
	    "leave nothing else");
}

static uint64_t
own_bytes(const struct wd_look *look, const struct wd_group *group)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < group->held_count; i++)
		if (group->held[i].used &&
		    is_held_by_own(look, &group->held[i]) &&
		    !wd_add_u64(
			bytes, group->held[i].first_state.size_bytes, &bytes))
			bytes = UINT64_MAX;
	return bytes;
}

bool
wd_group_keeps_secrets(const struct wd_look *look, const struct wd_group *group)
{
	uint64_t explained = own_bytes(look, group);
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];

		if (m->candidate && m->role != WD_MEMBER_TIED &&
		    (wd_member_on_device(m) != WD_NO ||
			(wd_is_large_memory(&m->process) &&
			    memory_of(&m->process) >= explained)))
			return true;
	}
	for (i = 0; i < group->held_count; i++)
		if (is_blind(look, &group->held[i]) &&
		    is_held_by_own(look, &group->held[i]))
			return true;
	return group->unexplained || group->too_many;
}

static enum wd_status
blind_member(struct wd_look *look, const struct wd_member *member)
{
	enum wd_status why = member->mappings_status != WD_OK ?
	    member->mappings_status :
	    member->descriptors_status;
	struct wd_refusal words;
	char what[96];

	if (why == WD_OK && member->mappings.complete &&
	    member->descriptors.complete)
		return WD_OK;
	if (why == WD_OK)
		why = WD_TIMEDOUT;
	(void)snprintf(what, sizeof(what),
	    "mappings and descriptors of process %d", (int)member->pid);
	words = wd_look_remedy(look, WD_REFUSED_PROCESS, why);
	return wd_blinds_add(&look->weight_blinds, why, member->pid,
	    words.remedy, what, words.reason);
}

enum wd_status
wd_look_blind(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	enum wd_status st = blind_files(look, group);
	size_t i;

	for (i = 0; i < group->member_count && st == WD_OK; i++) {
		const struct wd_member *m = &look->members[group->members[i]];

		if (!m->candidate)
			continue;
		st = blind_member(look, m);
		if (st == WD_OK)
			st = wd_look_blind_devices(
			    look, group, m, explained_bytes(look, group, m));
		if (st == WD_OK)
			st = blind_memory(look, group, m);
	}
	if (st != WD_OK)
		return wd_fail(err, st, "blind spots: out of memory");
	return WD_OK;
}
