/*
 * darwin.h - the macOS backend of host.h: a stub so far.
 *
 * Every operation answers WD_UNSUPPORTED, so that whoever asks on a Mac hears
 * "could not look" and never "there is nothing". It is compiled against the
 * real macOS headers by tests/lint/darwin.sh, which keeps host.h honest:
 * what cannot be had from libproc must be allowed to be missing there.
 */
#ifndef WD_HOST_DARWIN_DARWIN_H
#define WD_HOST_DARWIN_DARWIN_H

#include "host/host.h"

/* Opens the host. Errors: WD_NOMEM. The caller frees it with wd_host_free. */
enum wd_status wd_host_darwin_open(
    struct wd_host **host, struct wd_error *err) WD_MUST_CHECK;

#endif
