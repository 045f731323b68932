/*
 * log.h - one line on standard error, escaped, with a level.
 *
 * Libraries below main do not log; they return errors. The level is set once
 * at start; lines below it are not formatted.
 */
#ifndef WD_BASE_LOG_H
#define WD_BASE_LOG_H

#include <stddef.h>

enum wd_log_level {
	WD_LOG_ERROR,
	WD_LOG_WARNING,
	WD_LOG_INFO,
	WD_LOG_DEBUG,
};

/* Lines above `level` are dropped; `program` begins each line and must live
 * as long as the process. */
void wd_log_init(const char *program, enum wd_log_level level);

/* Lines as text (the default) or as one JSON object each. */
enum wd_log_style { WD_LOG_TEXT, WD_LOG_JSON };
void wd_log_style(enum wd_log_style style);

/* Writes "PROGRAM: MESSAGE" with control characters escaped. A message that
 * is longer than 4 KiB is cut. */
void wd_log(enum wd_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct wd_log_field {
	const char *key; /* [a-z_]+ */
	const char *value;
};

/* Writes an event and what there is to know about it, for programs as well:
 * "PROGRAM: EVENT key=value key=\"other value\"", or as JSON
 * {"time":"2026-01-02T03:04:05.678Z","level":"info","event":"EVENT",
 * "key":"value",...}, in UTC. Values are escaped; of a line that would be
 * longer than 16 KiB the last fields are left out. */
void wd_log_event(enum wd_log_level level, const char *event,
    const struct wd_log_field *fields, size_t count);

#endif
