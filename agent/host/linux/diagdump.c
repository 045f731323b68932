#include "host/linux/diagdump.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/* Netlink fills at most this much in one message of a dump. */
#define DIAG_BLOCK_BYTES 32768

struct dump {
	const struct wd_diag_taker *taker;
	uint32_t id;
	bool done;
	bool interrupted;
	enum wd_status result;
};

/* linux/netlink.h's macro casts const away. */
const void *
wd_diag_payload(const struct nlmsghdr *head, size_t len)
{
	return head->nlmsg_len < NLMSG_HDRLEN + len ?
	    NULL :
	    (const uint8_t *)head + NLMSG_HDRLEN;
}

const void *
wd_diag_attribute(
    const struct nlmsghdr *head, size_t len, uint16_t type, size_t size)
{
	const uint8_t *payload = wd_diag_payload(head, NLMSG_ALIGN(len));
	const struct rtattr *at;
	size_t left, step;

	if (payload == NULL)
		return NULL;
	at = (const void *)(payload + NLMSG_ALIGN(len));
	left = head->nlmsg_len - NLMSG_HDRLEN - NLMSG_ALIGN(len);
	while (left >= sizeof(*at) && at->rta_len >= sizeof(*at) &&
	    at->rta_len <= left) {
		if (at->rta_type == type && at->rta_len >= RTA_LENGTH(size))
			return (const uint8_t *)at + RTA_LENGTH(0);
		step = RTA_ALIGN(at->rta_len);
		if (step >= left)
			break;
		at = (const void *)((const uint8_t *)at + step);
		left -= step;
	}
	return NULL;
}

/* A dump that fails on its way says so in its last message. */
static enum wd_status
dump_result(const struct nlmsghdr *head)
{
	const void *payload = wd_diag_payload(head, sizeof(int));
	int error = 0;

	if (head->nlmsg_type == NLMSG_ERROR && payload == NULL)
		return WD_MALFORMED;
	if (payload != NULL)
		memcpy(&error, payload, sizeof(error));
	if (error >= 0)
		return head->nlmsg_type == NLMSG_DONE ? WD_OK : WD_IO;
	/* No handler for the family or protocol: a module that is not there. */
	if (error == -ENOENT || error == -EINVAL)
		return WD_UNSUPPORTED;
	return wd_status_from_errno(-error);
}

static enum wd_status
take_message(const struct nlmsghdr *head, struct dump *dump)
{
	/* Answers to an earlier question that was given up. */
	if (head->nlmsg_seq != dump->id)
		return WD_OK;
	if (head->nlmsg_flags & NLM_F_DUMP_INTR)
		dump->interrupted = true;
	if (head->nlmsg_type != NLMSG_DONE && head->nlmsg_type != NLMSG_ERROR)
		return dump->taker->take(dump->taker->ctx, head);
	dump->done = true;
	dump->result = dump_result(head);
	return WD_OK;
}

static enum wd_status
take_block(const uint8_t *block, size_t len, struct dump *dump)
{
	const struct nlmsghdr *head;
	enum wd_status st = WD_OK;
	size_t step;

	while (st == WD_OK && !dump->done && len >= sizeof(*head)) {
		head = (const void *)block;
		if (head->nlmsg_len < sizeof(*head) || head->nlmsg_len > len)
			return WD_MALFORMED;
		st = take_message(head, dump);
		step = NLMSG_ALIGN(head->nlmsg_len);
		if (step >= len)
			break;
		block += step;
		len -= step;
	}
	return st;
}

static enum wd_status
receive(int diag, struct dump *dump)
{
	uint8_t block[DIAG_BLOCK_BYTES] __attribute__((aligned(8)));
	const struct wd_deadline *deadline = dump->taker->deadline;
	enum wd_status st;
	ssize_t got;

	while (!dump->done) {
		if (deadline != NULL && wd_deadline_passed(deadline))
			return WD_TIMEDOUT;
		got = recv(diag, block, sizeof(block), MSG_TRUNC);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? WD_TIMEDOUT :
						 wd_status_from_errno(errno);
		if (got == 0 || (size_t)got > sizeof(block))
			return WD_IO;
		st = take_block(block, (size_t)got, dump);
		if (st != WD_OK)
			return st;
	}
	if (dump->result == WD_OK && dump->interrupted)
		return WD_CHANGED;
	return dump->result;
}

enum wd_status
wd_diag_dump(
    int diag, struct nlmsghdr *request, const struct wd_diag_taker *taker)
{
	static _Atomic uint32_t last_id;
	struct dump dump = { taker, ++last_id, false, false, WD_OK };

	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	request->nlmsg_seq = dump.id;
	if (send(diag, request, request->nlmsg_len, 0) < 0)
		return wd_status_from_errno(errno);
	return receive(diag, &dump);
}
