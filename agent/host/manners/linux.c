/*
 * linux.c - the page cache and the idle classes of Linux.
 *
 * cachestat(2) (6.5) counts the cached pages of a range; when it finds some
 * but not all, or is not there, mincore(2) tells which. That needs a mapping,
 * which is never touched, so a file that shrinks cannot hurt. For files that
 * are not ours to write mincore calls every page cached (5.2): nothing is
 * dropped then, which is the safe side.
 */
#include "host/manners/manners.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string.h>

/* Debian 12's headers lack these; the numbers are the same on every
 * architecture since 5.x (asm-generic/unistd.h, linux/mman.h). */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
struct cachestat_range {
	uint64_t off, len;
};
struct cachestat {
	uint64_t nr_cache, nr_dirty, nr_writeback, nr_evicted,
	    nr_recently_evicted;
};

/* linux/ioprio.h */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_IDLE (3 << 13)

static size_t
page_bytes(void)
{
	long size = sysconf(_SC_PAGESIZE);

	return size > 0 ? (size_t)size : 4096;
}

static bool
cached_by_mincore(int fd, uint64_t offset, size_t len, uint8_t *pages)
{
	size_t count = (len + page_bytes() - 1) / page_bytes(), i;
	void *view = mmap(NULL, len, PROT_NONE, MAP_SHARED, fd, (off_t)offset);
	int failed;

	if (view == MAP_FAILED)
		return false;
	failed = mincore(view, len, pages);
	(void)munmap(view, len);
	for (i = 0; failed == 0 && i < count; i++)
		pages[i] &= 1;
	return failed == 0;
}

static bool
cached(int fd, uint64_t offset, size_t len, uint8_t *pages)
{
	struct cachestat_range range = { offset, len };
	size_t count = (len + page_bytes() - 1) / page_bytes();
	struct cachestat stat;

	if (syscall(SYS_cachestat, fd, &range, &stat, 0U) != 0)
		return cached_by_mincore(fd, offset, len, pages);
	if (stat.nr_cache != 0 && stat.nr_cache < count)
		return cached_by_mincore(fd, offset, len, pages);
	memset(pages, stat.nr_cache != 0, count);
	return true;
}

static void
read_ahead(int fd, bool on)
{
	(void)posix_fadvise(
	    fd, 0, 0, on ? POSIX_FADV_NORMAL : POSIX_FADV_RANDOM);
}

static void
will_need(int fd, uint64_t offset, size_t len)
{
	(void)posix_fadvise(fd, (off_t)offset, (off_t)len, POSIX_FADV_WILLNEED);
}

static void
drop(int fd, uint64_t offset, size_t len)
{
	(void)posix_fadvise(fd, (off_t)offset, (off_t)len, POSIX_FADV_DONTNEED);
}

/* On Linux all three act on the calling thread alone. */
static void
be_idle(void)
{
	struct sched_param none = { 0 };

	(void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
	if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
		(void)setpriority(PRIO_PROCESS, 0, 19);
}

static const struct wd_io_manners manners = { cached, read_ahead, will_need,
	drop, be_idle };

const struct wd_io_manners *
wd_host_io_manners(void)
{
	return &manners;
}

/* A container's quota is no matter here: what idles takes only what is left. */
unsigned
wd_host_allowed_cores(void)
{
	cpu_set_t allowed;
	int count = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		count = CPU_COUNT(&allowed);
	return count > 0 ? (unsigned)count : 1;
}
