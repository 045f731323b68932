/* Lines of /proc/PID/maps and smaps, and names in map_files. */
#include <stdlib.h>

#include "host/linux/procmaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool right)
{
	if (!right)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice rest = { data, size }, line;
	struct wd_map_line map;
	uint64_t start, end, bytes = 0, before;

	while (wd_slice_cut(&rest, '\n', &line)) {
		if (wd_parse_map_line(line, &map) == WD_OK) {
			check(map.start < map.end);
			check(map.path.len == 0 ||
			    (map.path.data[0] != ' ' &&
				map.path.data + map.path.len ==
				    line.data + line.len));
		}
		if (wd_parse_map_range(line, &start, &end))
			check(start < end);
		before = bytes;
		if (!wd_parse_smaps_line(line, &bytes))
			check(bytes == before);
		check(bytes >= before);
	}
	return 0;
}
