#include "base/size_text.h"

#include <inttypes.h>
#include <stdio.h>

const char *
wd_size_text(uint64_t bytes, char text[WD_SIZE_TEXT_BYTES])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB",
		"EiB" };
	const unsigned most = sizeof(units) / sizeof(units[0]);
	unsigned unit = 0;
	uint64_t part;

	if (bytes < 1024) {
		(void)snprintf(
		    text, WD_SIZE_TEXT_BYTES, "%" PRIu64 " bytes", bytes);
		return text;
	}
	while (unit + 1 < most && bytes >> (10 * (unit + 2)) > 0)
		unit++;
	/* The last ten bits below the unit; times 10 that is no overflow. */
	part = (bytes >> (10 * unit)) % 1024;
	(void)snprintf(text, WD_SIZE_TEXT_BYTES, "%" PRIu64 ".%" PRIu64 " %s",
	    bytes >> (10 * (unit + 1)), part * 10 / 1024, units[unit]);
	return text;
}
