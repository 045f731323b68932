#include "server/rate.h"

#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/tls.h"

struct bucket {
	char client[WD_TLS_MAX_NAME];
	int64_t seen_ns; /* 0: not in use */
	/* When the bucket is full again; one request costs `cost_ns`. */
	int64_t full_ns;
};

struct wd_rate {
	uint32_t per_minute;
	int64_t cost_ns;
	size_t count;
	size_t capacity;
	struct bucket *buckets;
};

enum wd_status
wd_rate_new(uint32_t per_minute, struct wd_rate **rate, struct wd_error *err)
{
	struct wd_rate *made = wd_calloc(1, sizeof(*made));

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	made->per_minute = per_minute;
	if (per_minute > 0)
		made->cost_ns = 60 * WD_NS_PER_SECOND / per_minute;
	*rate = made;
	return WD_OK;
}

void
wd_rate_free(struct wd_rate **rate)
{
	if (*rate != NULL)
		wd_free((*rate)->buckets);
	wd_free(*rate);
	*rate = NULL;
}

static struct bucket *
oldest(struct wd_rate *rate)
{
	struct bucket *found = &rate->buckets[0];
	size_t i;

	for (i = 1; i < rate->count; i++)
		if (rate->buckets[i].seen_ns < found->seen_ns)
			found = &rate->buckets[i];
	return found;
}

/* A bucket for somebody new; NULL when there is no memory. */
static struct bucket *
new_bucket(struct wd_rate *rate)
{
	void *items = rate->buckets;

	if (rate->count == WD_MAX_RATED_CLIENTS)
		return oldest(rate);
	if (wd_grow(&items, rate->count, &rate->capacity,
		sizeof(*rate->buckets), WD_MAX_RATED_CLIENTS) != WD_OK)
		return rate->count > 0 ? oldest(rate) : NULL;
	rate->buckets = items;
	return &rate->buckets[rate->count++];
}

static struct bucket *
bucket_of(struct wd_rate *rate, const char *client)
{
	struct bucket *bucket;
	size_t i;

	for (i = 0; i < rate->count; i++)
		if (strncmp(rate->buckets[i].client, client,
			WD_TLS_MAX_NAME - 1) == 0)
			return &rate->buckets[i];
	bucket = new_bucket(rate);
	if (bucket == NULL)
		return NULL;
	memset(bucket, 0, sizeof(*bucket));
	memcpy(bucket->client, client, strnlen(client, WD_TLS_MAX_NAME - 1));
	return bucket;
}

bool
wd_rate_take(
    struct wd_rate *rate, const char *client, int64_t now_ns, int64_t *wait_s)
{
	struct bucket *bucket;
	int64_t after;

	if (rate->per_minute == 0)
		return true;
	*wait_s = 60;
	if ((bucket = bucket_of(rate, client)) == NULL)
		return false;
	if (bucket->full_ns < now_ns)
		bucket->full_ns = now_ns;
	bucket->seen_ns = now_ns;
	after = bucket->full_ns + rate->cost_ns -
	    (now_ns + rate->cost_ns * (int64_t)rate->per_minute);
	if (after > 0) {
		*wait_s = (after + WD_NS_PER_SECOND - 1) / WD_NS_PER_SECOND;
		return false;
	}
	bucket->full_ns += rate->cost_ns;
	return true;
}
