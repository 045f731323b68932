/*
 * Which private pages of mappings no longer come from their file: smaps
 * counts them as anonymous, or swapped. It is read in pieces and only up to
 * the last mapping asked about.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/linux/backend.h"
#include "host/linux/procmaps.h"

struct reading {
	struct wd_mappings *mappings;
	size_t next;                /* the first not passed yet */
	struct wd_mapping *current; /* whose lines follow */
	uint64_t bytes;
	bool huge; /* private huge pages: written or not, smaps shows no more */
};

static void
finish_current(struct reading *reading)
{
	if (reading->current == NULL)
		return;
	reading->current->written_bytes = reading->bytes;
	reading->current->written_known = !reading->huge;
	reading->current = NULL;
}

/* Both lists go by address. Only the very same mapping counts. */
static void
take_head(struct reading *reading, const struct wd_map_line *map)
{
	struct wd_mappings *list = reading->mappings;
	struct wd_mapping *item;

	finish_current(reading);
	while (reading->next < list->count &&
	    list->items[reading->next].start < map->start)
		reading->next++;
	if (reading->next == list->count)
		return;
	item = &list->items[reading->next];
	if (item->start != map->start || item->end != map->end ||
	    item->offset != map->offset || item->inode != map->inode ||
	    item->device != map->device || item->shared || map->shared)
		return;
	reading->current = item;
	reading->bytes = 0;
	reading->huge = false;
}

static void
take_line(struct reading *reading, struct wd_slice line)
{
	struct wd_map_line map;

	if (wd_parse_map_line(line, &map) == WD_OK)
		take_head(reading, &map);
	else if (reading->current != NULL) {
		(void)wd_parse_smaps_line(line, &reading->bytes);
		reading->huge |= wd_is_private_hugetlb(line);
	}
}

static bool
is_done(const struct reading *reading)
{
	return reading->current == NULL &&
	    reading->next >= reading->mappings->count;
}

static void
take_whole_lines(struct reading *reading, struct wd_buf *text)
{
	struct wd_slice rest = wd_buf_slice(text), line;

	while (rest.len > 0 && memchr(rest.data, '\n', rest.len) != NULL &&
	    wd_slice_cut(&rest, '\n', &line))
		take_line(reading, line);
	if (rest.len > 0)
		memmove(text->data, rest.data, rest.len);
	text->len = rest.len;
}

static enum wd_status
read_smaps(int fd, const struct wd_deadline *deadline, struct reading *reading)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	uint8_t *space;
	ssize_t got;

	wd_buf_init(&text, 262144);
	while (!is_done(reading)) {
		if (wd_deadline_passed(deadline))
			return WD_TIMEDOUT;
		if (wd_buf_reserve(&text, 65536, &space) != WD_OK)
			return text.status;
		got = read(fd, space, 65536);
		if (got < 0)
			return wd_status_from_errno(errno);
		if (got == 0)
			break;
		wd_buf_advance(&text, (size_t)got);
		take_whole_lines(reading, &text);
	}
	finish_current(reading);
	return WD_OK;
}

/* Stores through a shared mapping go to the file itself: nothing private. */
static void
settle_shared(struct wd_mappings *mappings)
{
	size_t i;

	for (i = 0; i < mappings->count; i++) {
		mappings->items[i].written_bytes = 0;
		mappings->items[i].written_known = mappings->items[i].shared;
	}
}

enum wd_status
wd_linux_written(struct wd_host *host, const struct wd_process *process,
    const struct wd_deadline *deadline, struct wd_mappings *mappings,
    struct wd_error *err)
{
	struct wd_linux *lx = wd_linux_of(host);
	struct reading reading = { mappings, 0, NULL, 0, false };
	WD_CLEANUP(wd_close_scoped) int fd = -1;
	enum wd_status st;

	settle_shared(mappings);
	while (reading.next < mappings->count &&
	    mappings->items[reading.next].shared)
		reading.next++;
	if (is_done(&reading))
		return WD_OK;
	fd = wd_proc_open(lx, O_RDONLY, "%d/smaps", (int)process->live_tid);
	st = fd < 0 ? wd_status_from_errno(errno) :
		      read_smaps(fd, deadline, &reading);
	if (st == WD_OK)
		return WD_OK;
	return wd_linux_fail_look(
	    lx, "written pages", process->identity.pid, st, err);
}
