/*
 * The connection of the question, as the message of the schema.
 */
#include <arpa/inet.h>

#include "evidence/message.h"

static void
say_asked(struct wd_build *b, const Weightd__V1__Connection *asked,
    Weightd__V1__Attestation *out)
{
	Weightd__V1__Connection *said;

	if (out->question == NULL)
		return;
	said = wd_build_new(b, &weightd__v1__connection__descriptor);
	if (said == NULL)
		return;
	out->question->connection = said;
	wd_build_text(b, &said->address, asked->address);
	said->port = asked->port;
}

static void
say_holders(struct wd_build *b, const struct wd_look *look,
    Weightd__V1__AcceptedConnection *out)
{
	size_t i;

	for (i = 0; i < look->holders.count; i++) {
		const struct wd_holder *h = &look->holders.items[i];
		Weightd__V1__Owner *owner;

		if (h->inode != look->accepted.socket.inode)
			continue;
		owner = WD_BUILD_ADD(
		    b, out, owners, &weightd__v1__owner__descriptor);
		if (owner == NULL)
			return;
		wd_say_owner(h, owner);
	}
}

static void
say_socket(struct wd_build *b, const struct wd_look *look,
    Weightd__V1__AcceptedConnection *out)
{
	const struct wd_connection *socket = &look->accepted.socket;
	bool v6 = socket->family == WD_INET6;
	char address[INET6_ADDRSTRLEN] = "";

	(void)inet_ntop(
	    v6 ? AF_INET6 : AF_INET, socket->local, address, sizeof(address));
	wd_build_text(b, &out->local_address, address);
	out->family = v6 ? WEIGHTD__V1__FAMILY__FAMILY_INET6 :
			   WEIGHTD__V1__FAMILY__FAMILY_INET4;
	out->netns = socket->netns;
	out->local_port = socket->local_port;
	out->socket_id = socket->inode;
	out->translated = look->accepted.translated;
	if (socket->inode != 0)
		say_holders(b, look, out);
}

void
wd_say_connection(struct wd_build *b, const struct wd_look *look,
    Weightd__V1__Attestation *out)
{
	Weightd__V1__AcceptedConnection *said;

	if (!wd_look_has_connection(look))
		return;
	say_asked(b, look->question->connection, out);
	said = wd_build_new(b, &weightd__v1__accepted_connection__descriptor);
	if (said == NULL)
		return;
	out->connection = said;
	said->state = look->accepted.state;
	if (look->accepted.socket.local_port != 0)
		say_socket(b, look, said);
	if (look->accepted.group == WD_NONE)
		return;
	said->group_presence_case =
	    WEIGHTD__V1__ACCEPTED_CONNECTION__GROUP_PRESENCE_GROUP;
	said->group = (uint32_t)look->accepted.group;
}
