#include "pki/names.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/escape.h"

#define LABEL_BYTES 63 /* RFC 1035, 2.3.4 */

/* ---- host names ---------------------------------------------------------- */

static bool
is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
is_label(const char *label, size_t len)
{
	size_t i;

	if (len == 0 || len > LABEL_BYTES || label[0] == '-' ||
	    label[len - 1] == '-')
		return false;
	for (i = 0; i < len; i++)
		if (!is_alnum(label[i]) && label[i] != '-')
			return false;
	return true;
}

/* A last label of digits only would be read as an address by somebody. */
static bool
is_host_name(const char *text)
{
	const char *label = text, *end;
	bool only_digits = true;

	for (;; label = end + 1) {
		end = strchr(label, '.');
		if (!is_label(label,
			end == NULL ? strlen(label) : (size_t)(end - label)))
			return false;
		if (end == NULL)
			break;
	}
	for (; *label != '\0'; label++)
		only_digits = only_digits && *label >= '0' && *label <= '9';
	return !only_digits;
}

/* ---- lists --------------------------------------------------------------- */

static bool
same_name(const struct wd_pki_name *a, const struct wd_pki_name *b)
{
	return a->ip_len == b->ip_len && strcmp(a->text, b->text) == 0;
}

static bool
holds(const struct wd_pki_names *names, const struct wd_pki_name *name)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		if (same_name(&names->items[i], name))
			return true;
	return false;
}

static enum wd_status
add(struct wd_pki_names *names, const struct wd_pki_name *name,
    struct wd_error *err)
{
	if (holds(names, name))
		return WD_OK;
	if (names->count == WD_PKI_MAX_NAMES)
		return wd_fail(err, WD_LIMIT,
		    "more than %d names; make several certificates",
		    WD_PKI_MAX_NAMES);
	names->items[names->count++] = *name;
	return WD_OK;
}

enum wd_status
wd_pki_names_add_ip(struct wd_pki_names *names, const uint8_t *bytes,
    size_t len, struct wd_error *err)
{
	struct wd_pki_name name = { .ip_len = len };

	if (len != 4 && len != 16)
		return wd_fail(err, WD_INVALID,
		    "an IP address of %zu bytes; 4 or 16 are right", len);
	memcpy(name.ip, bytes, len);
	(void)inet_ntop(len == 4 ? AF_INET : AF_INET6, name.ip, name.text,
	    sizeof(name.text));
	return add(names, &name, err);
}

static bool
parse(const char *text, struct wd_pki_name *name)
{
	size_t i, len = strlen(text);

	*name = (struct wd_pki_name){ .ip_len = 0 };
	if (inet_pton(AF_INET, text, name->ip) == 1)
		name->ip_len = 4;
	else if (inet_pton(AF_INET6, text, name->ip) == 1)
		name->ip_len = 16;
	if (name->ip_len > 0)
		return inet_ntop(name->ip_len == 4 ? AF_INET : AF_INET6,
			   name->ip, name->text, sizeof(name->text)) != NULL;
	if (len >= sizeof(name->text))
		return false;
	for (i = 0; i <= len; i++)
		name->text[i] = lower(text[i]);
	return is_host_name(name->text);
}

enum wd_status
wd_pki_names_add(
    struct wd_pki_names *names, const char *text, struct wd_error *err)
{
	struct wd_pki_name name;
	char shown[80];

	if (parse(text, &name))
		return add(names, &name, err);
	return wd_fail(err, WD_INVALID,
	    "\"%s\" is neither a host name nor an IP address; letters, digits, "
	    "hyphens and dots make a host name",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(text)));
}

bool
wd_pki_names_equal(const struct wd_pki_names *a, const struct wd_pki_names *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!holds(b, &a->items[i]))
			return false;
	return true;
}

bool
wd_pki_names_hold(const struct wd_pki_names *names, const char *text)
{
	struct wd_pki_name name;

	return parse(text, &name) && holds(names, &name);
}

enum wd_status
wd_pki_names_text(
    const struct wd_pki_names *names, const char *between, struct wd_buf *out)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		(void)wd_buf_printf(out, "%s%s:%s", i == 0 ? "" : between,
		    names->items[i].ip_len > 0 ? "IP" : "DNS",
		    names->items[i].text);
	return out->status;
}

/* ---- roles --------------------------------------------------------------- */

enum wd_status
wd_pki_role_parse(
    const char *text, enum wd_pki_role *role, struct wd_error *err)
{
	char shown[32];

	*role = strcmp(text, "host") == 0 ? WD_PKI_HOST : WD_PKI_CLIENT;
	if (*role == WD_PKI_HOST || strcmp(text, "client") == 0)
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "--role \"%s\": it is host (a machine with an agent) or client "
	    "(who asks)",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(text)));
}

const char *
wd_pki_role_name(enum wd_pki_role role)
{
	switch (role) {
	case WD_PKI_HOST:
		return "host";
	case WD_PKI_CLIENT:
		return "client";
	case WD_PKI_NO_ROLE:
		break;
	}
	return "no role";
}
