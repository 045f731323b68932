/*
 * drminfo.h - what /proc/PID/fdinfo/FD says of an open DRM device. Pure.
 *
 * The format is the kernel's Documentation/gpu/drm-usage-stats.rst: one
 * "key: value" a line, sizes with an optional unit.
 */
#ifndef WD_HOST_LINUX_DRMINFO_H
#define WD_HOST_LINUX_DRMINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* Every memory region that a driver has; the most seen are five. */
#define WD_DRM_MAX_REGIONS 16

struct wd_drm_info {
	char driver[32];
	char pdev[32]; /* PCI address; "" when it is no PCI device */

	/* Descriptors with one client id are one opened device: what is
	 * allocated through it counts once. Unique within the device. */
	bool client_known;
	uint64_t client;

	/* All regions together, system memory that the driver holds for the
	 * device among them. Of each region what is resident; drivers that do
	 * not tell give what is allocated. */
	bool bytes_known; /* at least one region is listed */
	uint64_t bytes;
};

/* Errors: WD_NOTFOUND (no DRM device, or its driver tells nothing);
 * WD_MALFORMED (a number, unit or name that the format does not know, a key
 * twice, a sum above UINT64_MAX); WD_LIMIT (more regions than we keep). */
enum wd_status wd_parse_drm_info(
    struct wd_slice text, struct wd_drm_info *info) WD_MUST_CHECK;

#endif
