/*
 * bench_mappings.c - the file mappings of a process with very many mappings,
 * against lsof.
 *
 *	bench_mappings [ANONYMOUS] [FILES] [ROUNDS]
 *
 * 60,000 mappings without and 200 with a file unless told otherwise; 15
 * rounds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/rounds.h"
#include "bench/synth.h"
#include "host/linux/linux.h"

struct bench {
	struct wd_host *host;
	struct wd_process process;
	size_t files;
	char pid[16];
};

static bool
look(struct wd_host *host, struct bench *bench)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_mappings found;
	bool good;

	if (wd_host_mappings(host, &bench->process, &deadline, &found, NULL) !=
	    WD_OK)
		return false;
	good = found.complete && found.count >= bench->files;
	wd_mappings_release(&found);
	return good;
}

static bool
run_look(void *ctx)
{
	struct bench *bench = ctx;

	return look(bench->host, bench);
}

static bool
run_lsof(void *ctx)
{
	struct bench *bench = ctx;
	char *argv[] = { "lsof", "-nP", "-p", bench->pid, NULL };

	return rounds_spawn(argv);
}

static bool
run_cat(void *ctx)
{
	struct bench *bench = ctx;
	char path[32], *argv[] = { "cat", path, NULL };

	(void)snprintf(path, sizeof(path), "/proc/%s/maps", bench->pid);
	return rounds_spawn(argv);
}

static unsigned long
argument(int argc, char **argv, int at, unsigned long fallback)
{
	return argc > at ? strtoul(argv[at], NULL, 10) : fallback;
}

int
main(int argc, char **argv)
{
	static struct bench bench;
	struct way ways[] = {
		{ "weightd", run_look, 1, 0 },
		{ "cat /proc/PID/maps", run_cat, 1, 0 },
		{ "lsof -p", run_lsof, 1, 0 },
	};
	static const unsigned against[] = { 1, 2 };
	unsigned long anonymous = argument(argc, argv, 1, 60000);
	unsigned long rounds = argument(argc, argv, 3, 15);
	struct synth synth;
	int result = EXIT_FAILURE;
	pid_t pid;

	bench.files = argument(argc, argv, 2, 200);
	pid = synth_mappings(&synth, anonymous, bench.files);
	(void)snprintf(bench.pid, sizeof(bench.pid), "%d", (int)pid);
	if (pid > 0 && rounds > 0 &&
	    wd_host_linux_open(NULL, &bench.host, NULL) == WD_OK &&
	    wd_host_process(bench.host, pid, &bench.process, NULL) == WD_OK) {
		(void)printf("mappings: %lu anonymous, %zu of files, medians "
			     "of %lu\n",
		    anonymous, bench.files, rounds);
		rounds_run(ways, 3, (unsigned)rounds, &bench);
		rounds_print(ways, 3, against, 2);
		result = ways[0].median_us > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	synth_stop(&synth);
	wd_process_release(&bench.process);
	wd_host_free(&bench.host);
	return result;
}
