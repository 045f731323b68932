#include "bench/rounds.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double
now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool
run_once(struct way *way, void *ctx, double *us)
{
	unsigned i, times = way->times == 0 ? 1 : way->times;
	double start = now_us();

	for (i = 0; i < times; i++)
		if (!way->run(ctx))
			return false;
	*us = (now_us() - start) / times;
	return true;
}

void
rounds_run(struct way *ways, unsigned count, unsigned rounds, void *ctx)
{
	static double us[16][ROUNDS_MOST];
	bool works[16] = { false };
	unsigned i, r;

	if (rounds > ROUNDS_MOST)
		rounds = ROUNDS_MOST;
	for (i = 0; i < count && i < 16; i++)
		works[i] = true;
	for (r = 0; r < rounds; r++)
		for (i = 0; i < count && i < 16; i++)
			if (works[i])
				works[i] = run_once(&ways[i], ctx, &us[i][r]);
	for (i = 0; i < count && i < 16; i++) {
		ways[i].median_us = 0;
		if (!works[i])
			continue;
		qsort(us[i], rounds, sizeof(double), compare);
		ways[i].median_us = us[i][rounds / 2];
	}
}

void
rounds_print(const struct way *ways, unsigned count, const unsigned *against,
    unsigned against_count)
{
	unsigned i, k;

	for (i = 0; i < count; i++) {
		if (ways[i].median_us <= 0) {
			(void)printf("%-34s not possible here\n", ways[i].name);
			continue;
		}
		(void)printf(
		    "%-34s %12.1f us", ways[i].name, ways[i].median_us);
		for (k = 0; k < against_count; k++)
			if (ways[against[k]].median_us > 0)
				(void)printf("  x %.1f %s",
				    ways[against[k]].median_us /
					ways[i].median_us,
				    ways[against[k]].name);
		(void)printf("\n");
	}
}

bool
rounds_spawn(char *const *argv)
{
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_addopen(
	    &actions, 1, "/dev/null", O_WRONLY, 0);
	(void)posix_spawn_file_actions_addopen(
	    &actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		pid = -1;
	(void)posix_spawn_file_actions_destroy(&actions);
	return pid > 0 && waitpid(pid, &status, 0) == pid &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
