/*
 * backoff.h - when a process that ended is started again: at once, then after
 * pauses that double up to a cap; at once again after a healthy life. Pure.
 */
#ifndef WD_ROLE_BACKOFF_H
#define WD_ROLE_BACKOFF_H

#include <stdint.h>

#define WD_BACKOFF_FIRST_MS 100
#define WD_BACKOFF_MOST_MS 30000
/* A life of this length was no failure to start. */
#define WD_BACKOFF_HEALTHY_MS 60000

struct wd_backoff {
	uint32_t next_ms; /* the next pause */
};

/* How long to wait before the next start, after a life of `lived_ms`. */
uint32_t wd_backoff_after(struct wd_backoff *backoff, int64_t lived_ms);

#endif
