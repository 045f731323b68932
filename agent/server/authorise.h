/*
 * authorise.h - what a client may do, by the names of its certificate.
 *
 * READ: ask what the agent knows and sees; no file is read for it. WORK: also
 * have files hashed. Without a rule that fits, nothing.
 */
#ifndef WD_SERVER_AUTHORISE_H
#define WD_SERVER_AUTHORISE_H

#include <stddef.h>

#include "base/error.h"
#include "base/tls.h"

enum wd_role {
	WD_ROLE_READ = 1,
	WD_ROLE_WORK = 2, /* a rule that gives WORK gives READ too */
};

/* Gives `roles` to certificates with that name: "uri:spiffe://lab/bench",
 * "dns:bench.lab", "cn:ops" exactly; "dns:*.lab" one label in front of it;
 * "*" every certificate of the CA. */
struct wd_role_rule {
	const char *name;
	unsigned roles;
};

/* Whether the rules can be used. Errors: WD_INVALID, and the message says
 * which one and why. */
enum wd_status wd_roles_check(const struct wd_role_rule *rules, size_t count,
    struct wd_error *err) WD_MUST_CHECK;

/* All roles that the rules give to these names together. */
unsigned wd_roles_of(const struct wd_role_rule *rules, size_t count,
    const struct wd_tls_names *names);

#endif
