#include <inttypes.h>
#include <string.h>

#include "verdict/page.h"
#include "verdict/parts.h"

#define STATE(name) WEIGHTD__V1__CONNECTION_STATE__CONNECTION_STATE_##name
#define MAX_HOLDERS 16

static const char *
state_words(const Weightd__V1__AcceptedConnection *connection)
{
	static const struct wd_word words[] = {
		{ STATE(NONE), "not found" },
		{ STATE(NOT_ACCEPTED), "not accepted yet" },
		{ STATE(HIDDEN), "could not all be seen" },
		{ STATE(SEVERAL), "several fit" },
		{ STATE(FOUND), "found" },
	};

	return connection == NULL ?
	    "not looked for" :
	    WD_WORD(words, connection->state, "not looked for");
}

static void
show_end(struct wd_page *page, const char *address, uint32_t port, bool is_v6)
{
	(void)wd_buf_text(page->out, is_v6 ? "[" : "");
	wd_page_text(page, address);
	(void)wd_buf_printf(page->out, "%s:%" PRIu32, is_v6 ? "]" : "", port);
}

static void
show_holders(
    struct wd_page *page, const Weightd__V1__AcceptedConnection *connection)
{
	size_t i, count = connection->n_owners;

	wd_page_key(page, 1, "held by");
	for (i = 0; i < count && i < MAX_HOLDERS; i++) {
		const Weightd__V1__Owner *owner = connection->owners[i];

		(void)wd_buf_printf(page->out, "%spid %" PRId32 " fd %" PRId32,
		    i == 0 ? "" : ", ", owner->pid, owner->fd);
		if (owner->tid != 0 && owner->tid != owner->pid)
			(void)wd_buf_printf(
			    page->out, " (thread %" PRId32 ")", owner->tid);
	}
	if (i < count)
		(void)wd_buf_printf(page->out, ", %zu more", count - i);
	if (count == 0)
		(void)wd_buf_text(page->out, "nobody who can be seen");
	wd_page_end(page);
}

void
wd_page_connection(struct wd_page *page, const Weightd__V1__Attestation *all)
{
	const Weightd__V1__AcceptedConnection *found = all->connection;
	const Weightd__V1__Connection *asked =
	    all->question == NULL ? NULL : all->question->connection;

	if (found == NULL && asked == NULL)
		return;
	wd_page_key(page, 0, "connection");
	if (asked != NULL) {
		(void)wd_buf_text(page->out, "from ");
		show_end(page, asked->address, asked->port,
		    strchr(asked->address, ':') != NULL);
		(void)wd_buf_text(page->out, ", ");
	}
	(void)wd_buf_text(page->out, state_words(found));
	if (found == NULL || found->local_port == 0) {
		wd_page_end(page);
		return;
	}
	(void)wd_buf_text(page->out, " at ");
	show_end(page, found->local_address, found->local_port,
	    found->family == WEIGHTD__V1__FAMILY__FAMILY_INET6);
	if (found->translated)
		(void)wd_buf_text(page->out, " (translated)");
	if (found->netns != 0)
		(void)wd_buf_printf(
		    page->out, ", netns %" PRIu64, found->netns);
	wd_page_end(page);
	show_holders(page, found);
}
