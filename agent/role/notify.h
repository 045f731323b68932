/*
 * notify.h - tells the service manager how the service is (sd_notify(3)): one
 * datagram to the socket in NOTIFY_SOCKET. Without that everything here does
 * nothing.
 */
#ifndef WD_ROLE_NOTIFY_H
#define WD_ROLE_NOTIFY_H

#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"

/* Takes NOTIFY_SOCKET and WATCHDOG_USEC (when WATCHDOG_PID is this process or
 * not given) out of the environment, so that no child has them. */
void wd_notify_init(void);

/* Sends "KEY=VALUE" lines. Errors: WD_INVALID for an address that is none;
 * WD_IO and what the system says. */
enum wd_status wd_notify(const char *lines, struct wd_error *err);

/* RELOADING=1 with the monotonic time, as Type=notify-reload wants it. */
enum wd_status wd_notify_reloading(struct wd_error *err);

/* Microseconds within which WATCHDOG=1 is expected; 0: it is not. */
uint64_t wd_notify_watchdog_us(void);

#endif
