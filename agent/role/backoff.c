#include "role/backoff.h"

uint32_t
wd_backoff_after(struct wd_backoff *backoff, int64_t lived_ms)
{
	uint32_t pause;

	if (lived_ms >= WD_BACKOFF_HEALTHY_MS)
		backoff->next_ms = 0;
	pause = backoff->next_ms;
	if (pause == 0)
		backoff->next_ms = WD_BACKOFF_FIRST_MS;
	else if (pause > WD_BACKOFF_MOST_MS / 2)
		backoff->next_ms = WD_BACKOFF_MOST_MS;
	else
		backoff->next_ms = pause * 2;
	return pause;
}
