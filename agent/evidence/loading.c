/*
 * LOADING: a server that answers before its weights are there is not wrong
 * yet. An engine may bind its port first and load then (llama-server), let
 * children read shards for minutes (vLLM), or read the file into memory and
 * close it.
 *
 * A group is LOADING when an owner or descendant, within this look,
 *   - moves through an open weight file of a model that is not yet WITNESSED
 *     (read, lseek: the position), or
 *   - is young, has such a file open or partly mapped, and its read counter or
 *     its memory grows by more than requests explain (pread, page faults of a
 *     mapping, copies); or when, with no model INFERRED or better,
 *   - it is very young, names a model that is there, and has neither read nor
 *     does it hold as many bytes as that model has.
 * Nothing of it raises a grade: LOADING only keeps a verdict from being drawn.
 * What nobody can tell from a loaded server is one that waits: it has neither
 * an open file nor reads, and is NONE or CLAIMED.
 */
#include <string.h>
#include <time.h>

#include "base/checked.h"
#include "base/mem.h"
#include "evidence/devices.h"
#include "evidence/look.h"

#define GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name

/* The largest models take minutes from a cold disk, not hours. */
#define YOUNG_NS (600 * WD_NS_PER_SECOND)
/* Programs of Python take this long to come to their first read. */
#define VERY_YOUNG_NS (60 * WD_NS_PER_SECOND)
/* A loader reads more than that in one pause, and a chat request less. */
#define GROWTH_BYTES (1ULL << 20)
#define SAMPLES 3
#define SAMPLE_PAUSE_NS (50 * WD_NS_PER_MS)

static bool
is_younger(const struct wd_look *look, const struct wd_member *m, int64_t ns)
{
	int64_t now = wd_clock_real_ns(look->with->clock);

	return m->process.start_real_ns > 0 &&
	    now - m->process.start_real_ns < ns;
}

static uint64_t
memory_of(const struct wd_process *p)
{
	return p->rss_anon_bytes + p->rss_file_bytes + p->rss_shmem_bytes +
	    p->swap_bytes + p->hugetlb_bytes;
}

static bool
may_load(const struct wd_member *m)
{
	return m->candidate && !m->ended && m->role != WD_MEMBER_TIED;
}

/* ---- what the member holds of models that are not there yet ---------------
 */

static bool
holds(const struct wd_group *group, const struct wd_model_file *file,
    size_t member, bool open)
{
	const struct wd_held *held;
	size_t i;

	if (file->held == WD_NONE || file->grade >= GRADE(WITNESSED))
		return false;
	held = &group->held[file->held];
	for (i = 0; i < held->hold_count; i++)
		if (held->holds[i].member == member &&
		    held->holds[i].is_mapping != open)
			return true;
	return false;
}

/* Whether the descriptor is of a weight file that is not WITNESSED. */
static bool
is_unfinished(const struct wd_group *group, const struct wd_descriptor *d)
{
	size_t i, j;

	for (i = 0; i < group->model_count; i++)
		for (j = 0; j < group->models[i].file_count; j++) {
			const struct wd_model_file *file =
			    &group->models[i].files[j];
			const struct wd_file_state *s = file->held == WD_NONE ?
			    NULL :
			    &group->held[file->held].first_state;

			if (s != NULL && file->grade < GRADE(WITNESSED) &&
			    s->device == d->device && s->inode == d->inode)
				return true;
		}
	return false;
}

static bool
has_unfinished(const struct wd_group *group, size_t member, bool open)
{
	size_t i, j;

	for (i = 0; i < group->model_count; i++)
		for (j = 0; j < group->models[i].file_count; j++)
			if (holds(group, &group->models[i].files[j], member,
				open))
				return true;
	return false;
}

/* ---- two moments ----------------------------------------------------------
 */

/* The position of the same descriptor in an earlier list; UINT64_MAX: it was
 * not there. */
static uint64_t
position_before(
    const struct wd_descriptors *before, const struct wd_descriptor *d)
{
	size_t i;

	for (i = 0; i < before->count; i++)
		if (before->items[i].tid == d->tid &&
		    before->items[i].fd == d->fd &&
		    before->items[i].inode == d->inode)
			return before->items[i].position;
	return UINT64_MAX;
}

static bool
has_moved(const struct wd_group *group, const struct wd_member *m,
    const struct wd_descriptors *now)
{
	size_t i;

	for (i = 0; i < now->count; i++) {
		const struct wd_descriptor *d = &now->items[i];
		uint64_t before = position_before(&m->descriptors, d);

		if (wd_may_be_weights(d->type) && before != UINT64_MAX &&
		    before != d->position && is_unfinished(group, d))
			return true;
	}
	return false;
}

static bool
has_grown(const struct wd_member *m, const struct wd_process *now)
{
	const struct wd_process *then = &m->process;

	return (then->io_status == WD_OK && now->io_status == WD_OK &&
		   now->read_bytes >= then->read_bytes + GROWTH_BYTES) ||
	    memory_of(now) >= memory_of(then) + GROWTH_BYTES;
}

static enum wd_status
sample(struct wd_look *look, const struct wd_group *group,
    const struct wd_member *m, bool young, bool *loads)
{
	WD_CLEANUP(wd_process_release) struct wd_process now = { 0 };
	WD_CLEANUP(wd_descriptors_release) struct wd_descriptors rows = { 0 };
	enum wd_status st =
	    wd_host_process(look->with->host, m->pid, &now, NULL);

	if (st == WD_OK)
		*loads = young && has_grown(m, &now);
	if (st != WD_OK || *loads)
		return st == WD_NOMEM ? st : WD_OK;
	st = wd_host_descriptors(
	    look->with->host, &m->process, look->deadline, &rows, NULL);
	if (st == WD_OK)
		*loads = has_moved(group, m, &rows);
	return st == WD_NOMEM ? st : WD_OK;
}

static enum wd_status
watch(struct wd_look *look, struct wd_group *group, size_t member)
{
	const struct timespec pause = { 0, SAMPLE_PAUSE_NS };
	const struct wd_member *m = &look->members[member];
	bool young = is_younger(look, m, YOUNG_NS);
	bool open = has_unfinished(group, member, true);
	enum wd_status st = WD_OK;
	unsigned i;

	if (!open && !(young && has_unfinished(group, member, false)))
		return WD_OK;
	for (i = 0; i < SAMPLES && st == WD_OK && !group->loading; i++) {
		if (i > 0)
			(void)nanosleep(&pause, NULL);
		if (wd_deadline_passed(look->deadline))
			break;
		st = sample(look, group, m, young, &group->loading);
	}
	return st;
}

/* ---- what has not begun ----------------------------------------------------
 */

static bool
has_model(const struct wd_group *group)
{
	size_t i;

	for (i = 0; i < group->model_count; i++)
		if (group->models[i].kind == WD_KIND_MODEL &&
		    group->models[i].grade >= GRADE(INFERRED))
			return true;
	return false;
}

static bool
has_bytes(const struct wd_member *m, uint64_t wanted)
{
	uint64_t on_devices = wd_member_device_bytes(m);

	/* What cannot be counted may be enough. */
	return m->process.io_status != WD_OK || !wd_member_devices_known(m) ||
	    m->process.read_bytes >= wanted ||
	    memory_of(&m->process) >= wanted || on_devices >= wanted;
}

static bool
has_not_begun(const struct wd_look *look, const struct wd_group *group)
{
	uint64_t wanted = UINT64_MAX;
	bool young = false;
	size_t i;

	for (i = 0; i < group->model_count; i++)
		if (group->models[i].named_model &&
		    group->models[i].bundle->tensor_bytes < wanted)
			wanted = group->models[i].bundle->tensor_bytes;
	if (wanted == UINT64_MAX || has_model(group))
		return false;
	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];

		if (!may_load(m))
			continue;
		if (has_bytes(m, wanted))
			return false;
		young |= is_younger(look, m, VERY_YOUNG_NS);
	}
	return young;
}

enum wd_status
wd_look_loading(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i;

	if (group->orphan_weights)
		return WD_OK;
	group->loading = has_not_begun(look, group);
	for (i = 0; i < group->member_count && st == WD_OK && !group->loading;
	     i++)
		if (may_load(&look->members[group->members[i]]))
			st = watch(look, group, group->members[i]);
	return st == WD_OK ? st : wd_fail(err, st, "loading: out of memory");
}
