/*
 * livehost.h - processes, sockets and looks for tests on the running Linux
 * kernel. Children die with the test.
 */
#ifndef WD_TESTS_SUPPORT_LIVEHOST_H
#define WD_TESTS_SUPPORT_LIVEHOST_H

#include <stdbool.h>
#include <sys/types.h>

#include "host/linux/linux.h"

/* ---- children ------------------------------------------------------------ */

/* Runs `body` in a child and returns when it has returned there; the child
 * then waits until it is killed. The test fails when `body` exits. */
pid_t live_spawn(void (*body)(void *), void *argument);

/* As live_spawn, but false when `body` exits with 77 (not permitted here). */
bool live_try_spawn(void (*body)(void *), void *argument, pid_t *pid);

/* Kills and reaps one child, or all. */
void live_kill(pid_t pid);
void live_kill_all(void);

/* In a body: leave with "not permitted here" unless `condition`. */
#define LIVE_NEED(condition)                                                   \
	do {                                                                   \
		if (!(condition))                                              \
			_exit(77);                                             \
	} while (0)

/* In a test: says why it does nothing and returns. */
#define LIVE_SKIP(why)                                                         \
	do {                                                                   \
		(void)fprintf(stderr, "skipped %s: %s\n", __func__, why);      \
		return;                                                        \
	} while (0)

/* ---- sockets ------------------------------------------------------------- */

struct live_bind {
	const char *address; /* "127.0.0.1", "::1" ... */
	uint16_t port;       /* 0: the system chooses */
	bool reuse_port;
	int v6only; /* -1: not set */
	int protocol;
};

/* A listening socket; -1 and errno. Its port is in `*port` when not NULL. */
int live_listen(const struct live_bind *bind_to, uint16_t *port);
/* On 127.0.0.1, must succeed. */
int live_listen_any(uint16_t *port);
uint64_t live_inode(int fd);
int live_connect(uint16_t port);

/* A port on which nothing listens now. */
uint16_t live_free_port(void);

/* ---- looks --------------------------------------------------------------- */

struct wd_host *live_open(void);
struct wd_host *live_open_with(const struct wd_host_linux_options *options);

/* The listeners of the own namespace on `port`; must be complete and, unless
 * sockets are moving, agreed. */
struct wd_listeners live_listeners(struct wd_host *host, uint16_t port);
struct wd_holders live_holders(struct wd_host *host, uint64_t inode);
struct wd_process live_process(struct wd_host *host, pid_t pid);
struct wd_mappings live_mappings(
    struct wd_host *host, const struct wd_process *process);

/* The mapping whose path ends so; NULL when there is none. */
struct wd_mapping *live_mapping(struct wd_mappings *mappings, const char *end);

/* Opens the object of a mapping. */
enum wd_status live_open_mapping(struct wd_host *host,
    const struct wd_process *process, const struct wd_mapping *mapping,
    struct wd_file *file);

/* How many processes do not let this test read their descriptors: on some
 * machines even root has such. */
size_t live_unreadable_processes(void);

bool live_is_root(void);

/* Gives up these capabilities for the rest of the test. */
bool live_drop(const unsigned *capabilities, size_t count);

#endif
