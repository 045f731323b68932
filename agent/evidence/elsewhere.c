/*
 * A question about a port asks who listens on it, and whoever connects to it
 * may end elsewhere (design rule 7): at a socket that is bound to the very
 * address, at another port to which the kernel rewrites the connection, in
 * another network namespace. Each is said when there is a sign of it, and
 * decides nothing; a question that is bound to a connection has no such doubt.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "evidence/address.h"
#include "evidence/look.h"
#include "host/reach.h"

#define REMEDY "ask bound to a connection, with --connection"

static void
write_address(
    enum wd_family family, const uint8_t *bytes, char text[INET6_ADDRSTRLEN])
{
	text[0] = '\0';
	(void)inet_ntop(family == WD_INET4 ? AF_INET : AF_INET6, bytes, text,
	    INET6_ADDRSTRLEN);
}

/* ---- a specific address beside a wildcard ---------------------------------
 */

/* Whether a wildcard of other owners would answer on the address as well. */
static bool
is_overridden(const struct wd_look *look, size_t wildcard, size_t specific)
{
	const struct wd_listener *w = &look->listeners.items[wildcard];
	const struct wd_listener *s = &look->listeners.items[specific];
	struct wd_address address = wd_address_of(s->family, s->address);

	return w->netns == s->netns && s->interface == 0 &&
	    !wd_listener_is_wildcard(s) &&
	    wd_listener_is_wildcard_for(w, &address) &&
	    look->listener_group[wildcard] != look->listener_group[specific];
}

static enum wd_status
say_specific(struct wd_look *look, const struct wd_listener *listener)
{
	char what[128], address[INET6_ADDRSTRLEN];

	write_address(listener->family, listener->address, address);
	(void)snprintf(
	    what, sizeof(what), "port %u at %s", listener->port, address);
	return wd_blinds_add(&look->other_blinds, WD_CHANGED, 0,
	    "name the address that clients connect to with --address, "
	    "or " REMEDY,
	    what,
	    "the socket that is bound to this address gets its traffic; the "
	    "wildcard of another process gets the rest");
}

static enum wd_status
find_specific(struct wd_look *look)
{
	size_t i, j, count = look->listeners.count;
	enum wd_status st = WD_OK;

	for (i = 0; i < count && st == WD_OK; i++) {
		for (j = 0; j < count; j++)
			if (is_overridden(look, j, i))
				break;
		if (j < count)
			st = say_specific(look, &look->listeners.items[i]);
	}
	return st;
}

/* ---- other namespaces -----------------------------------------------------
 */

/* Only as far as the list is there for other reasons. */
static enum wd_status
find_other_namespaces(struct wd_look *look)
{
	const Weightd__V1__Question *q = look->question;
	uint64_t asked = q->netns == 0 ? look->host.netns : q->netns;
	uint64_t met = 0;
	size_t i, count = 0;
	char what[80], reason[160];

	for (i = 0; i < look->all.count; i++)
		if (look->all.items[i].port == q->port &&
		    look->all.items[i].netns != asked) {
			met = look->all.items[i].netns;
			count++;
		}
	if (q->all_namespaces || count == 0)
		return WD_OK;
	(void)snprintf(what, sizeof(what),
	    "port %" PRIu32 " in other namespaces", q->port);
	(void)snprintf(reason, sizeof(reason),
	    "%zu sockets listen there, one of them in network namespace "
	    "%" PRIu64 ", and were not asked about",
	    count, met);
	return wd_blinds_add(&look->other_blinds, WD_UNSUPPORTED, 0,
	    "ask with --netns ID, or --netns all", what, reason);
}

/* ---- translation ----------------------------------------------------------
 */

static bool
is_redirected(const struct wd_translation *row)
{
	return row->server_port != row->asked_port ||
	    memcmp(row->server, row->asked, sizeof(row->server)) != 0;
}

static enum wd_status
say_redirected(struct wd_look *look, const struct wd_translation *row)
{
	char what[80], reason[200], asked[INET6_ADDRSTRLEN],
	    server[INET6_ADDRSTRLEN];

	write_address(row->family, row->asked, asked);
	write_address(row->family, row->server, server);
	(void)snprintf(
	    what, sizeof(what), "port %u at %s", row->asked_port, asked);
	(void)snprintf(reason, sizeof(reason),
	    "the kernel passes connections to it on to %s port %u, whoever "
	    "listens here",
	    server, row->server_port);
	return wd_blinds_add(
	    &look->other_blinds, WD_CHANGED, 0, REMEDY, what, reason);
}

/* The rules themselves are not read; a connection that was rewritten is the
 * sign that there is one. The first is enough. */
static enum wd_status
find_redirected(struct wd_look *look)
{
	WD_CLEANUP(wd_translations_release) struct wd_translations rows;
	enum wd_status st = wd_host_translations(look->with->host, 0,
	    (uint16_t)look->question->port, look->deadline, &rows, NULL);
	size_t i;

	for (i = 0; i < rows.count && st == WD_OK; i++)
		if (is_redirected(&rows.items[i]))
			return say_redirected(look, &rows.items[i]);
	return st == WD_NOMEM ? st : WD_OK;
}

enum wd_status
wd_look_elsewhere(struct wd_look *look, struct wd_error *err)
{
	enum wd_status st;

	if (wd_look_has_connection(look))
		return WD_OK;
	st = find_specific(look);
	if (st == WD_OK)
		st = find_other_namespaces(look);
	if (st == WD_OK)
		st = find_redirected(look);
	return st == WD_OK ? st : wd_fail(err, st, "elsewhere: out of memory");
}
