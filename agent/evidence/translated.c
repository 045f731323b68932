/*
 * A connection whose address or port was translated on its way (a published
 * port, a redirection): the kernel's table of connections has both ends of the
 * same flow, as the client sees it and as the server does. Nothing else proves
 * it: a socket that only has the caller at its other end may belong to another
 * of its connections.
 */
#include "base/mem.h"
#include "evidence/connection.h"
#include "host/reach.h"

static bool
is_of_question(const struct wd_wanted *wanted, const struct wd_translation *row)
{
	struct wd_address client = wd_address_of(row->family, row->client);
	struct wd_address asked = wd_address_of(row->family, row->asked);

	return row->client_port == wanted->caller_port &&
	    row->asked_port == wanted->port &&
	    wd_address_equal(&client, &wanted->caller) &&
	    (!wanted->has_address ||
		wd_address_equal(&asked, &wanted->address));
}

static bool
is_server_end(
    const struct wd_translation *row, const struct wd_connection *socket)
{
	struct wd_address server = wd_address_of(row->family, row->server);
	struct wd_address seen = wd_address_of(row->family, row->seen);
	struct wd_address here = wd_address_of(socket->family, socket->local);
	struct wd_address there = wd_address_of(socket->family, socket->remote);

	return socket->local_port == row->server_port &&
	    socket->remote_port == row->seen_port &&
	    wd_address_equal(&here, &server) && wd_address_equal(&there, &seen);
}

/* One that fits as it is, and at the end of a translation too, is one. */
static void
take_socket(struct wd_finding *finding, const struct wd_connection *socket)
{
	const struct wd_connection *known = &finding->socket;

	if (finding->fitting > 0 && known->netns == socket->netns &&
	    known->inode == socket->inode &&
	    known->local_port == socket->local_port)
		return;
	finding->socket = *socket;
	finding->translated = true;
	finding->fitting++;
}

static void
take_translation(const struct wd_translation *row,
    const struct wd_connections *rows, struct wd_finding *finding)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		if (is_server_end(row, &rows->items[i]))
			take_socket(finding, &rows->items[i]);
}

static enum wd_status
say_unread(struct wd_blinds *blinds, enum wd_status why,
    const struct wd_translations *tables, const char *reason)
{
	if (why == WD_OK && tables->complete)
		return WD_OK;
	if (tables->blinds.count > 0)
		return wd_blinds_take(blinds, &tables->blinds);
	return wd_blinds_add(blinds, why, 0,
	    "run the agent as root, on a kernel that has "
	    "/proc/net/nf_conntrack",
	    "translated connections",
	    why == WD_OK ? "not all could be seen" : reason);
}

enum wd_status
wd_look_translated(struct wd_look *look, const struct wd_wanted *wanted,
    const struct wd_connections *rows, struct wd_finding *finding,
    struct wd_blinds *blinds)
{
	WD_CLEANUP(wd_translations_release) struct wd_translations tables;
	struct wd_error why;
	enum wd_status st;
	size_t i;

	wd_error_init(&why);
	st = wd_host_translations(look->with->host, WD_NETNS_EVERY,
	    wanted->port, look->deadline, &tables, &why);
	for (i = 0; i < tables.count; i++)
		if (is_of_question(wanted, &tables.items[i]))
			take_translation(&tables.items[i], rows, finding);
	return st == WD_NOMEM ? st :
				say_unread(blinds, st, &tables, why.message);
}
