/*
 * argv.h - command line and environment of a process, from their raw bytes.
 * Pure.
 */
#ifndef WD_HOST_LINUX_ARGV_H
#define WD_HOST_LINUX_ARGV_H

#include "host/host.h"

/* What is known beside the bytes of /proc/PID/cmdline. */
struct wd_argv_facts {
	uint64_t area_bytes; /* arg_end - arg_start; 0: not known */
	uint64_t argc;       /* as exec left it on the stack */
	bool argc_known;
	bool truncated; /* the bytes are only the beginning */
};

/* Whether a title was written over the arguments (setproctitle and its like:
 * nginx, sshd, Python's setproctitle in vLLM). The signs, any of which
 * suffices:
 * - the number of NULs is not the number of arguments that exec counted;
 * - the length is not that of the argument area: when its last byte is no
 *   longer NUL the kernel returns one string that may run on into the
 *   environment (fs/proc/base.c, get_mm_cmdline);
 * - no NUL at the end;
 * - where exec's count is not known: one string, or none, and then two or
 *   more NULs, which is a short title, padded.
 * A title of the same number of NULs and the same length goes unnoticed; so
 * argv is a claim and never evidence. */
bool wd_argv_overwritten(
    struct wd_slice argv, const struct wd_argv_facts *facts);

/* Adds the chosen variables of `block` (NAME=VALUE with NULs between) to the
 * process, secrets replaced; of a name that stands twice the first, as
 * getenv(3) does. Errors: WD_NOMEM. */
enum wd_status wd_environment_take(
    struct wd_slice block, struct wd_process *process) WD_MUST_CHECK;

#endif
