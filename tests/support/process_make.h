/*
 * process_make.h - a process for the engine table, from its words, and what
 * the table makes of them as text.
 */
#ifndef WD_TESTS_SUPPORT_PROCESS_MAKE_H
#define WD_TESTS_SUPPORT_PROCESS_MAKE_H

#include "base/buf.h"
#include "evidence/engines.h"

/* Words are separated by '|', variables too (NAME=VALUE); NULL: may not be
 * read. The caller releases the process. */
struct wd_process wd_process_make(
    const char *exe, const char *argv, const char *environment);

/* "model=VALUE $!name=VALUE": `$` from the environment, `!` overridden; words
 * that are no known option are left out. */
void wd_claims_text(const struct wd_process *process, struct wd_buf *text);

/* "run.KEY=VALUE run.KEY=VALUE" */
void wd_settings_text(const struct wd_process *process, struct wd_buf *text);

#endif
