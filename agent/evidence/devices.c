#include "evidence/devices.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/escape.h"
#include "base/size_text.h"

/* ---- which devices --------------------------------------------------------
 */

static bool
computes(enum wd_object_type type, const struct wd_bytes *path)
{
	return type == WD_OBJECT_DEVICE &&
	    wd_host_is_accelerator(wd_bytes_slice(path));
}

static const struct wd_bytes *
open_device(const struct wd_member *member)
{
	size_t i;

	for (i = 0; i < member->descriptors.count; i++) {
		const struct wd_descriptor *d = &member->descriptors.items[i];

		if (computes(d->type, &d->path))
			return &d->path;
	}
	return NULL;
}

static bool
has_open(const struct wd_member *member, const struct wd_bytes *path)
{
	size_t i;

	for (i = 0; i < member->descriptors.count; i++) {
		const struct wd_descriptor *d = &member->descriptors.items[i];

		if (computes(d->type, &d->path) &&
		    wd_slice_equal(
			wd_bytes_slice(&d->path), wd_bytes_slice(path)))
			return true;
	}
	return false;
}

/* A device that is mapped through a handle that was closed since: accounts go
 * by handles, so nobody counts it. */
static const struct wd_bytes *
only_mapped_device(const struct wd_member *member)
{
	size_t i;

	for (i = 0; i < member->mappings.count; i++) {
		const struct wd_mapping *m = &member->mappings.items[i];

		if (computes(m->type, &m->path) && !has_open(member, &m->path))
			return &m->path;
	}
	return NULL;
}

const struct wd_bytes *
wd_member_device(const struct wd_member *member)
{
	const struct wd_bytes *path = open_device(member);

	return path != NULL ? path : only_mapped_device(member);
}

/* ---- what is on them ------------------------------------------------------
 */

static bool
was_seen(const struct wd_member *member)
{
	return member->mappings_status == WD_OK && member->mappings.complete &&
	    member->descriptors_status == WD_OK && member->descriptors.complete;
}

enum wd_status
wd_look_devices(struct wd_look *look, struct wd_member *member)
{
	enum wd_status st;

	member->holds_device = WD_NO;
	if (wd_member_device(member) != NULL)
		member->holds_device = WD_YES;
	else if (!member->ended && !was_seen(member))
		member->holds_device = WD_NOT_KNOWN;
	if (open_device(member) == NULL)
		return WD_OK;
	st = wd_host_device_uses(look->with->host, &member->process,
	    &member->descriptors, look->deadline, &member->devices, NULL);
	if (st != WD_OK)
		member->devices.complete = false;
	return st == WD_NOMEM ? st : WD_OK;
}

static const struct wd_device_use *
unknown_use(const struct wd_member *member)
{
	size_t i;

	for (i = 0; i < member->devices.count; i++)
		if (!member->devices.items[i].bytes_known)
			return &member->devices.items[i];
	return NULL;
}

/* Rule 1. */
static bool
is_accounted_for(const struct wd_member *member)
{
	return was_seen(member) && only_mapped_device(member) == NULL &&
	    member->devices.complete && member->devices.count > 0 &&
	    unknown_use(member) == NULL;
}

bool
wd_member_devices_known(const struct wd_member *member)
{
	return member->holds_device == WD_NO || is_accounted_for(member);
}

uint64_t
wd_member_device_bytes(const struct wd_member *member)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < member->devices.count; i++)
		if (member->devices.items[i].bytes_known &&
		    !wd_add_u64(bytes, member->devices.items[i].bytes, &bytes))
			return UINT64_MAX;
	return bytes;
}

enum wd_tristate
wd_member_on_device(const struct wd_member *member)
{
	if (member->holds_device == WD_NO)
		return WD_NO;
	if (wd_member_device_bytes(member) >= WD_DEVICE_CONTEXT_BYTES)
		return WD_YES;
	if (member->holds_device == WD_YES && is_accounted_for(member))
		return WD_NO;
	return WD_NOT_KNOWN;
}

enum wd_tristate
wd_group_on_device(const struct wd_look *look, const struct wd_group *group)
{
	enum wd_tristate known = WD_NO;
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];
		enum wd_tristate one =
		    m->candidate ? wd_member_on_device(m) : WD_NO;

		if (one == WD_YES)
			return WD_YES;
		if (one == WD_NOT_KNOWN)
			known = WD_NOT_KNOWN;
	}
	return known;
}

enum wd_status
wd_look_devices_again(struct wd_look *look, const struct wd_member *member,
    const struct wd_descriptors *now, bool *came)
{
	struct wd_member again = *member;
	enum wd_status st;

	*came = false;
	if (wd_member_on_device(member) != WD_NO)
		return WD_OK;
	/* All but its devices stays borrowed. */
	again.descriptors = *now;
	memset(&again.devices, 0, sizeof(again.devices));
	st = wd_look_devices(look, &again);
	*came = st == WD_OK && wd_member_on_device(&again) != WD_NO;
	wd_device_uses_release(&again.devices);
	return st;
}

/* ---- blind spots ----------------------------------------------------------
 */

/* Why the member's devices are not accounted for. */
static void
explain(const struct wd_member *member, char *reason, size_t size)
{
	const struct wd_device_use *use = unknown_use(member);

	if (use != NULL)
		(void)snprintf(
		    reason, size, "%s: %s", use->device, use->reason);
	else if (only_mapped_device(member) != NULL)
		(void)snprintf(reason, size,
		    "its handle was closed and its memory is still mapped, "
		    "which no driver accounts for");
	else
		(void)snprintf(reason, size,
		    "this system does not account for the memory of its "
		    "handles");
}

static enum wd_status
blind_handle(struct wd_look *look, const struct wd_member *member)
{
	const struct wd_bytes *path = wd_member_device(member);
	const struct wd_bytes *mapped = only_mapped_device(member);
	char shown[128], what[192], reason[384];

	if (mapped != NULL && unknown_use(member) == NULL)
		path = mapped;
	(void)wd_escape_short(shown, sizeof(shown), wd_bytes_slice(path));
	(void)snprintf(what, sizeof(what),
	    "memory of device %s held by process %d", shown, (int)member->pid);
	explain(member, reason, sizeof(reason));
	return wd_blinds_add(&look->weight_blinds, WD_UNSUPPORTED, member->pid,
	    "compare its size with what the vendor's tool reports", what,
	    reason);
}

static void
name_devices(const struct wd_member *member, char *names, size_t size)
{
	size_t i, used = 0;
	int more;

	names[0] = '\0';
	for (i = 0; i < member->devices.count && used < size; i++) {
		if (member->devices.items[i].bytes == 0)
			continue;
		more = snprintf(names + used, size - used, "%s%s",
		    used == 0 ? "" : ", ", member->devices.items[i].device);
		used += more < 0 ? 0 : (size_t)more;
	}
}

/* Rule 3. */
static enum wd_status
blind_bytes(
    struct wd_look *look, const struct wd_member *member, uint64_t explained)
{
	char size[WD_SIZE_TEXT_BYTES], part[WD_SIZE_TEXT_BYTES];
	char names[160], what[256], reason[256];

	name_devices(member, names, sizeof(names));
	(void)snprintf(what, sizeof(what), "%s of process %d on device %s",
	    wd_size_text(wd_member_device_bytes(member), size),
	    (int)member->pid, names);
	if (explained == 0)
		(void)snprintf(reason, sizeof(reason),
		    "no file that is held explains it; weights that were read "
		    "and closed leave nothing else");
	else
		(void)snprintf(reason, sizeof(reason),
		    "the weights that are held explain %s of it; the rest may "
		    "be the engine's caches, or other weights",
		    wd_size_text(explained, part));
	return wd_blinds_add(&look->weight_blinds, WD_UNSUPPORTED, member->pid,
	    explained == 0 ?
		"let the engine keep its file mapped, so that the weights can "
		"be seen" :
		"compare it with the sizes that the engine's log gives for "
		"weights and caches",
	    what, reason);
}

enum wd_status
wd_look_blind_devices(struct wd_look *look, struct wd_group *group,
    const struct wd_member *member, uint64_t explained)
{
	uint64_t bytes = wd_member_device_bytes(member);

	if (member->holds_device != WD_YES)
		return WD_OK;
	if (!is_accounted_for(member)) {
		group->unexplained = true;
		return blind_handle(look, member);
	}
	if (bytes < WD_DEVICE_CONTEXT_BYTES || bytes <= explained)
		return WD_OK;
	group->unexplained = true;
	return blind_bytes(look, member, explained);
}
