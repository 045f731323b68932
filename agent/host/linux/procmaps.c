#include "host/linux/procmaps.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "base/checked.h"

bool
wd_parse_map_range(struct wd_slice name, uint64_t *start, uint64_t *end)
{
	struct wd_slice head;
	uint64_t from, to;

	if (!wd_slice_cut(&name, '-', &head) ||
	    !wd_slice_number(head, 16, &from) ||
	    !wd_slice_number(name, 16, &to) || from >= to)
		return false;
	*start = from;
	*end = to;
	return true;
}

static bool
map_flags(struct wd_slice word, struct wd_map_line *map)
{
	if (word.len != 4)
		return false;
	map->readable = word.data[0] == 'r';
	map->writable = word.data[1] == 'w';
	map->executable = word.data[2] == 'x';
	map->shared = word.data[3] == 's';
	return true;
}

static bool
map_device(struct wd_slice word, uint64_t *device)
{
	struct wd_slice head;
	uint64_t major_, minor_;

	if (!wd_slice_cut(&word, ':', &head) ||
	    !wd_slice_number(head, 16, &major_) ||
	    !wd_slice_number(word, 16, &minor_) || major_ > UINT32_MAX ||
	    minor_ > UINT32_MAX)
		return false;
	*device = makedev((unsigned)major_, (unsigned)minor_);
	return true;
}

/* Paths begin behind blanks that pad them to a column; none begins with a
 * blank itself ('/', '[', "socket:", "anon_inode:"). */
static struct wd_slice
map_path(struct wd_slice rest)
{
	while (rest.len > 0 && rest.data[0] == ' ') {
		rest.data++;
		rest.len--;
	}
	return rest;
}

enum wd_status
wd_parse_map_line(struct wd_slice line, struct wd_map_line *map)
{
	struct wd_map_line parsed = { 0 };
	struct wd_slice word;

	if (line.len > 0 && line.data[line.len - 1] == '\n')
		line.len--;
	if (!wd_slice_cut(&line, ' ', &word) ||
	    !wd_parse_map_range(word, &parsed.start, &parsed.end) ||
	    !wd_slice_cut(&line, ' ', &word) || !map_flags(word, &parsed) ||
	    !wd_slice_cut(&line, ' ', &word) ||
	    !wd_slice_number(word, 16, &parsed.offset) ||
	    !wd_slice_cut(&line, ' ', &word) ||
	    !map_device(word, &parsed.device) ||
	    !wd_slice_cut(&line, ' ', &word) ||
	    !wd_slice_number(word, 10, &parsed.inode))
		return WD_MALFORMED;
	parsed.path = map_path(line);
	*map = parsed;
	return WD_OK;
}

bool
wd_parse_smaps_line(struct wd_slice line, uint64_t *bytes)
{
	struct wd_slice key, number;
	uint64_t kilobytes, size;

	if (!wd_slice_cut(&line, ':', &key) ||
	    (!wd_slice_equal(key, wd_slice_text("Anonymous")) &&
		!wd_slice_equal(key, wd_slice_text("Swap"))))
		return false;
	line = map_path(line);
	if (!wd_slice_cut(&line, ' ', &number) ||
	    !wd_slice_number(number, 10, &kilobytes) ||
	    !wd_mul_u64(kilobytes, 1024, &size) ||
	    !wd_add_u64(*bytes, size, bytes))
		return false;
	return true;
}

bool
wd_is_private_hugetlb(struct wd_slice line)
{
	struct wd_slice key, number;
	uint64_t kilobytes;

	if (!wd_slice_cut(&line, ':', &key) ||
	    !wd_slice_equal(key, wd_slice_text("Private_Hugetlb")))
		return false;
	line = map_path(line);
	return !wd_slice_cut(&line, ' ', &number) ||
	    !wd_slice_number(number, 10, &kilobytes) || kilobytes > 0;
}
