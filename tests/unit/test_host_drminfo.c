/* What fdinfo says of a DRM device, read from text. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "host/linux/drminfo.h"
#include "support/suite.h"

#define HEAD                                                                   \
	"pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t685\n"                  \
	"drm-driver:\tamdgpu\ndrm-client-id:\t34\ndrm-pdev:\t0000:03:00.0\n"

static const struct {
	const char *what;
	const char *text;
	bool known;
	uint64_t bytes;
} sums[] = {
	{ "bytes without a unit", HEAD "drm-memory-vram:\t4096\n", true, 4096 },
	{ "KiB", HEAD "drm-memory-vram:\t4 KiB\n", true, 4096 },
	{ "MiB", HEAD "drm-memory-vram:\t3 MiB\n", true, 3145728 },
	{ "regions add up",
	    HEAD "drm-memory-vram:\t4 KiB\ndrm-memory-gtt: \t2 KiB\n", true,
	    6144 },
	{ "resident before allocated",
	    HEAD "drm-total-vram:\t9 KiB\ndrm-resident-vram:\t4 KiB\n", true,
	    4096 },
	{ "both names of one thing",
	    HEAD "drm-resident-vram:\t4 KiB\ndrm-memory-vram:\t4 KiB\n"
		 "drm-total-vram:\t9 KiB\n",
	    true, 4096 },
	{ "the older name before allocated",
	    HEAD "drm-memory-vram:\t4 KiB\ndrm-total-vram:\t9 KiB\n", true,
	    4096 },
	{ "allocated alone", HEAD "drm-total-vram:\t9 KiB\n", true, 9216 },
	{ "resident of one, allocated of the other",
	    HEAD "drm-resident-a:\t1\ndrm-total-a:\t5\ndrm-total-b:\t2\n", true,
	    3 },
	{ "cycles are no memory",
	    HEAD "drm-total-cycles-rcs:\t7655183225\ndrm-total-gtt:\t1 KiB\n",
	    true, 1024 },
	{ "shared, active and purgeable are parts",
	    HEAD "drm-total-gtt:\t1 KiB\ndrm-shared-gtt:\t1 KiB\n"
		 "drm-active-gtt:\t1 KiB\ndrm-purgeable-gtt:\t1 KiB\n",
	    true, 1024 },
	{ "the driver's own keys",
	    HEAD "amd-requested-vram:\t7 KiB\ndrm-memory-vram:\t0\n", true, 0 },
	{ "no region", HEAD "drm-engine-gfx:\t25662044495 ns\n", false, 0 },
	{ "no line feed at the end", HEAD "drm-memory-vram: 8", true, 8 },
};

START_TEST(memory_adds_up)
{
	struct wd_drm_info info;

	ck_assert_int_eq(
	    wd_parse_drm_info(wd_slice_text(sums[_i].text), &info), WD_OK);
	ck_assert_msg(
	    info.bytes_known == sums[_i].known && info.bytes == sums[_i].bytes,
	    "%s: %llu", sums[_i].what, (unsigned long long)info.bytes);
	ck_assert_str_eq(info.driver, "amdgpu");
	ck_assert_str_eq(info.pdev, "0000:03:00.0");
	ck_assert(info.client_known);
	ck_assert_uint_eq(info.client, 34);
}
END_TEST

START_TEST(what_is_absent_is_not_known)
{
	struct wd_drm_info info;

	ck_assert_int_eq(
	    wd_parse_drm_info(wd_slice_text("drm-driver: v3d\n"), &info),
	    WD_OK);
	ck_assert(!info.client_known && !info.bytes_known);
	ck_assert_str_eq(info.pdev, "");
}
END_TEST

static const struct {
	const char *text;
	enum wd_status status;
} refused[] = {
	{ "", WD_NOTFOUND },
	{ "pos:\t0\nflags:\t02\n", WD_NOTFOUND },
	{ "drm-client-id:\t1\ndrm-memory-vram:\t1\n", WD_NOTFOUND },
	{ HEAD "drm-memory-vram:\t1 GiB\n", WD_MALFORMED },
	{ HEAD "drm-memory-vram:\t1 KiBx\n", WD_MALFORMED },
	{ HEAD "drm-memory-vram:\t-1\n", WD_MALFORMED },
	{ HEAD "drm-memory-vram:\t\n", WD_MALFORMED },
	{ HEAD "drm-memory-vram:\tKiB\n", WD_MALFORMED },
	{ HEAD "drm-memory-:\t1\n", WD_MALFORMED },
	{ HEAD "drm-memory-vram:\t1\ndrm-memory-vram:\t1\n", WD_MALFORMED },
	{ HEAD "drm-memory-a:\t18446744073709551616\n", WD_MALFORMED },
	{ HEAD "drm-memory-a:\t18014398509481984 KiB\n", WD_MALFORMED },
	{ HEAD "drm-memory-a:\t18446744073709551615\ndrm-memory-b:\t1\n",
	    WD_MALFORMED },
	{ HEAD "drm-client-id:\t35\n", WD_MALFORMED },
	{ HEAD "drm-driver:\txe\n", WD_MALFORMED },
	{ HEAD "drm-pdev:\t0000:04:00.0\n", WD_MALFORMED },
	{ "drm-driver:\tamd gpu\n", WD_MALFORMED },
	{ "drm-driver:\t\n", WD_MALFORMED },
	{ "drm-driver:\t01234567890123456789012345678901\n", WD_MALFORMED },
	{ "drm-driver:\ta\033[2J\n", WD_MALFORMED },
	{ "drm-driver:\tx\ndrm-client-id:\t-1\n", WD_MALFORMED },
	{ "drm-driver:\tx\ndrm-client-id:\t0x1\n", WD_MALFORMED },
};

START_TEST(malformed_text_is_refused)
{
	struct wd_drm_info info = { .bytes = 77 };

	ck_assert_msg(wd_parse_drm_info(wd_slice_text(refused[_i].text),
			  &info) == refused[_i].status,
	    "%s", refused[_i].text);
	ck_assert_uint_eq(info.bytes, 77);
}
END_TEST

static enum wd_status
parse_regions(int count)
{
	char text[2048] = "drm-driver:\tx\n";
	struct wd_drm_info info;
	size_t len;
	int i;

	for (i = 0; i < count; i++) {
		len = strlen(text);
		(void)snprintf(
		    text + len, sizeof(text) - len, "drm-total-r%d:\t1\n", i);
	}
	return wd_parse_drm_info(wd_slice_text(text), &info);
}

START_TEST(too_many_regions)
{
	ck_assert_int_eq(parse_regions(WD_DRM_MAX_REGIONS), WD_OK);
	ck_assert_int_eq(parse_regions(WD_DRM_MAX_REGIONS + 1), WD_LIMIT);
}
END_TEST

WD_SUITE_BEGIN("host drminfo")
WD_LOOP(memory_adds_up, sums);
WD_TEST(what_is_absent_is_not_known);
WD_LOOP(malformed_text_is_refused, refused);
WD_TEST(too_many_regions);
WD_SUITE_END
