#include "cmd/progress.h"

#include <stdio.h>
#include <string.h>

#define BAR 20
#define GB 1e9
#define MB 1e6

static void
draw_bar(double part, char bar[BAR + 1])
{
	int full = (int)(part * BAR);

	memset(bar, '-', BAR);
	memset(bar, '#', (size_t)full);
	bar[BAR] = '\0';
}

const char *
wd_progress_text(uint64_t done_bytes, uint64_t total_bytes, int64_t elapsed_ns,
    char out[WD_PROGRESS_BYTES])
{
	double total = (double)(total_bytes > 0 ? total_bytes : 1);
	double done = done_bytes < total_bytes ? (double)done_bytes : total;
	double seconds = (double)elapsed_ns / 1e9, rate = 0, left;
	char bar[BAR + 1];
	int len;

	if (seconds > 0)
		rate = done / seconds;
	draw_bar(done / total, bar);
	len = snprintf(out, WD_PROGRESS_BYTES, "[%s] %3.0f %%  %.1f of %.1f GB",
	    bar, 100 * done / total, done / GB, total / GB);
	left = rate > 0 ? (total - done) / rate : 0;
	/* A rate over less than a second says little. */
	if (seconds < 1 || rate <= 0 || left > 360000 || len < 0)
		return out;
	(void)snprintf(out + len, WD_PROGRESS_BYTES - (size_t)len,
	    "  %.0f MB/s  %d:%02d left", rate / MB, (int)left / 60,
	    (int)left % 60);
	return out;
}
