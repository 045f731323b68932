/*
 * darwin.c - Darwin's reads: plain so far, and idle by the thread's I/O
 * policy and quality of service.
 */
#include "host/manners/manners.h"

#include <pthread/qos.h>
#include <sys/resource.h>
#include <unistd.h>

static void
be_idle(void)
{
	(void)setiopolicy_np(
	    IOPOL_TYPE_DISK, IOPOL_SCOPE_THREAD, IOPOL_THROTTLE);
	(void)pthread_set_qos_class_self_np(QOS_CLASS_BACKGROUND, 0);
}

static const struct wd_io_manners manners = { .be_idle = be_idle };

const struct wd_io_manners *
wd_host_io_manners(void)
{
	return &manners;
}

unsigned
wd_host_allowed_cores(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (unsigned)count : 1;
}
