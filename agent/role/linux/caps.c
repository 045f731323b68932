#include "role/linux/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers that the kernel does not know yet end the list (EINVAL). */
#define MOST_CAPS 64

enum wd_status
wd_caps_get(struct wd_caps *caps, struct wd_error *err)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
		0 };
	struct __user_cap_data_struct data[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	if (syscall(SYS_capget, &head, data) != 0)
		return wd_fail_errno(err, errno, "capget");
	caps->effective = data[0].effective | (uint64_t)data[1].effective << 32;
	caps->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	caps->inheritable =
	    data[0].inheritable | (uint64_t)data[1].inheritable << 32;
	return WD_OK;
}

enum wd_status
wd_caps_set(const struct wd_caps *caps, struct wd_error *err)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
		0 };
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)caps->effective, (uint32_t)caps->permitted,
		    (uint32_t)caps->inheritable },
		{ (uint32_t)(caps->effective >> 32),
		    (uint32_t)(caps->permitted >> 32),
		    (uint32_t)(caps->inheritable >> 32) },
	};

	if (syscall(SYS_capset, &head, data) != 0)
		return wd_fail_errno(err, errno, "capset");
	return WD_OK;
}

enum wd_status
wd_caps_bound(uint64_t kept, struct wd_error *err)
{
	unsigned cap;

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (cap = 0; cap < MOST_CAPS; cap++) {
		int has = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (has < 0)
			break;
		if (has == 0 || (kept & WD_CAP(cap)) != 0)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
			return wd_fail_errno(err, errno,
			    "capability %u cannot be given up", cap);
	}
	return WD_OK;
}
