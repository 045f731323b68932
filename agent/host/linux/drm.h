/*
 * drm.h - what a process has on DRM devices: the sum over what it has open.
 */
#ifndef WD_HOST_LINUX_DRM_H
#define WD_HOST_LINUX_DRM_H

#include "host/linux/backend.h"
#include "host/linux/drminfo.h"

/* One opened device, or a descriptor that cannot be accounted for. */
struct wd_drm_handle {
	char device[128]; /* as it will be shown */
	struct wd_drm_info info;
	const char *reason; /* NULL: info.bytes counts */
};
struct wd_drm_handles {
	struct wd_drm_handle *items;
	size_t count, capacity;
};

/* Adds what descriptor `d` is, unless it is the same opened device as one
 * before. Errors: WD_NOMEM, WD_LIMIT. */
enum wd_status wd_drm_add(const struct wd_linux *lx,
    const struct wd_descriptor *d,
    struct wd_drm_handles *handles) WD_MUST_CHECK;

/* Appends one use for each device. Errors: as above. */
enum wd_status wd_drm_sum(
    struct wd_drm_handles *handles, struct wd_device_uses *uses) WD_MUST_CHECK;

void wd_drm_handles_release(struct wd_drm_handles *handles);

#endif
