/*
 * churn [CALLS [KILOBYTES]] - the desk (observer/desk.h) before the running
 * system, asked CALLS times about a port while processes and listeners come and
 * go beside it; every tenth question is cancelled. Passes when each question
 * that was not cancelled had one answer that knows the listener, and when
 * descriptors and threads are at the end what they were after the first
 * quarter, and memory is larger by at most KILOBYTES (8192: a heap's holes lie
 * elsewhere; a sanitiser keeps what was freed).
 */
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/system.h"
#include "observer/desk.h"
#include "weightd/v1/service.pb-c.h"
#include "wire/build.h"
#include "wire/unpack.h"

#define OPEN_AT_ONCE 8
#define CALL_MS 60000

/* ---- neighbours ----------------------------------------------------------
 */

static int
listen_somewhere(uint16_t *port)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(any);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&any, len) != 0 ||
	    listen(fd, 4) != 0 ||
	    getsockname(fd, (struct sockaddr *)&any, &len) != 0)
		return -1;
	*port = ntohs(any.sin_port);
	return fd;
}

static _Noreturn void
come_and_go(void)
{
	uint16_t port;

	for (;;) {
		pid_t pid = fork();
		int fd;

		if (pid == 0) {
			(void)usleep(2000);
			_exit(0);
		}
		fd = listen_somewhere(&port);
		(void)usleep(3000);
		if (fd >= 0)
			(void)close(fd);
		if (pid > 0)
			(void)waitpid(pid, NULL, 0);
	}
}

static pid_t
start_neighbour(int serving)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (serving < 0)
		come_and_go();
	for (;;)
		(void)pause();
}

/* ---- what must stay -------------------------------------------------------
 */

struct usage {
	unsigned descriptors, threads;
	unsigned long kilobytes;
};

static unsigned
count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		(void)closedir(dir);
	return count;
}

static struct usage
measure(void)
{
	struct usage now = { count_entries("/proc/self/fd"),
		count_entries("/proc/self/task"), 0 };
	FILE *file = fopen("/proc/self/statm", "r");

	if (file == NULL || fscanf(file, "%*u %lu", &now.kilobytes) != 1)
		now.kilobytes = 0;
	if (file != NULL)
		(void)fclose(file);
	now.kilobytes *= (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
	return now;
}

/* ---- questions ------------------------------------------------------------
 */

static struct {
	struct wd_desk *desk;
	struct wd_observer *observer;
	struct wd_buf question;
	unsigned long open, answered, cancelled, wrong, most_growth_kb;
} churn;

static enum wd_status
new_host(void *ctx, struct wd_host **host, struct wd_error *err)
{
	(void)ctx;
	return wd_host_system(true, host, err);
}

static enum wd_status
new_reader(void *ctx, struct wd_reader **reader, struct wd_error *err)
{
	(void)ctx;
	return wd_reader_in_process(NULL, reader, err);
}

static void
on_answer(void *ctx, enum wd_status status, struct wd_slice answer,
    const struct wd_error *err)
{
	WD_CLEANUP(wd_message_free_scoped) ProtobufCMessage *message = NULL;
	const Weightd__V1__AttestPortResponse *response;

	(void)ctx;
	churn.open--;
	churn.answered++;
	if (status != WD_OK ||
	    wd_wire_unpack(&weightd__v1__attest_port_response__descriptor,
		answer, WD_WIRE_REFUSE_UNKNOWN, 1U << 24, &message,
		NULL) != WD_OK) {
		(void)fprintf(stderr, "churn: %s\n", err->message);
		churn.wrong++;
		return;
	}
	response = (const Weightd__V1__AttestPortResponse *)message;
	churn.wrong += response->attestation->n_listeners != 1;
}

static void
wait_below(unsigned long most)
{
	struct pollfd wake = { wd_desk_wake_fd(churn.desk), POLLIN, 0 };

	while (churn.open > most && poll(&wake, 1, CALL_MS) == 1)
		wd_desk_deliver(churn.desk);
}

static bool
ask(unsigned long number)
{
	struct wd_deadline deadline = wd_deadline_in(&wd_clock_system, CALL_MS);
	wd_ticket ticket;

	if (wd_observer_ask(churn.observer, WD_CALL_ATTEST_PORT,
		wd_buf_slice(&churn.question), &deadline, on_answer, NULL,
		&ticket, NULL) != WD_OK)
		return false;
	churn.open++;
	if (number % 10 == 9) {
		wd_observer_cancel(churn.observer, ticket);
		churn.open--;
		churn.cancelled++;
	}
	wait_below(OPEN_AT_ONCE - 1);
	return true;
}

static bool
ask_all(unsigned long from, unsigned long to)
{
	while (from < to)
		if (!ask(from++))
			return false;
	wait_below(0);
	return churn.open == 0;
}

static bool
start_desk(struct wd_store *store, uint16_t port)
{
	struct wd_desk_options options = { .clock = &wd_clock_system,
		.store = store,
		.new_host = new_host,
		.new_reader = new_reader,
		.answerers = 2,
		.hashers = 1,
		.open_questions = 4 * OPEN_AT_ONCE };
	Weightd__V1__AttestPortRequest request;
	Weightd__V1__Question question;

	weightd__v1__attest_port_request__init(&request);
	weightd__v1__question__init(&question);
	question.port = port;
	request.question = &question;
	wd_buf_init(&churn.question, 4096);
	if (wd_wire_pack(&request.base, &churn.question, NULL) != WD_OK ||
	    wd_desk_start(&options, &churn.desk, NULL) != WD_OK)
		return false;
	churn.observer = wd_desk_observer(churn.desk);
	return true;
}

static bool
is_flat(unsigned long calls)
{
	struct usage early, late;

	if (!ask_all(0, calls / 4))
		return false;
	early = measure();
	if (!ask_all(calls / 4, calls))
		return false;
	late = measure();
	(void)printf("%lu answered, %lu cancelled, %lu wrong; descriptors "
		     "%u to %u, threads %u to %u, %lu to %lu kB\n",
	    churn.answered, churn.cancelled, churn.wrong, early.descriptors,
	    late.descriptors, early.threads, late.threads, early.kilobytes,
	    late.kilobytes);
	return churn.wrong == 0 && churn.answered + churn.cancelled == calls &&
	    late.descriptors == early.descriptors &&
	    late.threads == early.threads &&
	    late.kilobytes <= early.kilobytes + churn.most_growth_kb;
}

int
main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
	struct wd_store *store = NULL;
	uint16_t port = 0;
	int fd = listen_somewhere(&port);
	pid_t server = fd < 0 ? -1 : start_neighbour(fd), restless;
	bool good = false;

	churn.most_growth_kb = argc > 2 ? strtoul(argv[2], NULL, 10) : 8192;
	/* The server alone has the socket. */
	if (fd >= 0)
		(void)close(fd);
	restless = start_neighbour(-1);
	if (server > 0 && restless > 0 &&
	    wd_store_open_memory(&store, NULL) == WD_OK &&
	    start_desk(store, port))
		good = is_flat(calls);
	wd_observer_free(&churn.observer);
	wd_store_free(&store);
	wd_buf_release(&churn.question);
	if (server > 0)
		(void)kill(server, SIGKILL);
	if (restless > 0)
		(void)kill(restless, SIGKILL);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
