/*
 * bench_owners.c - from a port to its owners: the complete look, and the
 * confirmation of an earlier one, against ss and lsof on a synthetic host.
 *
 *	bench_owners [DESCRIPTORS] [ROUNDS]
 *
 * Starts processes with 46 descriptors each, DESCRIPTORS (100,000) in all, and
 * runs every way once per round, ROUNDS (7) times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/rounds.h"
#include "bench/synth.h"
#include "host/linux/linux.h"

#define DESCRIPTORS_EACH 46

struct bench {
	struct wd_host *one, *all; /* one thread, and the default */
	struct synth synth;
	struct wd_listeners listeners;
	struct wd_holders holders;
	char lsof_port[32];
};

static bool
look(struct wd_host *host, struct bench *bench)
{
	struct wd_listener_query query = { WD_NETNS_OWN, 0, bench->synth.port };
	struct wd_deadline deadline = wd_deadline_none();
	bool found;

	wd_listeners_release(&bench->listeners);
	wd_holders_release(&bench->holders);
	if (wd_host_listeners(
		host, &query, &deadline, &bench->listeners, NULL) != WD_OK ||
	    bench->listeners.count != 1 ||
	    wd_host_holders(host, &bench->listeners.items[0].inode, 1,
		&deadline, &bench->holders, NULL) != WD_OK)
		return false;
	found = bench->holders.count == 1 &&
	    bench->holders.items[0].pid == bench->synth.listening;
	if (!found)
		(void)fprintf(stderr, "the owner was not found\n");
	return found;
}

static bool
run_one(void *ctx)
{
	struct bench *bench = ctx;

	return look(bench->one, bench);
}

static bool
run_all(void *ctx)
{
	struct bench *bench = ctx;

	return look(bench->all, bench);
}

static bool
run_confirm(void *ctx)
{
	struct bench *bench = ctx;
	struct wd_confirmation now;

	return wd_host_confirm(bench->all, &bench->listeners, &bench->holders,
		   &now, NULL) == WD_OK &&
	    now.listeners_same && now.holders_same;
}

static bool
run_ss(void *ctx)
{
	char *argv[] = { "ss", "-ltnp", NULL };

	(void)ctx;
	return rounds_spawn(argv);
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
open_hosts(struct bench *bench)
{
	struct wd_host_linux_options one = { .threads = 1 };

	return wd_host_linux_open(&one, &bench->one, NULL) == WD_OK &&
	    wd_host_linux_open(NULL, &bench->all, NULL) == WD_OK;
}

int
main(int argc, char **argv)
{
	static struct bench bench;
	struct way ways[] = {
		{ "weightd, one thread", run_one, 1, 0 },
		{ "weightd", run_all, 1, 0 },
		{ "weightd, confirm", run_confirm, 200, 0 },
		{ "ss -ltnp", run_ss, 1, 0 },
		{ "lsof -iTCP:PORT", run_lsof, 1, 0 },
	};
	static const unsigned against[] = { 3, 4 };
	unsigned long descriptors =
	    argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 7;
	int result = EXIT_FAILURE;

	if (descriptors < DESCRIPTORS_EACH || rounds == 0) {
		(void)fprintf(stderr,
		    "usage: bench_owners [DESCRIPTORS] "
		    "[ROUNDS]\n");
		return 2;
	}
	if (synth_start(&bench.synth, descriptors / DESCRIPTORS_EACH,
		DESCRIPTORS_EACH) == 0 &&
	    open_hosts(&bench)) {
		(void)snprintf(bench.lsof_port, sizeof(bench.lsof_port),
		    "-iTCP:%u", bench.synth.port);
		(void)printf("port to owners: %zu processes, %lu "
			     "descriptors, medians of %lu\n",
		    bench.synth.count, descriptors, rounds);
		rounds_run(ways, 5, (unsigned)rounds, &bench);
		rounds_print(ways, 5, against, 2);
		result = ways[1].median_us > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	synth_stop(&bench.synth);
	wd_listeners_release(&bench.listeners);
	wd_holders_release(&bench.holders);
	wd_host_free(&bench.one);
	wd_host_free(&bench.all);
	return result;
}
