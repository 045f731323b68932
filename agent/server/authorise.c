#include "server/authorise.h"

#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "base/limits.h"

static const char dns[] = "dns:";
static const char star[] = "dns:*.";

static bool
begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool
is_known_form(const char *name)
{
	size_t len = strlen(name);

	if (strcmp(name, "*") == 0)
		return true;
	/* A star anywhere else is read as a star by nobody. */
	if (begins(name, star))
		return len > strlen(star) &&
		    strchr(name + strlen(star), '*') == NULL;
	if (strchr(name, '*') != NULL)
		return false;
	return (begins(name, dns) || begins(name, "uri:") ||
		   begins(name, "cn:")) &&
	    strchr(name, ':')[1] != '\0';
}

enum wd_status
wd_roles_check(
    const struct wd_role_rule *rules, size_t count, struct wd_error *err)
{
	char shown[128];
	size_t i;

	if (count > WD_MAX_ROLE_RULES)
		return wd_fail(
		    err, WD_INVALID, "more than %d roles", WD_MAX_ROLE_RULES);
	for (i = 0; i < count; i++)
		if (!is_known_form(rules[i].name))
			return wd_fail(err, WD_INVALID,
			    "role for \"%s\": write dns:NAME, dns:*.DOMAIN, "
			    "uri:URI, cn:NAME, or * alone",
			    wd_escape_short(shown, sizeof(shown),
				wd_slice_text(rules[i].name)));
	return WD_OK;
}

/* DNS names have no case; everything else has. */
static bool
fits(const char *rule, const char *name)
{
	const char *rest;

	if (strcmp(rule, "*") == 0)
		return true;
	if (!begins(rule, star))
		return begins(rule, dns) ? strcasecmp(rule, name) == 0 :
					   strcmp(rule, name) == 0;
	if (!begins(name, dns))
		return false;
	rest = strchr(name, '.');
	return rest != NULL && rest > name + strlen(dns) &&
	    strcasecmp(rest + 1, rule + strlen(star)) == 0;
}

unsigned
wd_roles_of(const struct wd_role_rule *rules, size_t count,
    const struct wd_tls_names *names)
{
	unsigned roles = 0;
	size_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < names->count; k++)
			if (fits(rules[i].name, names->items[k]))
				roles |= rules[i].roles;
	return (roles & WD_ROLE_WORK) != 0 ? roles | WD_ROLE_READ : roles;
}
