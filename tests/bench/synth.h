/*
 * synth.h - a synthetic host for benchmarks: many idle processes with many
 * descriptors, one of them listening. It ends with its maker, and by itself
 * after five minutes.
 */
#ifndef WD_TESTS_BENCH_SYNTH_H
#define WD_TESTS_BENCH_SYNTH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct synth {
	pid_t *pids;
	size_t count;
	uint16_t port;   /* of the one that listens */
	pid_t listening; /* its pid */
};

/* Starts `processes` with `descriptors` each; 0, or -1 after a message. What
 * was started is stopped by synth_stop in any case. */
int synth_start(struct synth *synth, size_t processes, size_t descriptors);

/* One process with so many mappings without and with a file; its pid, or -1
 * after a message. Stopped by synth_stop. */
pid_t synth_mappings(struct synth *synth, size_t anonymous, size_t files);

void synth_stop(struct synth *synth);

#endif
