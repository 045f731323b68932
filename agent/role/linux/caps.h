/*
 * caps.h - capabilities(7) by the system calls themselves.
 */
#ifndef WD_ROLE_LINUX_CAPS_H
#define WD_ROLE_LINUX_CAPS_H

#include <stdint.h>

#include "base/error.h"

/* Sets of capabilities, one bit each. */
struct wd_caps {
	uint64_t effective, permitted, inheritable;
};

enum wd_status wd_caps_get(
    struct wd_caps *caps, struct wd_error *err) WD_MUST_CHECK;
enum wd_status wd_caps_set(
    const struct wd_caps *caps, struct wd_error *err) WD_MUST_CHECK;

/* Takes everything but `kept` out of the bounding set and all out of the
 * ambient one. Needs CAP_SETPCAP. */
enum wd_status wd_caps_bound(uint64_t kept, struct wd_error *err) WD_MUST_CHECK;

#define WD_CAP(number) (UINT64_C(1) << (number))

#endif
