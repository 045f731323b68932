#include "evidence/address.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/escape.h"

static const uint8_t mapped_prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff,
	0xff };

/* "::ffff:127.0.0.1" reaches whatever 127.0.0.1 does. */
static void
unmap(struct wd_address *address)
{
	if (memcmp(address->bytes, mapped_prefix, sizeof(mapped_prefix)) != 0)
		return;
	address->family = WD_INET4;
	memmove(address->bytes, address->bytes + 12, 4);
	memset(address->bytes + 4, 0, 12);
}

struct wd_address
wd_address_of(enum wd_family family, const uint8_t bytes[16])
{
	struct wd_address address = { .family = family };

	memcpy(address.bytes, bytes, family == WD_INET4 ? 4 : 16);
	if (family == WD_INET6)
		unmap(&address);
	return address;
}

bool
wd_address_equal(const struct wd_address *a, const struct wd_address *b)
{
	return a->family == b->family &&
	    memcmp(a->bytes, b->bytes, a->family == WD_INET4 ? 4 : 16) == 0;
}

bool
wd_address_is_loopback(const struct wd_address *address)
{
	static const uint8_t loopback[16] = { [15] = 1 };

	if (address->family == WD_INET4)
		return address->bytes[0] == 127;
	return memcmp(address->bytes, loopback, sizeof(loopback)) == 0;
}

/* A client that connects to "any" reaches some local address, and only the
 * system knows which. */
static enum wd_status
refuse_any(
    const struct wd_address *address, const char *text, struct wd_error *err)
{
	static const uint8_t zero[16];

	if (memcmp(address->bytes, zero, sizeof(zero)) != 0)
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "address \"%s\" stands for every address; give the one that "
	    "clients connect to, or leave it out to ask for all listeners",
	    text);
}

enum wd_status
wd_address_parse(
    const char *text, struct wd_address *address, struct wd_error *err)
{
	char bare[64];
	size_t len = strlen(text);

	memset(address, 0, sizeof(*address));
	if (len >= 2 && len < sizeof(bare) && text[0] == '[' &&
	    text[len - 1] == ']') {
		memcpy(bare, text + 1, len - 2);
		bare[len - 2] = '\0';
		text = bare;
	}
	address->family = WD_INET4;
	if (inet_pton(AF_INET, text, address->bytes) == 1)
		return refuse_any(address, text, err);
	address->family = WD_INET6;
	if (inet_pton(AF_INET6, text, address->bytes) == 1) {
		unmap(address);
		return refuse_any(address, text, err);
	}
	char shown[64];
	return wd_fail(err, WD_INVALID,
	    "address \"%s\" is no IPv4 or IPv6 address; write for example "
	    "127.0.0.1 or ::1",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(text)));
}

bool
wd_listener_is_wildcard(const struct wd_listener *listener)
{
	static const uint8_t zero[16];

	if (listener->family == WD_INET4)
		return memcmp(listener->address, zero, 4) == 0;
	/* "::ffff:0.0.0.0" is the wildcard of IPv4. */
	return memcmp(listener->address, zero, 16) == 0 ||
	    (memcmp(listener->address, mapped_prefix, sizeof(mapped_prefix)) ==
		    0 &&
		memcmp(listener->address + 12, zero, 4) == 0);
}

static bool
is_exactly(const struct wd_listener *l, const struct wd_address *a)
{
	if (l->family == a->family)
		return memcmp(l->address, a->bytes,
			   a->family == WD_INET4 ? 4 : 16) == 0;
	return a->family == WD_INET4 &&
	    memcmp(l->address, mapped_prefix, sizeof(mapped_prefix)) == 0 &&
	    memcmp(l->address + 12, a->bytes, 4) == 0;
}

bool
wd_listener_is_wildcard_for(
    const struct wd_listener *l, const struct wd_address *a)
{
	if (!wd_listener_is_wildcard(l))
		return false;
	return l->family == a->family ||
	    (a->family == WD_INET4 && l->v6only != WD_YES);
}

static bool
has_exact(const struct wd_listeners *found, uint64_t netns,
    const struct wd_address *address)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		if (found->items[i].netns == netns &&
		    /* Bound to a device it answers only what comes that way. */
		    found->items[i].interface == 0 &&
		    is_exactly(&found->items[i], address))
			return true;
	return false;
}

void
wd_address_keep(struct wd_listeners *found, const struct wd_address *address)
{
	size_t i, kept = 0;

	/* What is exact is never dropped: it is found also while others go. */
	for (i = 0; i < found->count; i++) {
		struct wd_listener one = found->items[i];

		if (is_exactly(&one, address) ||
		    (wd_listener_is_wildcard_for(&one, address) &&
			!has_exact(found, one.netns, address)))
			found->items[kept++] = one;
	}
	found->count = kept;
}
