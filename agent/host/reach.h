/*
 * reach.h - where addresses lead: which network namespace has an address, and
 * which connections the kernel rewrites on their way. Part of host.h's table;
 * apart from it because few callers need it.
 */
#ifndef WD_HOST_REACH_H
#define WD_HOST_REACH_H

#include "host/host.h"

/* An address of an interface. */
struct wd_local_address {
	uint64_t netns;
	enum wd_family family;
	uint8_t address[16]; /* network order, as in wd_listener */
};
struct wd_local_addresses {
	struct wd_local_address *items; /* no row twice */
	size_t count, capacity;
	bool complete; /* of every namespace in which there are processes */
	struct wd_blinds blinds;
};

/* An established TCP connection whose addresses or ports are rewritten: what
 * the client sees of it, and what the server does. */
struct wd_translation {
	uint64_t netns; /* where it is rewritten, not where its ends are */
	enum wd_family family;
	uint8_t client[16], asked[16]; /* the client's ends */
	uint8_t server[16], seen[16];  /* the server's: its own, the other */
	uint16_t client_port, asked_port, server_port, seen_port;
};
struct wd_translations {
	struct wd_translation *items; /* in the order of the kernel's table */
	size_t count, capacity;
	bool complete; /* the tables of all asked namespaces were read */
	struct wd_blinds blinds;
};

/* The addresses of every namespace. WD_OK with `complete` false when some may
 * be missing. Errors: WD_NOMEM, WD_UNSUPPORTED. */
enum wd_status wd_host_local_addresses(struct wd_host *host,
    const struct wd_deadline *deadline, struct wd_local_addresses *found,
    struct wd_error *err) WD_MUST_CHECK;

/* The connections to `port` that are rewritten in the agent's own network
 * namespace (`netns` 0), or in every one (WD_NETNS_EVERY). Errors: as above. */
enum wd_status wd_host_translations(struct wd_host *host, uint64_t netns,
    uint16_t port, const struct wd_deadline *deadline,
    struct wd_translations *found, struct wd_error *err) WD_MUST_CHECK;

/* Append a copy; an address that is there already is not added again. Errors:
 * WD_NOMEM, WD_LIMIT. For implementations. */
enum wd_status wd_local_addresses_add(struct wd_local_addresses *addresses,
    const struct wd_local_address *address) WD_MUST_CHECK;
enum wd_status wd_translations_add(struct wd_translations *translations,
    const struct wd_translation *translation) WD_MUST_CHECK;

void wd_local_addresses_release(struct wd_local_addresses *addresses);
void wd_translations_release(struct wd_translations *translations);

#endif
