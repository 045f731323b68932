/*
 * bench_digest.c - the digest job against openssl dgst and sha256sum, as
 * ratios of one run: the machine's mood cancels out.
 *
 *	bench_digest [MIB] [ROUNDS]
 *
 * Makes a file of MIB mebibytes (512) below $TMPDIR or /var/tmp, lets all hash
 * it from the page cache in turn, ROUNDS times (5), and prints medians. Wall
 * time, and processor time (what one core has to do).
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest_job.h"
#include "base/mem.h"
#include "host/manners/manners.h"

#define MOST_ROUNDS 101

extern char **environ;

struct times {
	double wall_s, cpu_s;
};

enum runner { OURS, OURS_IDLE, OURS_PLAIN, OPENSSL, SHA256SUM, RUNNERS };

static const char *const names[RUNNERS] = { "weightd", "weightd, idle class",
	"weightd, no manners", "openssl dgst -sha256", "sha256sum" };

static double
cpu_of(const struct rusage *usage)
{
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
	    1e-6 *
	    ((double)usage->ru_utime.tv_usec + (double)usage->ru_stime.tv_usec);
}

static double
wall_now(void)
{
	return 1e-9 * (double)wd_clock_boot_ns(&wd_clock_system);
}

static void
must(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

static struct times
run_ours(int fd, enum runner which)
{
	const struct wd_io_manners *manners =
	    which == OURS_PLAIN ? NULL : wd_host_io_manners();
	struct wd_digest_manner manner = { .idle_class = which == OURS_IDLE };
	struct rusage before, after;
	struct wd_sha256 digest;
	double began = wall_now();

	must(getrusage(RUSAGE_SELF, &before) == 0, "getrusage");
	must(wd_digest_job(fd, manners, &manner, &digest, NULL) == WD_OK,
	    "digest");
	must(getrusage(RUSAGE_SELF, &after) == 0, "getrusage");
	return (struct times){ wall_now() - began,
		cpu_of(&after) - cpu_of(&before) };
}

static struct times
run_program(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double began;
	pid_t pid;
	int status;

	must(posix_spawn_file_actions_init(&actions) == 0, "spawn");
	must(posix_spawn_file_actions_addopen(
		 &actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0,
	    "spawn");
	began = wall_now();
	must(posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) == 0,
	    argv[0]);
	must(wait4(pid, &status, 0, &usage) == pid && status == 0, argv[0]);
	(void)posix_spawn_file_actions_destroy(&actions);
	return (struct times){ wall_now() - began, cpu_of(&usage) };
}

static struct times
run(enum runner which, int fd, char *path)
{
	static char openssl[] = "openssl", dgst[] = "dgst", kind[] = "-sha256";
	static char sum[] = "sha256sum";

	if (which == OPENSSL)
		return run_program(
		    (char *[]){ openssl, dgst, kind, path, NULL });
	if (which == SHA256SUM)
		return run_program((char *[]){ sum, path, NULL });
	return run_ours(fd, which);
}

static int
compare(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static double
median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static int
make_file(char *path, size_t mib)
{
	static unsigned char block[1 << 20];
	int fd = mkstemp(path);
	size_t i, at;

	must(fd >= 0, path);
	for (i = 0; i < mib; i++) {
		for (at = 0; at < sizeof(block); at += 64)
			memcpy(block + at, &(size_t){ i * 16384 + at }, 8);
		must(write(fd, block, sizeof(block)) == sizeof(block), path);
	}
	return fd;
}

static size_t
argument(int argc, char **argv, int which, size_t standard, size_t most)
{
	unsigned long value;

	if (argc <= which)
		return standard;
	value = strtoul(argv[which], NULL, 10);
	return value < 1 ? 1 : value > most ? most : value;
}

int
main(int argc, char **argv)
{
	static double wall[RUNNERS][MOST_ROUNDS], cpu[RUNNERS][MOST_ROUNDS];
	size_t mib = argument(argc, argv, 1, 512, 1U << 20);
	size_t rounds = argument(argc, argv, 2, 5, MOST_ROUNDS), round;
	const char *base = getenv("TMPDIR");
	char path[4096];
	double wall_s[RUNNERS], cpu_s[RUNNERS];
	int which, fd;

	(void)snprintf(path, sizeof(path), "%s/weightd-bench.XXXXXX",
	    base != NULL ? base : "/var/tmp");
	fd = make_file(path, mib);
	for (round = 0; round < rounds; round++)
		for (which = 0; which < RUNNERS; which++) {
			struct times times = run((enum runner)which, fd, path);

			wall[which][round] = times.wall_s;
			cpu[which][round] = times.cpu_s;
		}
	(void)unlink(path);
	for (which = 0; which < RUNNERS; which++) {
		wall_s[which] = median(wall[which], rounds);
		cpu_s[which] = median(cpu[which], rounds);
	}
	printf("SHA-256 of %zu MiB in the page cache, median of %zu rounds\n"
	       "%-22s %8s %8s %10s %12s %14s\n",
	    mib, rounds, "", "wall s", "cpu s", "MiB/cpu s", "x openssl",
	    "x sha256sum");
	for (which = 0; which < RUNNERS; which++)
		printf("%-22s %8.3f %8.3f %10.0f %12.2f %14.2f\n", names[which],
		    wall_s[which], cpu_s[which], (double)mib / cpu_s[which],
		    cpu_s[OPENSSL] / cpu_s[which],
		    cpu_s[SHA256SUM] / cpu_s[which]);
	return EXIT_SUCCESS;
}
