/*
 * rounds.h - ways of doing one thing, timed in turn; medians and ratios of one
 * run, because only those survive a noisy machine.
 */
#ifndef WD_TESTS_BENCH_ROUNDS_H
#define WD_TESTS_BENCH_ROUNDS_H

#include <stdbool.h>

#define ROUNDS_MOST 101

struct way {
	const char *name;
	/* Does it once; false: it cannot be done here and is left out. */
	bool (*run)(void *ctx);
	unsigned times;   /* how often in a row, for very short ones */
	double median_us; /* result; 0 when left out */
};

/* Runs every way once per round, `rounds` times, and fills the medians. */
void rounds_run(struct way *ways, unsigned count, unsigned rounds, void *ctx);

/* Prints each median and its ratio to the ways `against`. */
void rounds_print(const struct way *ways, unsigned count,
    const unsigned *against, unsigned against_count);

/* Runs a program with its output thrown away; false when it failed. */
bool rounds_spawn(char *const *argv);

#endif
