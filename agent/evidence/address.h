/*
 * address.h - which listeners answer on an address. Pure; private to this
 * room.
 */
#ifndef WD_EVIDENCE_ADDRESS_H
#define WD_EVIDENCE_ADDRESS_H

#include "host/host.h"

/* An address to which a client connects. A mapped one ("::ffff:127.0.0.1") is
 * kept as the IPv4 address that it reaches. */
struct wd_address {
	enum wd_family family;
	uint8_t bytes[16];
};

/* From text: "127.0.0.1", "::1", "[::1]". Errors: WD_INVALID. */
enum wd_status wd_address_parse(const char *text, struct wd_address *address,
    struct wd_error *err) WD_MUST_CHECK;

/* From a socket's end, as host.h gives it. */
struct wd_address wd_address_of(enum wd_family family, const uint8_t bytes[16]);

bool wd_address_equal(const struct wd_address *a, const struct wd_address *b);
bool wd_address_is_loopback(const struct wd_address *address);

/* Bound to no address, and so to each of them. */
bool wd_listener_is_wildcard(const struct wd_listener *listener);

/* A wildcard answers too; a dual-stack one also for IPv4. When the system
 * does not say whether it is dual-stack, it may be. */
bool wd_listener_is_wildcard_for(
    const struct wd_listener *listener, const struct wd_address *address);

/* Keeps the listeners that answer on the address: those bound to it, and only
 * without any in their namespace, the wildcards (the kernel prefers the more
 * specific one). */
void wd_address_keep(
    struct wd_listeners *found, const struct wd_address *address);

#endif
