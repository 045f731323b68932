/* fdinfo of DRM devices, and the key lookup that other descriptors need. */
#include <stdlib.h>
#include <string.h>

#include "host/linux/drminfo.h"
#include "host/linux/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice text = { data, size };
	struct wd_drm_info info;
	uint64_t number;
	enum wd_status st;

	memset(&info, 0xee, sizeof(info));
	st = wd_parse_drm_info(text, &info);
	(void)!wd_parse_key(text, "pos", 10, &number);
	(void)!wd_parse_key(text, "flags", 8, &number);
	if (st == WD_OK) {
		/* Names end, and can be shown. */
		if (strnlen(info.driver, sizeof(info.driver)) ==
			sizeof(info.driver) ||
		    strnlen(info.pdev, sizeof(info.pdev)) ==
			sizeof(info.pdev) ||
		    info.driver[0] == '\0')
			abort();
		if (!info.bytes_known && info.bytes != 0)
			abort();
		return 0;
	}
	/* Nothing is written unless all is right. */
	if ((uint8_t)info.driver[0] != 0xee)
		abort();
	return 0;
}
