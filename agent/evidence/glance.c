/*
 * A first glance at a process: does it hold weights at all? Decides who is a
 * candidate and who outlived a server; the full look is held.c's.
 */
#include "evidence/blind.h"
#include "evidence/devices.h"
#include "evidence/look.h"

/* Below this no engine would map a model; keeps the search off small files. */
#define SMALL_BYTES 1024
/* Larger files of unknown content are no locale archives or fonts. */
#define LARGE_DATA (16ULL << 20)

/* Raises NO to what was found; YES stays. */
static void
learn(enum wd_tristate *known, enum wd_tristate found)
{
	if (*known == WD_NO || found == WD_YES)
		*known = found;
}

enum wd_tristate
wd_look_is_weights(struct wd_look *look, const struct wd_object_ref *ref,
    const struct wd_mapping *row)
{
	struct wd_file file = { .fd = -1 };
	enum wd_bundle_format format = WD_FORMAT_UNKNOWN;
	enum wd_status st =
	    wd_host_open_object(look->with->host, ref, row, &file, NULL);

	if (st == WD_GONE || st == WD_INVALID)
		return WD_NO;
	if (st == WD_OK)
		st =
		    wd_reader_sniff(look->with->reader, file.fd, &format, NULL);
	wd_file_release(&file);
	if (st != WD_OK)
		return WD_NOT_KNOWN;
	return format == WD_FORMAT_UNKNOWN ? WD_NO : WD_YES;
}

enum wd_tristate
wd_look_maps_weights(struct wd_look *look, const struct wd_process *process,
    const struct wd_mappings *rows)
{
	enum wd_tristate known = rows->complete ? WD_NO : WD_NOT_KNOWN;
	size_t i;

	for (i = 0; i < rows->count && known != WD_YES; i++) {
		const struct wd_mapping *row = &rows->items[i];
		struct wd_object_ref ref = { process->identity.pid,
			process->live_tid, true, row->start, row->end, -1 };

		if (!row->executable && row->readable &&
		    wd_may_be_weights(row->type) &&
		    row->end - row->start >= SMALL_BYTES)
			learn(&known, wd_look_is_weights(look, &ref, row));
	}
	return known;
}

/* Whatever format it has, a model can be in it. */
static bool
is_large_data(const struct wd_mapping *row)
{
	return !row->executable && row->readable &&
	    wd_may_be_weights(row->type) && row->end - row->start >= LARGE_DATA;
}

enum wd_tristate
wd_look_holds_weights(struct wd_look *look, const struct wd_member *member)
{
	enum wd_tristate known = wd_member_on_device(member);
	size_t i;

	if (known == WD_YES || wd_is_large_memory(&member->process))
		return WD_YES;
	if (member->mappings_status != WD_OK ||
	    member->descriptors_status != WD_OK ||
	    !member->descriptors.complete)
		learn(&known, WD_NOT_KNOWN);
	learn(&known,
	    wd_look_maps_weights(look, &member->process, &member->mappings));
	for (i = 0; i < member->mappings.count && known != WD_YES; i++)
		if (is_large_data(&member->mappings.items[i]))
			known = WD_YES;
	for (i = 0; i < member->descriptors.count && known != WD_YES; i++) {
		const struct wd_descriptor *d = &member->descriptors.items[i];
		struct wd_object_ref ref = { member->pid, d->tid, false, 0, 0,
			d->fd };

		if (d->readable && wd_may_be_weights(d->type))
			learn(&known, wd_look_is_weights(look, &ref, NULL));
	}
	return known;
}
