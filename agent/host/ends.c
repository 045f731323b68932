#include "host/ends.h"

#include <string.h>

#include "base/mem.h"

static const struct wd_deadline *
or_never(const struct wd_deadline *deadline)
{
	static const struct wd_deadline never = { NULL, 0 };

	return deadline == NULL ? &never : deadline;
}

enum wd_status
wd_host_ends(struct wd_host *host, const struct wd_ends_wanted *wanted,
    const struct wd_deadline *deadline, struct wd_ends *found,
    struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	if (host->ops->ends == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this host does not tell who has a pipe or socket open");
	return host->ops->ends(host, wanted, or_never(deadline), found, err);
}

enum wd_status
wd_host_mappers(struct wd_host *host, const struct wd_object_number *objects,
    size_t count, const struct wd_deadline *deadline, struct wd_mappers *found,
    struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	if (host->ops->mappers == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this host does not tell who maps an object");
	return host->ops->mappers(
	    host, objects, count, or_never(deadline), found, err);
}

void
wd_ends_release(struct wd_ends *ends)
{
	wd_free(ends->items);
	wd_blinds_release(&ends->blinds);
	memset(ends, 0, sizeof(*ends));
}

void
wd_mappers_release(struct wd_mappers *mappers)
{
	wd_free(mappers->items);
	wd_blinds_release(&mappers->blinds);
	memset(mappers, 0, sizeof(*mappers));
}
