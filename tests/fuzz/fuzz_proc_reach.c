/* Lines of fib_trie, if_inet6 and nf_conntrack. */
#include <stdlib.h>
#include <string.h>

#include "host/linux/procreach.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t nothing[12];

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice rest = { data, size }, line;
	struct wd_translation row;
	struct wd_fib_reader reader;
	uint8_t address[16];
	bool translated;

	memset(&reader, 0, sizeof(reader));
	while (wd_slice_cut(&rest, '\n', &line)) {
		(void)wd_fib_line(&reader, line);
		if (wd_parse_inet6_line(line, address) == WD_OK &&
		    line.len < 32)
			abort();
		memset(&row, 0xee, sizeof(row));
		if (wd_parse_conntrack(line, &row, &translated) != WD_OK ||
		    !translated)
			continue;
		/* An IPv4 row leaves no trace behind its four bytes. */
		if (row.family == WD_INET4 &&
		    memcmp(row.server + 4, nothing, 12) != 0)
			abort();
	}
	return 0;
}
