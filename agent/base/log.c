#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/escape.h"

static const char *program_name = "weightd";
static enum wd_log_level highest = WD_LOG_WARNING;

void
wd_log_init(const char *program, enum wd_log_level level)
{
	program_name = program;
	highest = level;
}

void
wd_log(enum wd_log_level level, const char *format, ...)
{
	char message[4096], shown[4 * sizeof(message)];
	va_list args;

	if (level > highest)
		return;
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	(void)fprintf(stderr, "%s: %s\n", program_name,
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(message)));
}
