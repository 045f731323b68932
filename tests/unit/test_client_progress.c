/* cmd/progress.h: the line, and nothing longer than its room. */
#include "cmd/progress.h"

#include <string.h>

#include "support/suite.h"

#define SECOND 1000000000LL

static const struct {
	uint64_t done, total;
	int64_t elapsed_ns;
	const char *text;
} lines[] = {
	{ 0, 4000000000, 0, "[--------------------]   0 %  0.0 of 4.0 GB" },
	{ 1000000000, 4000000000, SECOND / 2,
	    "[#####---------------]  25 %  1.0 of 4.0 GB" },
	{ 1000000000, 4000000000, 2 * SECOND,
	    "[#####---------------]  25 %  1.0 of 4.0 GB  500 MB/s  0:06 "
	    "left" },
	{ 1000000000, 100000000000, SECOND,
	    "[--------------------]   1 %  1.0 of 100.0 GB  1000 MB/s  1:39 "
	    "left" },
	{ 5, 4, 9 * SECOND,
	    "[####################] 100 %  0.0 of 0.0 GB  0 MB/s  0:00 "
	    "left" },
	{ 0, 0, SECOND,
	    "[####################] 100 %  0.0 of 0.0 GB  0 MB/s  0:00 "
	    "left" },
	{ 1, UINT64_MAX, SECOND,
	    "[--------------------]   0 %  0.0 of 18446744073.7 GB" },
};

START_TEST(lines_of_progress)
{
	char out[WD_PROGRESS_BYTES];

	ck_assert_str_eq(wd_progress_text(lines[_i].done, lines[_i].total,
			     lines[_i].elapsed_ns, out),
	    lines[_i].text);
	ck_assert_uint_lt(strlen(out), sizeof(out));
}
END_TEST

WD_SUITE_BEGIN("client progress")
WD_LOOP(lines_of_progress, lines);
WD_SUITE_END
