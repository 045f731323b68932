/*
 * progress.h - one line about a long read, for a terminal.
 */
#ifndef WD_CMD_PROGRESS_H
#define WD_CMD_PROGRESS_H

#include <stdint.h>

#define WD_PROGRESS_BYTES 96

/* "[#####---------------]  25 %  1.0 of 4.0 GB  512 MB/s  0:06 left". The time
 * left stands there once anything is known about it. Returns `out`. */
const char *wd_progress_text(uint64_t done_bytes, uint64_t total_bytes,
    int64_t elapsed_ns, char out[WD_PROGRESS_BYTES]);

#endif
