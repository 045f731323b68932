/*
 * manners.h - this system's way of reading politely (base/manners.h).
 *
 * A room of its own, for the client hashes bundles too and uses nothing else
 * of host/. One file a system.
 */
#ifndef WD_HOST_MANNERS_MANNERS_H
#define WD_HOST_MANNERS_MANNERS_H

#include "base/manners.h"

/* Static; never NULL. */
const struct wd_io_manners *wd_host_io_manners(void);

/* How many cores this process may use; at least 1. */
unsigned wd_host_allowed_cores(void);

#endif
