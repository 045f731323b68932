/*
 * manners.h - this system's way of reading politely (base/manners.h).
 */
#ifndef WD_HOST_MANNERS_H
#define WD_HOST_MANNERS_H

#include "base/manners.h"

/* Static; never NULL. */
const struct wd_io_manners *wd_host_io_manners(void);

#endif
