#include "api/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/slice.h"

static enum wd_status
refuse(struct wd_error *err, const char *text, const char *why)
{
	char shown[128];

	return wd_fail(err, WD_INVALID, "\"%s\": %s",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(text)), why);
}

/* Names and addresses, and what a scope needs (fe80::1%eth0). What else could
 * stand in a name would be somebody's mistake or trick. */
static bool
is_host_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (c != '\0' && strchr(".-_:%", c) != NULL);
}

static bool
take_host(
    const char *host, size_t len, bool is_bracketed, struct wd_target *target)
{
	size_t i;

	if (len == 0 || len >= sizeof(target->host) || host[0] == '-')
		return false;
	for (i = 0; i < len; i++)
		if (!is_host_byte(host[i]))
			return false;
	memcpy(target->host, host, len);
	target->host[len] = '\0';
	/* Only an IPv6 address stands in brackets, and it has a colon. */
	return (strchr(target->host, ':') != NULL) == is_bracketed;
}

static bool
take_port(const char *text, uint16_t *port)
{
	uint64_t number = 0;

	if (!wd_slice_number(wd_slice_text(text), 10, &number) || number == 0 ||
	    number > 65535 || strlen(text) > 5)
		return false;
	*port = (uint16_t)number;
	return true;
}

enum wd_status
wd_target_port(
    const char *flag, const char *value, uint16_t *port, struct wd_error *err)
{
	char shown[32];

	if (take_port(value, port))
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "%s \"%s\" is no number from 1 to 65535", flag,
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(value)));
}

enum wd_status
wd_target_parse(
    const char *text, struct wd_target *target, struct wd_error *err)
{
	static const char form[] = "is no HOST:PORT; write mac-3.lab:8080, "
				   "10.0.0.3:8080 or [::1]:8080";
	const char *colon = strrchr(text, ':');
	size_t len = colon == NULL ? 0 : (size_t)(colon - text);
	bool is_bracketed = len >= 2 && text[0] == '[' && text[len - 1] == ']';

	if (colon == NULL)
		return refuse(err, text, form);
	if (!take_host(is_bracketed ? text + 1 : text,
		is_bracketed ? len - 2 : len, is_bracketed, target))
		return refuse(err, text, form);
	if (!take_port(colon + 1, &target->port))
		return refuse(
		    err, text, "its port is no number from 1 to 65535");
	return WD_OK;
}

enum wd_status
wd_target_parse_host(
    const char *text, struct wd_target *target, struct wd_error *err)
{
	size_t len = strlen(text);
	const char *colon = strchr(text, ':');
	bool is_bracketed = len >= 2 && text[0] == '[' && text[len - 1] == ']';
	/* Two colons are an IPv6 address, one is a port. */
	bool is_ipv6 = colon != NULL && strchr(colon + 1, ':') != NULL;

	target->port = 0;
	if (take_host(is_bracketed ? text + 1 : text,
		is_bracketed ? len - 2 : len, is_bracketed || is_ipv6, target))
		return WD_OK;
	return refuse(err, text,
	    "is no HOST; write mac-3.lab, 10.0.0.3 or ::1, without a port (the "
	    "agent's is given with --agent-port)");
}

bool
wd_target_looks_like(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon != NULL && colon != text && colon[1] != '\0' &&
	    strchr(text, '/') == NULL &&
	    strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

const char *
wd_target_text(const struct wd_target *target, char text[WD_TARGET_TEXT_BYTES])
{
	bool is_ipv6 = strchr(target->host, ':') != NULL;

	(void)snprintf(text, WD_TARGET_TEXT_BYTES, "%s%s%s:%" PRIu16,
	    is_ipv6 ? "[" : "", target->host, is_ipv6 ? "]" : "", target->port);
	return text;
}
