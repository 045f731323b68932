/*
 * bench_call.c - one question about a port at a warm desk (observer/desk.h),
 * from asking to the packed answer, against weightd --once and lsof on a
 * synthetic host.
 *
 *	bench_call WEIGHTD [DESCRIPTORS] [ROUNDS]
 *
 * The desk's time is what the service adds to a handshake: every question
 * makes a full look of its own, since nothing cheaper tells that no other
 * process has joined the owners of the port.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/rounds.h"
#include "bench/synth.h"
#include "host/system.h"
#include "observer/desk.h"
#include "weightd/v1/service.pb-c.h"
#include "wire/build.h"
#include "wire/unpack.h"

#define DESCRIPTORS_EACH 46
#define MAX_QUESTION 4096

struct bench {
	struct synth synth;
	struct wd_store *store;
	struct wd_desk *desk;
	struct wd_observer *observer;
	struct wd_buf question;
	bool done, good;
	char *weightd;
	char port[8], lsof_port[32];
};

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
	struct bench *bench = ctx;

	(void)err;
	bench->done = true;
	bench->good = status == WD_OK && answer.len > 0;
}

static bool
run_desk(void *ctx)
{
	struct bench *bench = ctx;
	struct pollfd wake = { wd_desk_wake_fd(bench->desk), POLLIN, 0 };
	struct wd_deadline deadline =
	    wd_deadline_in(&wd_clock_system, 60 * INT64_C(1000));
	wd_ticket ticket;

	bench->done = false;
	if (wd_observer_ask(bench->observer, WD_CALL_ATTEST_PORT,
		wd_buf_slice(&bench->question), &deadline, on_answer, bench,
		&ticket, NULL) != WD_OK)
		return false;
	while (!bench->done && poll(&wake, 1, 60000) == 1)
		wd_desk_deliver(bench->desk);
	return bench->done && bench->good;
}

/* Exits with 4: the synthetic server holds no weights. */
static bool
run_once(void *ctx)
{
	struct bench *bench = ctx;
	char *argv[] = { bench->weightd, "--once", bench->port,
		"--pid-namespace-is-all", NULL };

	(void)rounds_spawn(argv);
	return true;
}

static bool
run_lsof(void *ctx)
{
	struct bench *bench = ctx;
	char *argv[] = { "lsof", "-nP", bench->lsof_port, "-sTCP:LISTEN",
		NULL };

	return rounds_spawn(argv);
}

static bool
start_desk(struct bench *bench)
{
	struct wd_desk_options options = { .clock = &wd_clock_system,
		.new_host = new_host,
		.new_reader = new_reader,
		.answerers = 1,
		.hashers = 1,
		.open_questions = 4 };
	Weightd__V1__AttestPortRequest request;
	Weightd__V1__Question question;

	weightd__v1__attest_port_request__init(&request);
	weightd__v1__question__init(&question);
	question.port = bench->synth.port;
	request.question = &question;
	request.digests = WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_CACHED;
	wd_buf_init(&bench->question, MAX_QUESTION);
	if (wd_wire_pack(&request.base, &bench->question, NULL) != WD_OK ||
	    wd_store_open_memory(&bench->store, NULL) != WD_OK)
		return false;
	options.store = bench->store;
	if (wd_desk_start(&options, &bench->desk, NULL) != WD_OK)
		return false;
	bench->observer = wd_desk_observer(bench->desk);
	return true;
}

int
main(int argc, char **argv)
{
	static struct bench bench;
	struct way ways[] = {
		{ "warm desk", run_desk, 1, 0 },
		{ "weightd --once", run_once, 1, 0 },
		{ "lsof -iTCP:PORT", run_lsof, 1, 0 },
	};
	static const unsigned against[] = { 1, 2 };
	unsigned long descriptors =
	    argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;
	unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 7;
	int result = EXIT_FAILURE;

	if (argc < 2 || descriptors < DESCRIPTORS_EACH || rounds == 0) {
		(void)fprintf(stderr,
		    "usage: bench_call WEIGHTD [DESCRIPTORS] [ROUNDS]\n");
		return 2;
	}
	bench.weightd = argv[1];
	if (synth_start(&bench.synth, descriptors / DESCRIPTORS_EACH,
		DESCRIPTORS_EACH) == 0 &&
	    start_desk(&bench)) {
		(void)snprintf(
		    bench.port, sizeof(bench.port), "%u", bench.synth.port);
		(void)snprintf(bench.lsof_port, sizeof(bench.lsof_port),
		    "-iTCP:%u", bench.synth.port);
		(void)printf("a question about a port: %zu processes, %lu "
			     "descriptors, medians of %lu\n",
		    bench.synth.count, descriptors, rounds);
		rounds_run(ways, 3, (unsigned)rounds, &bench);
		rounds_print(ways, 3, against, 2);
		result = ways[0].median_us > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	wd_observer_free(&bench.observer);
	wd_store_free(&bench.store);
	wd_buf_release(&bench.question);
	synth_stop(&bench.synth);
	return result;
}
