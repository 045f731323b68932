/*
 * Numbers of bytes for people.
 */
#include <check.h>

#include "base/size_text.h"
#include "support/suite.h"

static const struct {
	uint64_t bytes;
	const char *text;
} rows[] = {
	{ 0, "0 bytes" },
	{ 1023, "1023 bytes" },
	{ 1024, "1.0 KiB" },
	{ 1536, "1.5 KiB" },
	{ (1 << 20) - 1, "1023.9 KiB" },
	{ 1 << 20, "1.0 MiB" },
	{ (UINT64_C(4711) << 20) - 1, "4.5 GiB" },
	{ UINT64_C(4711) << 20, "4.6 GiB" },
	{ UINT64_C(1) << 40, "1.0 TiB" },
	{ UINT64_C(1) << 50, "1.0 PiB" },
	{ UINT64_MAX, "15.9 EiB" },
};

START_TEST(sizes)
{
	char text[WD_SIZE_TEXT_BYTES];

	ck_assert_str_eq(wd_size_text(rows[_i].bytes, text), rows[_i].text);
}
END_TEST

WD_SUITE_BEGIN("base size text")
WD_LOOP(sizes, rows);
WD_SUITE_END
