/* client/api: names and connections, with a resolver that plays. TLS and what
 * comes after it are tests/integration/weightctl/test_attest.py's. */
#include "api/api.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"
#include "weightd/v1/service.pb-c.h"

/* ---- a resolver that plays ----------------------------------------------- */

static int hanging[2]; /* nobody ever writes to it */

static int
append_address(const char *address, const char *port,
    const struct addrinfo *hints, struct addrinfo **list)
{
	struct addrinfo numeric = *hints;

	numeric.ai_flags |= AI_NUMERICHOST;
	while (*list != NULL)
		list = &(*list)->ai_next;
	return getaddrinfo(address, port, &numeric, list);
}

static int
resolve(const char *host, const char *port, const struct addrinfo *hints,
    struct addrinfo **list)
{
	char byte;

	*list = NULL;
	if ((hints->ai_flags & AI_NUMERICHOST) != 0)
		return getaddrinfo(host, port, hints, list);
	if (strcmp(host, "hangs") == 0)
		return read(hanging[0], &byte, 1) == 0 ? EAI_FAIL : EAI_AGAIN;
	if (strcmp(host, "again") == 0)
		return EAI_AGAIN;
	if (strcmp(host, "broken") == 0) {
		errno = EIO;
		return EAI_SYSTEM;
	}
	if (strcmp(host, "one") == 0)
		return append_address("127.0.0.1", port, hints, list);
	if (strcmp(host, "second") != 0)
		return EAI_NONAME;
	(void)append_address("127.0.0.2", port, hints, list);
	return append_address("127.0.0.1", port, hints, list);
}

static struct wd_api_loop *loop;

static void
begin(unsigned most_at_once)
{
	struct wd_api_options options = { .clock = &wd_clock_system,
		.most_at_once = most_at_once,
		.resolve = resolve };

	ck_assert_int_eq(pipe(hanging), 0);
	ck_assert_int_eq(wd_api_loop_new(&options, &loop, NULL), WD_OK);
}

static struct wd_target
target_of(const char *host, uint16_t port)
{
	struct wd_target target = { .port = port };

	memcpy(target.host, host, strlen(host) + 1);
	return target;
}

/* A listener on 127.0.0.1. */
static int
listen_here(int backlog, uint16_t *port)
{
	struct sockaddr_in own = { .sin_family = AF_INET };
	socklen_t len = sizeof(own);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&own, len), 0);
	ck_assert_int_eq(listen(fd, backlog), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&own, &len), 0);
	*port = ntohs(own.sin_port);
	return fd;
}

static struct wd_api_fault
fail_to_connect(const char *host, uint16_t port, int64_t timeout_ms)
{
	struct wd_target target = target_of(host, port);
	struct wd_api_fault fault = { .trouble = WD_API_FINE };
	int fd = -1;

	ck_assert(!wd_api_connect(loop, &target, timeout_ms, &fd, &fault));
	ck_assert_int_eq(fd, -1);
	return fault;
}

/* ---- names --------------------------------------------------------------- */

static const struct {
	const char *host;
	enum wd_api_trouble trouble;
} names[] = {
	{ "nowhere", WD_API_NAME_UNKNOWN },
	{ "again", WD_API_NAME_TEMPORARY },
	{ "broken", WD_API_NAME_TEMPORARY },
};

START_TEST(names_that_fail_are_told_apart)
{
	struct wd_api_fault fault;

	begin(0);
	fault = fail_to_connect(names[_i].host, 1, 60000);
	ck_assert_int_eq(fault.trouble, names[_i].trouble);
	ck_assert_int_eq(fault.phase, WD_API_LOOKUP);
	ck_assert_ptr_nonnull(strstr(fault.message, names[_i].host));
	wd_api_loop_free(&loop);
}
END_TEST

/* More than there are threads; each ends at its time, those behind them too,
 * and so does the loop. */
START_TEST(a_resolver_that_hangs_is_left_behind)
{
	struct wd_api_fault fault;
	uint16_t port;
	int i, fd = listen_here(8, &port), own = -1;
	struct wd_target literal = target_of("127.0.0.1", port);

	begin(0);
	for (i = 0; i < 20; i++) {
		fault = fail_to_connect("hangs", 1, 20);
		ck_assert_int_eq(fault.trouble, WD_API_TIMEOUT);
		ck_assert_int_eq(fault.phase, WD_API_LOOKUP);
		ck_assert_ptr_nonnull(
		    strstr(fault.message, "looking up the name"));
	}
	fault = fail_to_connect("one", port, 20);
	ck_assert_int_eq(fault.trouble, WD_API_TIMEOUT);
	/* An address needs no resolver. */
	ck_assert(wd_api_connect(loop, &literal, 60000, &own, &fault));
	(void)close(own);
	(void)close(fd);
	wd_api_loop_free(&loop);
	/* Now they end, and take what is theirs with them. */
	(void)close(hanging[1]);
}
END_TEST

/* ---- addresses ----------------------------------------------------------- */

START_TEST(every_address_is_tried)
{
	struct wd_api_fault fault;
	uint16_t port;
	int fd = listen_here(8, &port), own = -1;
	struct wd_target target = target_of("second", port);

	begin(0);
	ck_assert_msg(wd_api_connect(loop, &target, 60000, &own, &fault), "%s",
	    fault.message);
	(void)close(own);
	(void)close(fd);
	fault = fail_to_connect("second", port, 60000);
	ck_assert_int_eq(fault.trouble, WD_API_REFUSED);
	ck_assert_int_eq(fault.phase, WD_API_CONNECT);
	ck_assert_ptr_nonnull(strstr(fault.message, "2 addresses were tried"));
	wd_api_loop_free(&loop);
}
END_TEST

/* A listener whose queue is full does not answer at all. */
START_TEST(a_silent_address_has_its_time)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct wd_api_fault fault;
	uint16_t port;
	int fd = listen_here(0, &port), i, fill[8];

	begin(0);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in.sin_port = htons(port);
	for (i = 0; i < 8; i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)connect(fill[i], (struct sockaddr *)&in, sizeof(in));
	}
	fault = fail_to_connect("one", port, 200);
	ck_assert_int_eq(fault.trouble, WD_API_TIMEOUT);
	ck_assert_int_eq(fault.phase, WD_API_CONNECT);
	for (i = 0; i < 8; i++)
		(void)close(fill[i]);
	(void)close(fd);
	wd_api_loop_free(&loop);
}
END_TEST

/* ---- turns --------------------------------------------------------------- */

static unsigned ended;

static void
count_end(void *ctx, const struct wd_api_fault *fault, ProtobufCMessage *answer)
{
	struct wd_api_request *again = ctx;

	ck_assert_ptr_nonnull(fault);
	ck_assert_ptr_null(answer);
	ended++;
	/* A callback may start another one. */
	if (ended == 5)
		ck_assert_int_eq(
		    wd_api_start(loop, again, count_end, ctx, NULL), WD_OK);
}

START_TEST(calls_take_turns)
{
	Weightd__V1__GetHostRequest question;
	struct wd_api_request request = { .agent = target_of("nowhere", 1),
		.method = "GetHost",
		.question = &question.base,
		.answer = &weightd__v1__get_host_response__descriptor,
		.timeout_ms = 60000 };
	int i;

	begin(2);
	weightd__v1__get_host_request__init(&question);
	for (i = 0; i < 50; i++)
		ck_assert_int_eq(
		    wd_api_start(loop, &request, count_end, &request, NULL),
		    WD_OK);
	ck_assert_uint_eq(ended, 0);
	ck_assert_int_eq(wd_api_run(loop, NULL), WD_OK);
	ck_assert_uint_eq(ended, 51);
	/* What has not had its turn is dropped. */
	ck_assert_int_eq(
	    wd_api_start(loop, &request, count_end, &request, NULL), WD_OK);
	wd_api_loop_free(&loop);
	ck_assert_uint_eq(ended, 51);
}
END_TEST

WD_SUITE_BEGIN("client api")
WD_LOOP(names_that_fail_are_told_apart, names);
WD_TEST(a_resolver_that_hangs_is_left_behind);
WD_TEST(every_address_is_tried);
WD_TEST(a_silent_address_has_its_time);
WD_TEST(calls_take_turns);
WD_SUITE_END
