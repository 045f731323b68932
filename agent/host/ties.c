#include "host/ties.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

static int
order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* ---- connections --------------------------------------------------------- */

enum wd_status
wd_connections_add(
    struct wd_connections *connections, const struct wd_connection *connection)
{
	void *items = connections->items;
	enum wd_status st = wd_grow(&items, connections->count,
	    &connections->capacity, sizeof(*connection), WD_MAX_CONNECTIONS);

	connections->items = items;
	if (st == WD_OK)
		connections->items[connections->count++] = *connection;
	return st;
}

static int
compare_connections(const void *left, const void *right)
{
	const struct wd_connection *a = left, *b = right;
	int by = order(a->local_port, b->local_port);

	if (by == 0)
		by = order(a->inode, b->inode);
	if (by == 0)
		by = order(a->family, b->family);
	if (by == 0)
		by = memcmp(a->local, b->local, sizeof(a->local));
	if (by == 0)
		by = order(a->remote_port, b->remote_port);
	if (by == 0)
		by = memcmp(a->remote, b->remote, sizeof(a->remote));
	return by == 0 ? order(a->netns, b->netns) : by;
}

void
wd_connections_sort(struct wd_connections *connections)
{
	struct wd_connection *items = connections->items;
	size_t i, kept = 1;

	if (connections->count < 2)
		return;
	qsort(items, connections->count, sizeof(*items), compare_connections);
	for (i = 1; i < connections->count; i++)
		if (compare_connections(&items[kept - 1], &items[i]) != 0)
			items[kept++] = items[i];
	connections->count = kept;
}

/* The address as IPv6 shows it; an IPv4 one is mapped (RFC 4291, 2.5.5.2). */
static void
as_v6(enum wd_family family, const uint8_t address[16], uint8_t out[16])
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff,
		0xff };

	memcpy(out, address, 16);
	if (family != WD_INET4)
		return;
	memcpy(out, mapped, sizeof(mapped));
	memcpy(out + sizeof(mapped), address, 4);
}

static bool
same_address(const struct wd_connection *a, const uint8_t of_a[16],
    const struct wd_connection *b, const uint8_t of_b[16])
{
	uint8_t x[16], y[16];

	as_v6(a->family, of_a, x);
	as_v6(b->family, of_b, y);
	return memcmp(x, y, sizeof(x)) == 0;
}

static bool
are_ends(const struct wd_connection *a, const struct wd_connection *b)
{
	return a->netns == b->netns && a->remote_port == b->local_port &&
	    a->local_port == b->remote_port &&
	    same_address(a, a->remote, b, b->local) &&
	    same_address(a, a->local, b, b->remote);
}

/* The first row with this local port, or behind where it would be. */
static size_t
first_with_port(const struct wd_connections *connections, uint16_t port)
{
	size_t low = 0, high = connections->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (connections->items[middle].local_port < port)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct wd_connection *
wd_connections_other_end(const struct wd_connections *connections,
    const struct wd_connection *connection)
{
	size_t i = first_with_port(connections, connection->remote_port);

	for (; i < connections->count &&
	     connections->items[i].local_port == connection->remote_port;
	     i++)
		if (are_ends(connection, &connections->items[i]))
			return &connections->items[i];
	return NULL;
}

/* ---- unix sockets -------------------------------------------------------- */

enum wd_status
wd_unix_pairs_add(struct wd_unix_pairs *pairs, uint64_t inode, uint64_t peer)
{
	void *items = pairs->items;
	enum wd_status st = wd_grow(&items, pairs->count, &pairs->capacity,
	    sizeof(*pairs->items), WD_MAX_UNIX_PAIRS);

	pairs->items = items;
	if (st == WD_OK)
		pairs->items[pairs->count++] =
		    (struct wd_unix_pair){ inode, peer };
	return st;
}

static int
compare_pairs(const void *left, const void *right)
{
	const struct wd_unix_pair *a = left, *b = right;
	int by = order(a->inode, b->inode);

	return by == 0 ? order(a->peer_inode, b->peer_inode) : by;
}

void
wd_unix_pairs_sort(struct wd_unix_pairs *pairs)
{
	struct wd_unix_pair *items = pairs->items;
	size_t i, kept = 1;

	if (pairs->count < 2)
		return;
	qsort(items, pairs->count, sizeof(*items), compare_pairs);
	for (i = 1; i < pairs->count; i++)
		if (compare_pairs(&items[kept - 1], &items[i]) != 0)
			items[kept++] = items[i];
	pairs->count = kept;
}

/* ---- devices ------------------------------------------------------------- */

static const char *const accelerators[] = { "/dev/nvidia", "/dev/nvhost",
	"/dev/nvmap", "/dev/dri/", "/dev/dxg", "/dev/kfd", "/dev/accel",
	"/dev/apex", "/dev/davinci", "/dev/habana", "/dev/hl", "/dev/mali",
	"/dev/neuron", "/dev/tenstorrent", "/dev/vfio/", "/dev/xe" };

/* Anywhere in the path: below a chroot it has something before it. */
bool
wd_host_is_accelerator(struct wd_slice path)
{
	size_t i;

	for (; path.len > 0; path.data++, path.len--)
		for (i = 0; path.data[0] == '/' &&
		     i < sizeof(accelerators) / sizeof(accelerators[0]);
		     i++)
			if (wd_slice_starts(path, accelerators[i]))
				return true;
	return false;
}

enum wd_status
wd_device_uses_add(struct wd_device_uses *uses, const char *device,
    uint64_t bytes, const char *reason)
{
	struct wd_device_use use = { wd_strdup(device),
		reason == NULL ? bytes : 0, reason == NULL,
		reason == NULL ? NULL : wd_strdup(reason) };
	void *items = uses->items;
	enum wd_status st = WD_NOMEM;

	if (use.device != NULL && (use.bytes_known || use.reason != NULL))
		st = wd_grow(&items, uses->count, &uses->capacity, sizeof(use),
		    WD_MAX_DEVICE_USES);
	uses->items = items;
	if (st != WD_OK) {
		wd_free(use.device);
		wd_free(use.reason);
		return st;
	}
	uses->items[uses->count++] = use;
	return WD_OK;
}

static int
compare_uses(const void *left, const void *right)
{
	const struct wd_device_use *a = left, *b = right;

	return strcmp(a->device, b->device);
}

void
wd_device_uses_sort(struct wd_device_uses *uses)
{
	if (uses->count > 1)
		qsort(uses->items, uses->count, sizeof(*uses->items),
		    compare_uses);
}
