/*
 * Which sockets listen, to be asked of every descriptor of every member: a
 * member can have a hundred thousand of them, and a host as many listeners, so
 * the rows are sorted once and searched.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "evidence/look.h"

static int
compare_rows(const void *a, const void *b)
{
	const struct wd_listening *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return (x->asked < y->asked) - (x->asked > y->asked);
}

static size_t
take_rows(struct wd_listening *rows, size_t count,
    const struct wd_listeners *from, bool asked)
{
	size_t i;

	for (i = 0; i < from->count; i++)
		if (from->items[i].inode != 0)
			rows[count++] =
			    (struct wd_listening){ from->items[i].inode,
				    &from->items[i], asked };
	return count;
}

/* A socket that is asked about is in both lists: the asked row stays. */
static size_t
unique(struct wd_listening *rows, size_t count)
{
	size_t i, kept = 0;

	for (i = 0; i < count; i++)
		if (kept == 0 || rows[kept - 1].inode != rows[i].inode)
			rows[kept++] = rows[i];
	return kept;
}

enum wd_status
wd_look_sort_listening(struct wd_look *look, struct wd_error *err)
{
	struct wd_listening *rows =
	    wd_calloc(look->all.count + look->listeners.count, sizeof(*rows));
	size_t count;

	if (rows == NULL)
		return wd_fail(err, WD_NOMEM, "listeners: out of memory");
	count = take_rows(rows, 0, &look->listeners, true);
	count = take_rows(rows, count, &look->all, false);
	if (count > 1)
		qsort(rows, count, sizeof(*rows), compare_rows);
	wd_free(look->listening);
	look->listening = rows;
	look->listening_count = unique(rows, count);
	return WD_OK;
}

const struct wd_listening *
wd_look_listening(const struct wd_look *look, const struct wd_descriptor *d)
{
	size_t low = 0, high = look->listening_count;

	if (d->type != WD_OBJECT_SOCKET || d->inode == 0)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (look->listening[middle].inode == d->inode)
			return &look->listening[middle];
		if (look->listening[middle].inode < d->inode)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool
wd_look_has_listener(
    const struct wd_look *look, const struct wd_descriptors *descriptors)
{
	size_t i;

	for (i = 0; i < descriptors->count; i++)
		if (wd_look_listening(look, &descriptors->items[i]) != NULL)
			return true;
	return false;
}

enum wd_status
wd_look_process_listens(
    struct wd_look *look, const struct wd_process *process, bool *listens)
{
	WD_CLEANUP(wd_descriptors_release) struct wd_descriptors rows = { 0 };
	enum wd_status st = wd_host_descriptors(
	    look->with->host, process, look->deadline, &rows, NULL);

	*listens = st == WD_OK && wd_look_has_listener(look, &rows);
	return st == WD_NOMEM ? st : WD_OK;
}

/* When not every listener was seen, any socket may be one. */
static void
find_listeners_of(const struct wd_look *look, struct wd_member *member)
{
	size_t i;

	member->listens_elsewhere = member->listens_asked = false;
	for (i = 0; i < member->descriptors.count; i++) {
		const struct wd_descriptor *d = &member->descriptors.items[i];
		const struct wd_listening *row = wd_look_listening(look, d);

		if (row != NULL && row->asked)
			member->listens_asked = true;
		else if (row != NULL ||
		    (!look->all.complete && d->type == WD_OBJECT_SOCKET))
			member->listens_elsewhere = true;
	}
}

void
wd_look_other_listeners(struct wd_look *look)
{
	size_t i;

	for (i = 0; i < look->member_count; i++)
		find_listeners_of(look, &look->members[i]);
}

static bool
has_owner(const struct wd_group *group, pid_t pid)
{
	size_t i;

	for (i = 0; i < group->owner_count; i++)
		if (group->owners[i] == pid)
			return true;
	return false;
}

bool
wd_group_is_elsewhere(const struct wd_look *look, const struct wd_group *group,
    const struct wd_listening *row)
{
	size_t i;

	if (!row->asked)
		return true;
	for (i = 0; i < look->holders.count; i++)
		if (look->holders.items[i].inode == row->inode &&
		    has_owner(group, look->holders.items[i].pid))
			return false;
	return true;
}

bool
wd_group_listens_elsewhere(const struct wd_look *look,
    const struct wd_group *group, const struct wd_member *member)
{
	size_t i;

	if (member->listens_elsewhere || !member->listens_asked)
		return member->listens_elsewhere;
	for (i = 0; i < member->descriptors.count; i++) {
		const struct wd_listening *row =
		    wd_look_listening(look, &member->descriptors.items[i]);

		if (row != NULL && wd_group_is_elsewhere(look, group, row))
			return true;
	}
	return false;
}
