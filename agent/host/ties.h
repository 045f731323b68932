/*
 * ties.h - what every implementation of host.h's section "what ties processes
 * together" needs: appending to its lists and putting them in order.
 */
#ifndef WD_HOST_TIES_H
#define WD_HOST_TIES_H

#include "host/host.h"

/* Append a copy. Errors: WD_NOMEM, WD_LIMIT. */
enum wd_status wd_connections_add(struct wd_connections *connections,
    const struct wd_connection *connection) WD_MUST_CHECK;
enum wd_status wd_unix_pairs_add(
    struct wd_unix_pairs *pairs, uint64_t inode, uint64_t peer) WD_MUST_CHECK;

/* Appends; `device` and `reason` are copied. A use with a `reason` is one whose
 * bytes are not known. Errors: WD_NOMEM, WD_LIMIT. */
enum wd_status wd_device_uses_add(struct wd_device_uses *uses,
    const char *device, uint64_t bytes, const char *reason) WD_MUST_CHECK;

/* The order that host.h promises; equal rows become one. */
void wd_connections_sort(struct wd_connections *connections);
void wd_unix_pairs_sort(struct wd_unix_pairs *pairs);
void wd_device_uses_sort(struct wd_device_uses *uses);

#endif
