/*
 * wd-testserver CERT KEY CA CRL NAME=VALUE... - the real server on a free
 * port of 127.0.0.1, before an observer that plays, for the tests in
 * tests/integration/server.
 *
 * NAME is a member of wd_server_limits without "_ms", or "rule" with
 * CERTIFICATE-NAME=ROLES (1 read, 2 work). CRL "-" is none. Standard output
 * gets "port N" first; then each line of standard input is a command and has
 * one line of answer:
 *
 *	descriptors            how many are open
 *	open                   connections
 *	pending                questions that the observer has not answered
 *	asked                  questions that it was ever asked
 *	cancelled              of those, cancelled
 *	ready N                whether it says that it is ready
 *	rss                    resident kilobytes
 *	descriptor-limit N     soft RLIMIT_NOFILE; 0: as at the start
 *	cpu                    milliseconds of processor time so far
 *	reload CERT KEY CA CRL "ok", or what was wrong
 *	release                answers what hangs; how many they are
 *	drain MS               answers when it is done, and ends
 *
 * The port in a question chooses what the observer plays: 1 waits for release,
 *2 WD_GONE, 3 WD_BUSY at once, 4 bytes that are no message, 6 an answer of 4
 * MiB, 7 an answer about two boots, 9 nobody listens; others a good one. Of
 * ListServers the namespace does: 1 not all was seen, others one server.
 */
#include <dirent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "server/server.h"
#include "support/attestation_make.h"
#include "wire/build.h"
#include "wire/unpack.h"

#define MAX_FILE (1U << 20)
#define MAX_PENDING 512

/* ---- the observer that plays ----------------------------------------------
 */

struct pending {
	struct player *player;
	wd_ticket ticket; /* 0: not in use */
	uint32_t port;
	enum wd_call call;
	wd_observer_done *done;
	void *ctx;
	struct event *timer;
	Weightd__V1__Question *question; /* of AttestPort, else NULL */
	uint64_t netns;                  /* of ListServers */
};

struct player {
	struct wd_observer observer;
	struct event_base *base;
	wd_ticket last;
	unsigned cancelled;
	bool is_ready;
	struct pending pending[MAX_PENDING];
};

static void
fatten(Weightd__V1__Attestation *all)
{
	static char kilobyte[1025];
	int i;

	memset(kilobyte, 'u', sizeof(kilobyte) - 1);
	for (i = 0; i < 4096; i++)
		make_text(&make_process(all, i + 2, "x")->unit, kilobyte);
}

/* The question as it was put; what it is about is its port. */
static void
echo(Weightd__V1__Attestation *all, Weightd__V1__Question *question)
{
	size_t i;

	if (question == NULL)
		return;
	if (question->connection != NULL)
		make_connection(all)->local_port = question->port;
	wd_message_free(all->question);
	all->question = question;
	for (i = 0; i < all->n_listeners; i++)
		all->listeners[i]->port = question->port;
}

static void
pack_attestation(struct pending *pending, struct wd_buf *out)
{
	Weightd__V1__AttestPortResponse answer;
	Weightd__V1__Attestation *all = make_attestation();

	weightd__v1__attest_port_response__init(&answer);
	answer.attestation = all;
	echo(all, wd_steal(&pending->question));
	if (pending->port == 6)
		fatten(all);
	if (pending->port == 7)
		make_text(&all->processes[0]->identity->boot_id, "another");
	if (pending->port == 9) {
		wd_message_free(all->listeners[0]);
		all->n_listeners = 0;
	}
	(void)!wd_wire_pack(&answer.base, out, NULL);
	wd_message_free(all);
}

static void
pack_servers(const struct pending *pending, struct wd_buf *out)
{
	Weightd__V1__ListServersResponse answer;
	Weightd__V1__HostIdentity identity;
	Weightd__V1__ServedModel model;
	Weightd__V1__Server server;
	Weightd__V1__ServedModel *models[] = { &model };
	Weightd__V1__Server *servers[] = { &server };
	char host[] = "lab", address[] = "127.0.0.1", boot[] = "boot";
	char name[] = MAKE_NAME "\x1b[2J";

	weightd__v1__list_servers_response__init(&answer);
	weightd__v1__host_identity__init(&identity);
	weightd__v1__server__init(&server);
	weightd__v1__served_model__init(&model);
	identity.hostname = host;
	identity.boot_id = boot;
	model.inner_name = name;
	model.kind = KIND(MODEL);
	model.grade = GRADE(RESIDENT);
	model.parameter_count = MAKE_PARAMETERS;
	model.parameters_known = 1;
	server.address = address;
	server.family = WEIGHTD__V1__FAMILY__FAMILY_INET4;
	server.port = MAKE_PORT;
	server.owners_state = OWNERS(FOUND);
	server.grade = GRADE(RESIDENT);
	server.models = models;
	server.n_models = 1;
	answer.host = &identity;
	answer.servers = servers;
	answer.n_servers = 1;
	answer.listeners_complete = 1;
	answer.servers_complete = pending->netns != 1;
	(void)!wd_wire_pack(&answer.base, out, NULL);
}

static void
pack_answer(struct pending *pending, struct wd_buf *out)
{
	Weightd__V1__GetHostResponse host;
	Weightd__V1__HostIdentity identity;
	char name[] = "lab";

	if (pending->call == WD_CALL_ATTEST_PORT) {
		pack_attestation(pending, out);
		return;
	}
	if (pending->call == WD_CALL_LIST_SERVERS) {
		pack_servers(pending, out);
		return;
	}
	if (pending->call != WD_CALL_GET_HOST)
		return; /* an empty message */
	weightd__v1__get_host_response__init(&host);
	weightd__v1__host_identity__init(&identity);
	identity.hostname = name;
	host.host = &identity;
	(void)!wd_wire_pack(&host.base, out, NULL);
}

static void
forget(struct pending *pending)
{
	wd_message_free(pending->question);
	pending->question = NULL;
}

static void
play(evutil_socket_t fd, short events, void *ctx)
{
	struct pending *pending = ctx;
	struct wd_slice nothing = { NULL, 0 };
	struct wd_error err;
	struct wd_buf out;

	(void)fd;
	(void)events;
	pending->ticket = 0;
	event_free(pending->timer);
	wd_error_init(&err);
	wd_buf_init(&out, 64U << 20);
	if (pending->port == 2) {
		(void)wd_fail(&err, WD_GONE, "the observer ended");
		pending->done(pending->ctx, WD_GONE, nothing, &err);
	} else if (pending->port == 4) {
		pending->done(
		    pending->ctx, WD_OK, wd_slice_text("\x0a\xff"), &err);
	} else {
		pack_answer(pending, &out);
		pending->done(pending->ctx, WD_OK, wd_buf_slice(&out), &err);
	}
	wd_buf_release(&out);
	forget(pending);
}

static void
read_servers(struct wd_slice question, struct pending *pending)
{
	ProtobufCMessage *message = NULL;

	if (wd_wire_unpack(&weightd__v1__list_servers_request__descriptor,
		question, WD_WIRE_REFUSE_UNKNOWN, 1U << 20, &message,
		NULL) != WD_OK)
		return;
	pending->netns = ((Weightd__V1__ListServersRequest *)message)->netns;
	wd_message_free(message);
}

static void
read_question(
    enum wd_call call, struct wd_slice question, struct pending *pending)
{
	ProtobufCMessage *message = NULL;
	Weightd__V1__AttestPortRequest *request;

	pending->port = 0;
	if (call == WD_CALL_LIST_SERVERS)
		read_servers(question, pending);
	if (call != WD_CALL_ATTEST_PORT)
		return;
	pending->port = 4;
	if (wd_wire_unpack(&weightd__v1__attest_port_request__descriptor,
		question, WD_WIRE_REFUSE_UNKNOWN, 1U << 20, &message,
		NULL) != WD_OK)
		return;
	request = (Weightd__V1__AttestPortRequest *)message;
	/* What concerns only the caller does not come this far. */
	if (request->expectation == NULL && request->nonce.len == 0) {
		pending->port = request->question->port;
		pending->question = wd_steal(&request->question);
	}
	wd_message_free(message);
}

static enum wd_status
player_ask(struct wd_observer *observer, enum wd_call call,
    struct wd_slice question, const struct wd_deadline *deadline,
    wd_observer_done *done, void *ctx, wd_ticket *ticket, struct wd_error *err)
{
	struct player *player = (struct player *)observer;
	struct pending *free_one = NULL, asked = { .player = player };
	struct timeval wait = { 0, 0 };
	size_t i;

	(void)deadline;
	for (i = 0; i < MAX_PENDING && free_one == NULL; i++)
		if (player->pending[i].ticket == 0)
			free_one = &player->pending[i];
	read_question(call, question, &asked);
	if (free_one == NULL || asked.port == 3) {
		forget(&asked);
		return wd_fail(err, WD_BUSY, "too many questions at once");
	}
	asked.ticket = ++player->last;
	asked.call = call;
	asked.done = done;
	asked.ctx = ctx;
	*free_one = asked;
	free_one->timer = evtimer_new(player->base, play, free_one);
	if (free_one->port != 1)
		(void)event_add(free_one->timer, &wait);
	*ticket = free_one->ticket;
	return WD_OK;
}

static void
player_cancel(struct wd_observer *observer, wd_ticket ticket)
{
	struct player *player = (struct player *)observer;
	size_t i;

	for (i = 0; i < MAX_PENDING; i++) {
		if (player->pending[i].ticket != ticket)
			continue;
		event_free(player->pending[i].timer);
		player->pending[i].ticket = 0;
		forget(&player->pending[i]);
		player->cancelled++;
	}
}

static bool
player_is_ready(const struct wd_observer *observer)
{
	return ((const struct player *)observer)->is_ready;
}

static void
player_free(struct wd_observer *observer)
{
	wd_free(observer);
}

static const struct wd_observer_ops player_ops = { player_ask, player_cancel,
	player_is_ready, player_free };

static unsigned
count_pending(const struct player *player)
{
	unsigned count = 0, i;

	for (i = 0; i < MAX_PENDING; i++)
		count += player->pending[i].ticket != 0;
	return count;
}

static unsigned
release(struct player *player)
{
	unsigned count = 0, i;

	for (i = 0; i < MAX_PENDING; i++) {
		if (player->pending[i].ticket == 0)
			continue;
		event_active(player->pending[i].timer, EV_TIMEOUT, 0);
		count++;
	}
	return count;
}

/* ---- files --------------------------------------------------------------- */

static struct wd_tls_pem
read_pem(const char *path)
{
	struct wd_tls_pem pem = { path, { NULL, 0 } };
	FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
	uint8_t *bytes = wd_calloc(MAX_FILE, 1);

	if (file == NULL || bytes == NULL) {
		wd_free(bytes);
		return pem;
	}
	pem.text = (struct wd_slice){ bytes, fread(bytes, 1, MAX_FILE, file) };
	(void)fclose(file);
	return pem;
}

static void
free_pem(struct wd_tls_pem *pem)
{
	void *bytes;

	memcpy(&bytes, &pem->text.data, sizeof(bytes));
	wd_free(bytes);
}

static enum wd_status
load(char *const paths[4], struct wd_tls **tls, struct wd_error *err)
{
	struct wd_tls_material m = { read_pem(paths[0]), read_pem(paths[1]),
		read_pem(paths[2]), read_pem(paths[3]) };
	enum wd_status st =
	    wd_tls_new(WD_TLS_SERVER, &m, &wd_clock_system, tls, err);

	free_pem(&m.certificate);
	free_pem(&m.key);
	free_pem(&m.ca);
	free_pem(&m.crl);
	return st;
}

/* ---- commands ------------------------------------------------------------ */

static struct event_base *base;
static struct player *player;
static struct wd_server *server;
static struct wd_role_rule rules[16];
static size_t rule_count;
static rlim_t first_limit;

static unsigned
count_descriptors(void)
{
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		(void)closedir(dir);
	return count;
}

static unsigned long
resident_kilobytes(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file != NULL)
		(void)fclose(file);
	return pages * 4;
}

static int
limit_descriptors(unsigned long most)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return -1;
	if (first_limit == 0)
		first_limit = limit.rlim_cur;
	limit.rlim_cur = most == 0 ? first_limit : most;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

static void
reload(char *words)
{
	char *paths[4];
	struct wd_tls *tls = NULL;
	struct wd_error err;
	int i;

	wd_error_init(&err);
	for (i = 0; i < 4; i++)
		paths[i] = strsep(&words, " ");
	if (load(paths, &tls, &err) == WD_OK)
		(void)!wd_server_reload(server, &tls, rules, rule_count, &err);
	(void)printf("%s\n", err.message[0] == '\0' ? "ok" : err.message);
}

static void
on_drained(void *ctx)
{
	(void)ctx;
	(void)printf("drained\n");
	(void)event_base_loopbreak(base);
}

static void
obey(char *words)
{
	const char *verb = strsep(&words, " ");
	unsigned long number = words == NULL ? 0 : strtoul(words, NULL, 10);

	if (strcmp(verb, "descriptors") == 0)
		(void)printf("%u\n", count_descriptors());
	else if (strcmp(verb, "open") == 0)
		(void)printf("%zu\n", wd_server_connections(server));
	else if (strcmp(verb, "pending") == 0)
		(void)printf("%u\n", count_pending(player));
	else if (strcmp(verb, "release") == 0)
		(void)printf("%u\n", release(player));
	else if (strcmp(verb, "asked") == 0)
		(void)printf("%lu\n", (unsigned long)player->last);
	else if (strcmp(verb, "cancelled") == 0)
		(void)printf("%u\n", player->cancelled);
	else if (strcmp(verb, "rss") == 0)
		(void)printf("%lu\n", resident_kilobytes());
	else if (strcmp(verb, "cpu") == 0)
		(void)printf("%ld\n", (long)clock() * 1000 / CLOCKS_PER_SEC);
	else if (strcmp(verb, "ready") == 0)
		(void)printf("%d\n", player->is_ready = number != 0);
	else if (strcmp(verb, "descriptor-limit") == 0)
		(void)printf("%d\n", limit_descriptors(number));
	else if (strcmp(verb, "reload") == 0)
		reload(words);
	else if (strcmp(verb, "drain") == 0)
		wd_server_drain(server, (uint32_t)number, on_drained, NULL);
	else
		(void)printf("no such command\n");
}

static void
on_command(evutil_socket_t fd, short events, void *ctx)
{
	static char line[8192];
	static size_t len;
	ssize_t got = read((int)fd, line + len, sizeof(line) - 1 - len);
	char *end;

	(void)events;
	(void)ctx;
	if (got <= 0) {
		(void)event_base_loopbreak(base);
		return;
	}
	len += (size_t)got;
	line[len] = '\0';
	while ((end = strchr(line, '\n')) != NULL) {
		*end = '\0';
		obey(line);
		(void)fflush(stdout);
		len -= (size_t)(end + 1 - line);
		memmove(line, end + 1, len + 1);
	}
}

/* ---- start --------------------------------------------------------------- */

static void
set_option(struct wd_server_limits *limits, char *option)
{
	static const struct {
		const char *name;
		size_t offset;
	} names[] = {
#define LIMIT(name, member) { name, offsetof(struct wd_server_limits, member) }
		LIMIT("connections", connections),
		LIMIT("connections_per_peer", connections_per_peer),
		LIMIT("work_per_minute", work_per_minute),
		LIMIT("handshake", handshake_ms),
		LIMIT("request", request_ms),
		LIMIT("idle", idle_ms),
		LIMIT("reply", reply_ms),
		LIMIT("call", call_ms),
		LIMIT("call_most", call_most_ms),
	};
	char *value = option;
	const char *name = strsep(&value, "=");
	uint32_t number = (uint32_t)strtoul(value, NULL, 10);
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].name, name) == 0)
			memcpy((char *)limits + names[i].offset, &number,
			    sizeof(number));
	if (strcmp(name, "rule") == 0) {
		rules[rule_count].name = strsep(&value, "=");
		rules[rule_count++].roles = (unsigned)strtoul(value, NULL, 10);
	}
}

static int
fail(const struct wd_error *err)
{
	(void)fprintf(stderr, "testserver: %s\n", err->message);
	return 1;
}

static int
start(char **argv, int argc, struct wd_error *err)
{
	struct wd_server_options options = { base, &wd_clock_system,
		&player->observer, wd_server_limits_default() };
	struct sockaddr_in bound;
	socklen_t len = sizeof(bound);
	struct wd_tls *tls = NULL;
	int fd = -1, i;

	for (i = 5; i < argc; i++)
		set_option(&options.limits, argv[i]);
	if (load(argv + 1, &tls, err) != WD_OK ||
	    wd_server_new(&options, &tls, rules, rule_count, &server, err) !=
		WD_OK ||
	    wd_server_bind("127.0.0.1", 0, &fd, err) != WD_OK)
		return fail(err);
	if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0 ||
	    wd_server_listen(server, fd, err) != WD_OK)
		return fail(err);
	(void)printf("port %u\n", (unsigned)ntohs(bound.sin_port));
	return fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct wd_observer *observer;
	struct event *commands;
	struct wd_error err;
	int code;

	if (argc < 5)
		return 2;
	wd_error_init(&err);
	wd_log_init("testserver", WD_LOG_INFO);
	(void)signal(SIGPIPE, SIG_IGN);
	base = event_base_new();
	player = wd_calloc(1, sizeof(*player));
	if (base == NULL || player == NULL)
		return 1;
	player->observer.ops = &player_ops;
	player->base = base;
	player->is_ready = true;
	code = start(argv, argc, &err);
	commands = event_new(
	    base, STDIN_FILENO, EV_READ | EV_PERSIST, on_command, NULL);
	if (code == 0 && commands != NULL && event_add(commands, NULL) == 0)
		(void)event_base_dispatch(base);
	if (commands != NULL)
		event_free(commands);
	wd_server_free(&server);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	observer = &player->observer;
	wd_observer_free(&observer);
	event_base_free(base);
	return code;
}
