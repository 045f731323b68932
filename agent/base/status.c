#include "base/status.h"

#include <errno.h>

const char *
wd_status_name(enum wd_status status)
{
	switch (status) {
	case WD_OK:
		return "ok";
	case WD_NOMEM:
		return "out of memory";
	case WD_INVALID:
		return "invalid";
	case WD_MALFORMED:
		return "malformed";
	case WD_TRUNCATED:
		return "truncated";
	case WD_UNSUPPORTED:
		return "unsupported";
	case WD_LIMIT:
		return "limit reached";
	case WD_NOTFOUND:
		return "not found";
	case WD_GONE:
		return "gone";
	case WD_DENIED:
		return "denied";
	case WD_CHANGED:
		return "changed";
	case WD_TIMEDOUT:
		return "timed out";
	case WD_BUSY:
		return "busy";
	case WD_IO:
		return "input/output error";
	case WD_CORRUPT:
		return "corrupt";
	case WD_STALE:
		return "stale handle";
	}
	return "unknown";
}

enum wd_status
wd_status_from_errno(int os_errno)
{
	switch (os_errno) {
	case 0:
		return WD_OK;
	case ENOMEM:
		return WD_NOMEM;
	case EINVAL:
	case ENAMETOOLONG:
	case ELOOP:
	case EISDIR:
		return WD_INVALID;
	case ENOENT:
	case ESRCH:
	case ENOTDIR:
		return WD_GONE;
	case EACCES:
	case EPERM:
	case EROFS:
		return WD_DENIED;
	case ENOSYS:
	case EOPNOTSUPP:
	case EAFNOSUPPORT:
	case EPROTONOSUPPORT:
	case ENOTTY:
		return WD_UNSUPPORTED;
	case ETIMEDOUT:
		return WD_TIMEDOUT;
	case EAGAIN:
	case EBUSY:
	case EMFILE:
	case ENFILE:
		return WD_BUSY;
	case ESTALE:
		return WD_STALE;
	default:
		return WD_IO;
	}
}
