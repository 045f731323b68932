#include "host/reach.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

static const struct wd_deadline *
or_never(const struct wd_deadline *deadline)
{
	static const struct wd_deadline never = { NULL, 0 };

	return deadline == NULL ? &never : deadline;
}

enum wd_status
wd_host_local_addresses(struct wd_host *host,
    const struct wd_deadline *deadline, struct wd_local_addresses *found,
    struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	if (host->ops->local_addresses == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this host does not list its addresses");
	return host->ops->local_addresses(host, or_never(deadline), found, err);
}

enum wd_status
wd_host_translations(struct wd_host *host, uint64_t netns, uint16_t port,
    const struct wd_deadline *deadline, struct wd_translations *found,
    struct wd_error *err)
{
	memset(found, 0, sizeof(*found));
	if (host->ops->translations == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this host does not tell which addresses it translates");
	return host->ops->translations(
	    host, netns, port, or_never(deadline), found, err);
}

static bool
is_same(const struct wd_local_address *a, const struct wd_local_address *b)
{
	return a->netns == b->netns && a->family == b->family &&
	    memcmp(a->address, b->address, a->family == WD_INET4 ? 4 : 16) == 0;
}

enum wd_status
wd_local_addresses_add(struct wd_local_addresses *addresses,
    const struct wd_local_address *address)
{
	void *items = addresses->items;
	enum wd_status st;
	size_t i;

	for (i = 0; i < addresses->count; i++)
		if (is_same(&addresses->items[i], address))
			return WD_OK;
	st = wd_grow(&items, addresses->count, &addresses->capacity,
	    sizeof(*address), WD_MAX_LOCAL_ADDRESSES);
	addresses->items = items;
	if (st == WD_OK)
		addresses->items[addresses->count++] = *address;
	return st;
}

enum wd_status
wd_translations_add(struct wd_translations *translations,
    const struct wd_translation *translation)
{
	void *items = translations->items;
	enum wd_status st = wd_grow(&items, translations->count,
	    &translations->capacity, sizeof(*translation), WD_MAX_CONNECTIONS);

	translations->items = items;
	if (st == WD_OK)
		translations->items[translations->count++] = *translation;
	return st;
}

void
wd_local_addresses_release(struct wd_local_addresses *addresses)
{
	wd_free(addresses->items);
	wd_blinds_release(&addresses->blinds);
	memset(addresses, 0, sizeof(*addresses));
}

void
wd_translations_release(struct wd_translations *translations)
{
	wd_free(translations->items);
	wd_blinds_release(&translations->blinds);
	memset(translations, 0, sizeof(*translations));
}
