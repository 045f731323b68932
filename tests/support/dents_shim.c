#include "support/dents_shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

size_t wd_dents_room;
const char *wd_dents_failing;
int wd_dents_errno;

static bool
is_failing(int fd)
{
	char link[64], path[512];
	size_t end;
	ssize_t len;

	if (wd_dents_failing == NULL)
		return false;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	end = strlen(wd_dents_failing);
	return len > 0 && (size_t)len >= end &&
	    memcmp(path + (size_t)len - end, wd_dents_failing, end) == 0;
}

/* Six arguments are passed on, as the C library does, whatever the call has;
 * what is above those of a shorter one is nobody's. */
__attribute__((no_sanitize_address)) long
syscall(long number, ...)
{
	long (*real)(long, ...);
	long a[6];
	va_list args;
	size_t i;

	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_getdents64 && is_failing((int)a[0])) {
		errno = wd_dents_errno;
		return -1;
	}
	if (number == SYS_getdents64 && wd_dents_room > 0 &&
	    (size_t)a[2] > wd_dents_room)
		a[2] = (long)wd_dents_room;
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
