#include "wire/scalar_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"

/* ---- numbers ------------------------------------------------------------- */

static bool
in_range(
    bool negative, uint64_t size, int64_t least, uint64_t most, uint64_t *bits)
{
	if (negative && size > (uint64_t)0 - (uint64_t)least)
		return false;
	if (!negative && size > most)
		return false;
	*bits = negative ? (uint64_t)0 - size : size;
	return true;
}

/* 1e3 and 1.0 are whole numbers; beyond 2^53 a double does not say which. */
static bool
whole_real(double number, int64_t least, uint64_t most, uint64_t *bits)
{
	double size = fabs(number);

	if (!(size <= 9007199254740992.0) || floor(size) < size)
		return false;
	return in_range(number < 0, (uint64_t)size, least, most, bits);
}

static bool
is_number_text(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len < 64 && strspn(text, "+-.0123456789eE") == len &&
	    text[0] != '+';
}

static bool
text_real(const char *text, double *number)
{
	char *end;

	if (!is_number_text(text))
		return false;
	*number = strtod(text, &end);
	return *end == '\0' && isinf(*number) == 0;
}

static bool
text_integer(const char *text, int64_t least, uint64_t most, uint64_t *bits)
{
	bool negative = text[0] == '-';
	uint64_t size;
	double number;

	if (wd_slice_number(wd_slice_text(text + negative), 10, &size))
		return in_range(negative, size, least, most, bits);
	return text_real(text, &number) &&
	    whole_real(number, least, most, bits);
}

bool
wd_scalar_integer(
    const json_t *json, int64_t least, uint64_t most, uint64_t *bits)
{
	json_int_t number;

	if (json_is_string(json))
		return text_integer(json_string_value(json), least, most, bits);
	if (json_is_real(json))
		return whole_real(json_real_value(json), least, most, bits);
	if (!json_is_integer(json))
		return false;
	number = json_integer_value(json);
	return in_range(number < 0,
	    number < 0 ? (uint64_t)0 - (uint64_t)number : (uint64_t)number,
	    least, most, bits);
}

bool
wd_scalar_real(const json_t *json, double *number)
{
	const char *text;

	if (json_is_number(json)) {
		*number = json_number_value(json);
		return true;
	}
	if (!json_is_string(json))
		return false;
	text = json_string_value(json);
	if (strcmp(text, "NaN") == 0)
		*number = (double)NAN;
	else if (strcmp(text, "Infinity") == 0)
		*number = (double)INFINITY;
	else if (strcmp(text, "-Infinity") == 0)
		*number = -(double)INFINITY;
	else
		return text_real(text, number);
	return true;
}

/* ---- bytes --------------------------------------------------------------- */

static int
sextet(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

bool
wd_scalar_base64(const char *text, size_t len, uint8_t *out, size_t *out_len)
{
	uint32_t bits = 0;
	unsigned held = 0;
	size_t i, made = 0;

	if (len % 4 == 0 && len > 0 && text[len - 1] == '=')
		len -= text[len - 2] == '=' ? 2 : 1;
	for (i = 0; i < len; i++) {
		int value = sextet(text[i]);

		if (value < 0)
			return false;
		bits = (bits << 6 | (uint32_t)value) & 0xffff;
		held += 6;
		if (held >= 8) {
			held -= 8;
			out[made++] = (uint8_t)(bits >> held);
		}
	}
	*out_len = made;
	return held < 6 && (bits & ((1U << held) - 1)) == 0;
}

/* ---- google.protobuf.Timestamp ------------------------------------------- */

/* `digits` decimal digits, then `*text` stands behind them. */
static bool
take_digits(const char **text, unsigned digits, int64_t *value)
{
	int64_t result = 0;

	for (; digits > 0; digits--, (*text)++) {
		if (**text < '0' || **text > '9')
			return false;
		result = result * 10 + (**text - '0');
	}
	*value = result;
	return true;
}

static bool
take_char(const char **text, char wanted)
{
	if (**text != wanted)
		return false;
	(*text)++;
	return true;
}

/* Days since 1970 of a proleptic Gregorian date; json.c has the inverse. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t from_march = month > 2 ? month - 3 : month + 9;
	int64_t y = month > 2 ? year : year - 1;

	return y * 365 + y / 4 - y / 100 + y / 400 +
	    (153 * from_march + 2) / 5 + day - 1 - 719468;
}

static int64_t
days_in(int64_t year, int64_t month)
{
	static const int8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

static bool
take_date(const char **text, int64_t *days)
{
	int64_t year, month, day;

	if (!take_digits(text, 4, &year) || !take_char(text, '-') ||
	    !take_digits(text, 2, &month) || !take_char(text, '-') ||
	    !take_digits(text, 2, &day))
		return false;
	if (year < 1 || month < 1 || month > 12 || day < 1 ||
	    day > days_in(year, month))
		return false;
	*days = days_of(year, month, day);
	return true;
}

static bool
take_clock(const char **text, int64_t *seconds)
{
	int64_t hour, minute, second;

	if (!take_digits(text, 2, &hour) || !take_char(text, ':') ||
	    !take_digits(text, 2, &minute) || !take_char(text, ':') ||
	    !take_digits(text, 2, &second))
		return false;
	*seconds = hour * 3600 + minute * 60 + second;
	return hour < 24 && minute < 60 && second < 60;
}

static bool
take_fraction(const char **text, int32_t *nanos)
{
	int32_t unit = 100000000;

	*nanos = 0;
	if (!take_char(text, '.'))
		return true;
	if (**text < '0' || **text > '9')
		return false;
	for (; **text >= '0' && **text <= '9'; (*text)++, unit /= 10) {
		if (unit == 0)
			return false;
		*nanos += (**text - '0') * unit;
	}
	return true;
}

static bool
take_zone(const char **text, int64_t *offset)
{
	int64_t hour, minute;
	bool west = **text == '-';

	*offset = 0;
	if (take_char(text, 'Z'))
		return true;
	if (!west && **text != '+')
		return false;
	(*text)++;
	if (!take_digits(text, 2, &hour) || !take_char(text, ':') ||
	    !take_digits(text, 2, &minute) || hour > 23 || minute > 59)
		return false;
	*offset = (hour * 60 + minute) * (west ? -60 : 60);
	return true;
}

bool
wd_scalar_time(const char *text, int64_t *seconds, int32_t *nanos)
{
	int64_t days, of_day, offset;

	if (!take_date(&text, &days) || !take_char(&text, 'T') ||
	    !take_clock(&text, &of_day) || !take_fraction(&text, nanos) ||
	    !take_zone(&text, &offset) || *text != '\0')
		return false;
	*seconds = days * 86400 + of_day - offset;
	/* The years 1 to 9999, also after the offset. */
	return *seconds >= INT64_C(-62135596800) &&
	    *seconds <= INT64_C(253402300799);
}
