/*
 * once.h - `weightd --once PORT`: one question, answered on standard output.
 */
#ifndef WD_ONCE_H
#define WD_ONCE_H

/* `arguments` are those behind --once, PORT first. Returns the exit code:
 * 0 match (or proven, without an expectation), 1 mismatch or nothing listens,
 * 2 usage, 4 unverifiable. */
int wd_once(int count, char **arguments);

#endif
