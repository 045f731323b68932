#include "host/linux/sockdiag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/diagdump.h"
#include "host/linux/procnet.h"

/* The kernel answers at once; this only keeps a broken one from hanging us. */
#define DIAG_WAIT_SECONDS 5

struct diag_request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 ask;
	struct rtattr attribute; /* MPTCP's number needs more than 8 bits */
	uint32_t protocol;
};

int
wd_diag_socket(void)
{
	struct timeval wait = { DIAG_WAIT_SECONDS, 0 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd >= 0)
		(void)setsockopt(
		    fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	return fd;
}

struct listener_dump {
	uint16_t port;
	bool mptcp;
	struct wd_listeners *found;
};

static enum wd_tristate
v6only_option(const struct nlmsghdr *head)
{
	const uint8_t *option = wd_diag_attribute(head,
	    sizeof(struct inet_diag_msg), INET_DIAG_SKV6ONLY, sizeof(*option));

	if (option == NULL)
		return WD_NOT_KNOWN;
	return *option ? WD_YES : WD_NO;
}

static enum wd_status
take_socket(void *ctx, const struct nlmsghdr *head)
{
	struct listener_dump *dump = ctx;
	const struct inet_diag_msg *message =
	    wd_diag_payload(head, sizeof(*message));
	struct wd_listeners *found = dump->found;
	struct wd_listener item;
	void *items = found->items;
	enum wd_status st;
	bool v6;

	if (message == NULL)
		return WD_MALFORMED;
	v6 = message->idiag_family == AF_INET6;
	memset(&item, 0, sizeof(item));
	item.port = ntohs(message->id.idiag_sport);
	if (message->idiag_state != WD_TCP_LISTEN ||
	    (dump->port != 0 && item.port != dump->port))
		return WD_OK;
	item.family = v6 ? WD_INET6 : WD_INET4;
	memcpy(item.address, message->id.idiag_src, v6 ? 16 : 4);
	item.inode = message->idiag_inode;
	item.cookie = (uint64_t)message->id.idiag_cookie[1] << 32 |
	    message->id.idiag_cookie[0];
	item.interface = message->id.idiag_if;
	item.uid = message->idiag_uid;
	item.v6only = v6 ? wd_v6only_settle(item.address, v6only_option(head)) :
			   WD_NOT_KNOWN;
	item.mptcp = dump->mptcp;
	item.by_primary = true;
	st = wd_grow(&items, found->count, &found->capacity, sizeof(item),
	    WD_MAX_LISTENERS);
	found->items = items;
	if (st == WD_OK)
		found->items[found->count++] = item;
	return st;
}

static enum wd_status
diag_dump(int diag, int family, uint32_t protocol, uint16_t port,
    struct wd_listeners *found)
{
	struct listener_dump dump = { port, protocol != IPPROTO_TCP, found };
	const struct wd_diag_taker taker = { take_socket, &dump, NULL };
	struct diag_request request;

	memset(&request, 0, sizeof(request));
	request.head.nlmsg_len = sizeof(request);
	request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	request.ask.sdiag_family = (uint8_t)family;
	request.ask.sdiag_protocol = (uint8_t)protocol;
	request.ask.idiag_states = 1U << WD_TCP_LISTEN;
	/* For listening sockets the kernel compares the source port itself. */
	request.ask.id.idiag_sport = htons(port);
	request.attribute.rta_type = INET_DIAG_REQ_PROTOCOL;
	request.attribute.rta_len = RTA_LENGTH(sizeof(request.protocol));
	request.protocol = protocol;
	if (protocol <= UINT8_MAX)
		request.head.nlmsg_len = NLMSG_LENGTH(sizeof(request.ask));
	return wd_diag_dump(diag, &request.head, &taker);
}

/* An MPTCP listener also shows as the TCP listener of its first subflow, with
 * the same inode: one socket, marked. */
static enum wd_status
add_mptcp(struct wd_listeners *found, const struct wd_listener *item)
{
	void *items;
	enum wd_status st;
	size_t i;

	for (i = 0; i < found->count; i++) {
		struct wd_listener *known = &found->items[i];

		if (known->inode == item->inode && known->port == item->port &&
		    known->family == item->family) {
			known->mptcp = true;
			return WD_OK;
		}
	}
	items = found->items;
	st = wd_grow(&items, found->count, &found->capacity, sizeof(*item),
	    WD_MAX_LISTENERS);
	found->items = items;
	if (st == WD_OK)
		found->items[found->count++] = *item;
	return st;
}

/* A kernel without MPTCP has no such sockets, so a refusal is no gap. */
static enum wd_status
diag_mptcp(int diag, int family, uint16_t port, struct wd_listeners *found)
{
	WD_CLEANUP(wd_listeners_release) struct wd_listeners marked = { 0 };
	enum wd_status st =
	    diag_dump(diag, family, IPPROTO_MPTCP, port, &marked);
	size_t i;

	if (st == WD_UNSUPPORTED)
		return WD_OK;
	for (i = 0; i < marked.count && st == WD_OK; i++)
		st = add_mptcp(found, &marked.items[i]);
	return st;
}

enum wd_status
wd_diag_listeners(int diag, uint16_t port, bool mptcp,
    struct wd_listeners *found, struct wd_error *err)
{
	static const int families[] = { AF_INET, AF_INET6 };
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < 2 && st == WD_OK; i++)
		st = diag_dump(diag, families[i], IPPROTO_TCP, port, found);
	for (i = 0; i < 2 && mptcp && st == WD_OK; i++)
		st = diag_mptcp(diag, families[i], port, found);
	if (st == WD_OK)
		return WD_OK;
	return wd_fail(err, st,
	    "sock_diag: listing the listening sockets on port %u: %s", port,
	    wd_status_name(st));
}
