/*
 * status.h - what a function returns: 0, or why it could not.
 *
 * The values are sorted by what the caller can do about them, not by where
 * they come from. They are negative so that a function may also return a
 * count. GONE, DENIED and UNSUPPORTED are ordinary results about another
 * process; they are never the same as "nothing was found".
 */
#ifndef WD_BASE_STATUS_H
#define WD_BASE_STATUS_H

#define WD_MUST_CHECK __attribute__((warn_unused_result))

enum wd_status {
	WD_OK = 0,
	WD_NOMEM = -1,       /* no memory; nothing was changed */
	WD_INVALID = -2,     /* the caller's argument is wrong */
	WD_MALFORMED = -3,   /* the input breaks its format's rules */
	WD_TRUNCATED = -4,   /* the input ends before what it promises */
	WD_UNSUPPORTED = -5, /* this system or version cannot do it */
	WD_LIMIT = -6,       /* a cap of limits.h was reached */
	WD_NOTFOUND = -7,    /* looked completely; it is not there */
	WD_GONE = -8,        /* it was there and has vanished */
	WD_DENIED = -9,      /* the system refused the look */
	WD_CHANGED = -10,    /* it changed while it was looked at */
	WD_TIMEDOUT = -11,   /* the deadline came first */
	WD_BUSY = -12,       /* somebody else holds it; try again */
	WD_IO = -13,         /* any other failure of the system */
	WD_CORRUPT = -14,    /* our own stored data is damaged */
	WD_STALE = -15,      /* the file handle outlived its file (NFS) */
};

/* The constant's name without the prefix, in lower case: "malformed".
 * Never NULL; an unknown value gives "unknown". The string is static. */
const char *wd_status_name(enum wd_status status);

/* The status that best describes an errno value; WD_IO when none does.
 * ENOENT and ESRCH give WD_GONE: the caller knows whether it had been there. */
enum wd_status wd_status_from_errno(int os_errno);

#endif
