/*
 * Published container ports. A container engine may start one process for each
 * (docker-proxy) that listens on the host and passes every connection on to
 * the container's address, which its command line names. Idle, it has no
 * connection to be seen, so the way is read from there and resolved: the
 * address is that of an interface in exactly one network namespace, and who
 * listens on the port in it is the next hop.
 *
 * The command line is a claim; only of programs that are known by their
 * executable is it followed, and what it leads to is shown, never credited to
 * the port that was asked about.
 */
#include <string.h>

#include "evidence/address.h"
#include "evidence/engines_table.h"
#include "evidence/hops.h"
#include "host/reach.h"

struct target {
	bool tcp;
	struct wd_slice address, port;
};

/* Go's flag package takes one dash or two, and a value behind '=' or next. */
static bool
is_option(struct wd_slice word, const char *name)
{
	if (wd_slice_starts(word, "--")) {
		word.data++;
		word.len--;
	}
	return wd_slice_equal(word, wd_slice_text(name));
}

static void
take_option(struct target *target, struct wd_slice name, struct wd_slice value)
{
	if (is_option(name, "-container-ip"))
		target->address = value;
	else if (is_option(name, "-container-port"))
		target->port = value;
	else if (is_option(name, "-proto"))
		target->tcp = wd_slice_equal(value, wd_slice_text("tcp"));
}

/* libnetwork's docker-proxy: -proto tcp -host-ip A -host-port P -container-ip B
 * -container-port Q. */
static struct target
target_of(const struct wd_process *process)
{
	struct target target = { .tcp = true };
	struct wd_words words = wd_words_of(process);
	struct wd_slice word, name, value;

	while (wd_words_next(&words, &word)) {
		if (!wd_slice_starts(word, "-"))
			continue;
		name = value = word;
		if (wd_slice_cut(&value, '=', &name) && name.len < word.len)
			take_option(&target, name, value);
		else if (wd_words_next(&words, &value))
			take_option(&target, word, value);
	}
	return target;
}

static bool
read_hop(const struct target *target, struct wd_hop *hop)
{
	struct wd_address address;
	char text[64];
	uint64_t port;

	if (!target->tcp || target->address.len == 0 ||
	    target->address.len >= sizeof(text) ||
	    !wd_slice_number(target->port, 10, &port) || port == 0 ||
	    port > UINT16_MAX)
		return false;
	memcpy(text, target->address.data, target->address.len);
	text[target->address.len] = '\0';
	if (wd_address_parse(text, &address, NULL) != WD_OK)
		return false;
	hop->family = address.family;
	memcpy(hop->address, address.bytes, sizeof(hop->address));
	hop->port = (uint16_t)port;
	return true;
}

/* The one namespace with that address. When several have it, or not all could
 * be seen, nobody can tell which the engine meant. */
static bool
find_netns(const struct wd_local_addresses *all, struct wd_hop *hop)
{
	struct wd_address wanted = wd_address_of(hop->family, hop->address);
	size_t i, found = 0;

	for (i = 0; i < all->count; i++) {
		struct wd_address here =
		    wd_address_of(all->items[i].family, all->items[i].address);

		if (!wd_address_equal(&here, &wanted))
			continue;
		hop->netns = all->items[i].netns;
		found++;
	}
	if (found != 1)
		hop->netns = 0;
	return found == 1 && all->complete;
}

static enum wd_status
add_published(struct wd_look *look, struct wd_group *group,
    const struct wd_process *process)
{
	struct wd_hop hop = { .kind = WD_HOP_PUBLISHED,
		.pid = process->identity.pid,
		.group = WD_NONE };
	struct target target = target_of(process);
	struct wd_local_addresses all;
	enum wd_status st;

	if (!read_hop(&target, &hop)) {
		group->checked_routes = false;
		return WD_OK;
	}
	st = wd_host_local_addresses(
	    look->with->host, look->deadline, &all, NULL);
	if (st != WD_OK || !find_netns(&all, &hop))
		group->checked_routes = false;
	wd_local_addresses_release(&all);
	return st == WD_NOMEM ? st : wd_group_add_hop(group, &hop);
}

/* By the executable's name alone, as engines.h has it. */
static bool
is_publisher(const struct wd_process *process)
{
	return process->exe_status == WD_OK &&
	    wd_slice_equal(wd_word_base(wd_bytes_slice(&process->exe_path)),
		wd_slice_text("docker-proxy"));
}

enum wd_status
wd_look_published(struct wd_look *look, struct wd_group *group)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < group->member_count && st == WD_OK; i++) {
		const struct wd_member *m = &look->members[group->members[i]];

		if (m->candidate && is_publisher(&m->process))
			st = add_published(look, group, &m->process);
	}
	return st;
}
