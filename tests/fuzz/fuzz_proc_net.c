/* Rows of /proc/net/tcp and tcp6. */
#include <stdlib.h>
#include <string.h>

#include "host/linux/procnet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t nothing[12];

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice rest = { data, size }, line;
	struct wd_net_row row;

	while (wd_slice_cut(&rest, '\n', &line)) {
		memset(&row, 0xee, sizeof(row));
		if (wd_parse_net_row(line, &row) != WD_OK)
			continue;
		/* An IPv4 row leaves no trace behind its four bytes. */
		if (!row.v6 && memcmp(row.local + 4, nothing, 12) != 0)
			abort();
		(void)wd_v6only_settle(row.local, WD_NOT_KNOWN);
	}
	return 0;
}
