/*
 * log.h - one line on standard error, escaped, with a level.
 *
 * Libraries below main do not log; they return errors. The level is set once
 * at start; lines below it are not formatted.
 */
#ifndef WD_BASE_LOG_H
#define WD_BASE_LOG_H

enum wd_log_level {
	WD_LOG_ERROR,
	WD_LOG_WARNING,
	WD_LOG_INFO,
	WD_LOG_DEBUG,
};

/* Lines above `level` are dropped; `program` begins each line and must live
 * as long as the process. */
void wd_log_init(const char *program, enum wd_log_level level);

/* Writes "PROGRAM: MESSAGE" with control characters escaped. A message that
 * is longer than 4 KiB is cut. */
void wd_log(enum wd_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
