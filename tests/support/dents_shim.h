/*
 * dents_shim.h - getdents64(2) as a test wants it: with little room, as when a
 * signal is pending, or failing. Linking dents_shim.c puts it in front of the
 * C library's syscall().
 */
#ifndef WD_TESTS_SUPPORT_DENTS_SHIM_H
#define WD_TESTS_SUPPORT_DENTS_SHIM_H

#include <stddef.h>

/* The room that each call has at most; 0: what the caller gives. */
extern size_t wd_dents_room;

/* Folders whose listing fails, with this errno: those whose path ends so.
 * NULL: none. */
extern const char *wd_dents_failing;
extern int wd_dents_errno;

#endif
