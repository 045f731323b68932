#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"

static const char *program_name = "weightd";
static enum wd_log_level highest = WD_LOG_WARNING;
static enum wd_log_style style_now = WD_LOG_TEXT;

void
wd_log_init(const char *program, enum wd_log_level level)
{
	program_name = program;
	highest = level;
}

void
wd_log_style(enum wd_log_style style)
{
	style_now = style;
}

static const char *
level_name(enum wd_log_level level)
{
	static const char *const names[] = { "error", "warning", "info",
		"debug" };

	return names[level];
}

/* Escaped as for a terminal, and that as a JSON string. */
static void
add_json(struct wd_buf *line, const char *text)
{
	struct wd_buf shown;
	size_t i;

	wd_buf_init(&shown, line->max);
	(void)wd_escape(&shown, wd_slice_text(text));
	(void)wd_buf_byte(line, '"');
	for (i = 0; i < shown.len; i++) {
		if (shown.data[i] == '"' || shown.data[i] == '\\')
			(void)wd_buf_byte(line, '\\');
		(void)wd_buf_byte(line, shown.data[i]);
	}
	(void)wd_buf_byte(line, '"');
	wd_buf_release(&shown);
}

#define MAX_LINE 16384

/* A field that does not fit is left out whole. */
static void
add_field(struct wd_buf *line, const char *key, const char *value)
{
	size_t before = line->len;

	if (line->status != WD_OK)
		return;
	if (style_now == WD_LOG_JSON) {
		(void)wd_buf_printf(line, ",\"%s\":", key);
		add_json(line, value);
	} else {
		(void)wd_buf_printf(line, " %s=", key);
		(void)wd_escape_word(line, wd_slice_text(value));
	}
	if (line->status != WD_OK && line->data != NULL)
		line->data[line->len = before] = '\0';
}

static void
add_time(struct wd_buf *line)
{
	int64_t now = wd_clock_real_ns(&wd_clock_system);
	time_t seconds = (time_t)(now / WD_NS_PER_SECOND);
	char date[32];
	struct tm utc;

	if (gmtime_r(&seconds, &utc) == NULL ||
	    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc) == 0)
		return;
	(void)wd_buf_printf(line, "\"time\":\"%s.%03dZ\",", date,
	    (int)(now / WD_NS_PER_MS % 1000));
}

/* In one write, so that lines of several processes do not mix. */
static void
write_line(const struct wd_buf *line, const char *end)
{
	char whole[MAX_LINE + 4];
	size_t len = line->len < MAX_LINE ? line->len : MAX_LINE;
	ssize_t written;

	if (len > 0)
		memcpy(whole, line->data, len);
	memcpy(whole + len, end, strlen(end));
	written = write(STDERR_FILENO, whole, len + strlen(end));
	(void)written; /* there is nobody left to tell */
}

void
wd_log_event(enum wd_log_level level, const char *event,
    const struct wd_log_field *fields, size_t count)
{
	struct wd_buf line;
	size_t i;

	if (level > highest)
		return;
	wd_buf_init(&line, MAX_LINE);
	if (style_now == WD_LOG_JSON) {
		(void)wd_buf_byte(&line, '{');
		add_time(&line);
		(void)wd_buf_printf(&line, "\"level\":\"%s\",\"event\":\"%s\"",
		    level_name(level), event);
	} else {
		(void)wd_buf_printf(&line, "%s: %s", program_name, event);
	}
	for (i = 0; i < count; i++)
		add_field(&line, fields[i].key, fields[i].value);
	write_line(&line, style_now == WD_LOG_JSON ? "}\n" : "\n");
	wd_buf_release(&line);
}

void
wd_log(enum wd_log_level level, const char *format, ...)
{
	char message[4096], shown[4 * sizeof(message)];
	struct wd_log_field field = { "message", message };
	struct wd_buf line;
	va_list args;

	if (level > highest)
		return;
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (style_now == WD_LOG_JSON) {
		wd_log_event(level, "log", &field, 1);
		return;
	}
	wd_buf_init(&line, MAX_LINE);
	(void)wd_buf_printf(&line, "%s: %s", program_name,
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(message)));
	write_line(&line, "\n");
	wd_buf_release(&line);
}
