/*
 * Addresses of interfaces and translated connections, from the tables that
 * /proc/PID/net has for the namespace of each process: no rights beyond those
 * of looking at the process, and nothing is loaded into the kernel for it.
 */
#include "host/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/linux/namespaces.h"
#include "host/linux/nettable.h"
#include "host/linux/procreach.h"

/* One look; exactly one of the two lists is filled. */
struct look {
	const struct wd_linux *lx;
	const struct wd_deadline *deadline;
	bool own_only;
	uint64_t netns;
	struct wd_local_addresses *addresses;
	struct wd_translations *translations;
	uint16_t port;
	struct wd_fib_reader fib;
};

/* Opens net/NAME of the namespace. -1 with a status. */
static int
open_table(const struct look *look, const struct wd_netns *ns, const char *name,
    enum wd_status *status)
{
	int fd;

	if (ns->own)
		fd = wd_proc_open(look->lx, O_RDONLY, "%s/net/%s",
		    look->lx->live ? "thread-self" : ".", name);
	else
		fd = wd_proc_open(
		    look->lx, O_RDONLY, "%d/net/%s", (int)ns->pid, name);
	*status = fd < 0 ? wd_status_from_errno(errno) : WD_OK;
	/* The pid may be another's by now. */
	if (fd >= 0 && !ns->own &&
	    wd_proc_ns(look->lx, ns->pid, "net") != ns->inode) {
		wd_close_scoped(&fd);
		*status = WD_GONE;
		return -1;
	}
	return fd;
}

static enum wd_status
read_table(struct look *look, const struct wd_netns *ns, const char *name,
    enum wd_status (*take)(void *ctx, struct wd_slice line))
{
	WD_CLEANUP(wd_close_scoped) int fd = -1;
	enum wd_status st;

	fd = open_table(look, ns, name, &st);
	if (st == WD_OK)
		st = wd_line_table(fd, look->deadline, take, look);
	return st;
}

/* ---- addresses ----------------------------------------------------------- */

static enum wd_status
add_address(struct look *look, enum wd_family family, const uint8_t *bytes)
{
	struct wd_local_address address;

	memset(&address, 0, sizeof(address));
	address.netns = look->netns;
	address.family = family;
	memcpy(address.address, bytes, family == WD_INET4 ? 4 : 16);
	return wd_local_addresses_add(look->addresses, &address);
}

static enum wd_status
take_fib_line(void *ctx, struct wd_slice line)
{
	struct look *look = ctx;

	if (!wd_fib_line(&look->fib, line))
		return WD_OK;
	return add_address(look, WD_INET4, look->fib.address);
}

static enum wd_status
take_inet6_line(void *ctx, struct wd_slice line)
{
	uint8_t address[16];

	if (wd_parse_inet6_line(line, address) != WD_OK)
		return WD_OK;
	return add_address(ctx, WD_INET6, address);
}

/* A kernel without IPv6 has no if_inet6. */
static enum wd_status
read_addresses(struct look *look, const struct wd_netns *ns)
{
	enum wd_status st = read_table(look, ns, "fib_trie", take_fib_line);

	if (st != WD_OK)
		return st;
	st = read_table(look, ns, "if_inet6", take_inet6_line);
	return st == WD_GONE ? WD_OK : st;
}

/* ---- translations -------------------------------------------------------- */

/* A line that cannot be read may be one that matters. */
static enum wd_status
take_conntrack_line(void *ctx, struct wd_slice line)
{
	struct look *look = ctx;
	struct wd_translation translation;
	bool translated;
	enum wd_status st = wd_parse_conntrack(line, &translation, &translated);

	if (st != WD_OK || !translated || translation.asked_port != look->port)
		return st;
	translation.netns = look->netns;
	return wd_translations_add(look->translations, &translation);
}

/* Without connection tracking nothing is translated. */
static bool
is_tracking(const struct wd_linux *lx)
{
	WD_CLEANUP(wd_close_scoped) int fd = -1;

	fd = wd_proc_open(lx, O_RDONLY, "sys/net/netfilter/nf_conntrack_max");
	return fd >= 0 || errno != ENOENT;
}

static enum wd_status
read_translations(struct look *look, const struct wd_netns *ns)
{
	enum wd_status st =
	    read_table(look, ns, "nf_conntrack", take_conntrack_line);

	if (st == WD_GONE && !is_tracking(look->lx))
		return WD_OK;
	return st;
}

/* ---- every namespace ----------------------------------------------------- */

static enum wd_status
add_blind(struct wd_blinds *blinds, bool *complete, const char *table,
    uint64_t netns, enum wd_status why)
{
	char what[96];

	*complete = false;
	(void)snprintf(what, sizeof(what), "%s of network namespace %llu",
	    table, (unsigned long long)netns);
	return wd_blinds_add(blinds, why, 0,
	    why == WD_TIMEDOUT ? "ask again, with a longer deadline" :
				 "run the agent as root, on a kernel that has "
				 "/proc/net/nf_conntrack",
	    what, wd_status_name(why));
}

/* What one namespace does not show is a gap. One without processes is reached
 * by no pid: nobody serves there, but it may translate. */
static enum wd_status
look_everywhere(struct look *look, struct wd_blinds *blinds, bool *complete,
    const char *table,
    enum wd_status (*read)(struct look *look, const struct wd_netns *ns),
    struct wd_error *err)
{
	WD_CLEANUP(wd_netns_list_release) struct wd_netns_list list = { 0 };
	enum wd_status st = look->own_only ?
	    wd_netns_own(look->lx, &list) :
	    wd_netns_all(look->lx, look->deadline, &list, err);
	size_t i;

	if (st != WD_OK)
		return st;
	*complete = list.complete;
	for (i = 0; i < list.count && st == WD_OK; i++) {
		const struct wd_netns *ns = &list.items[i];

		look->netns = ns->inode;
		if (!ns->own && ns->pid == 0)
			st = look->translations == NULL ? WD_OK : WD_DENIED;
		else
			st = read(look, ns);
		if (st != WD_OK && st != WD_NOMEM)
			st = add_blind(blinds, complete, table, ns->inode, st);
	}
	return st == WD_OK ? WD_OK :
			     wd_fail(err, st, "%s: out of memory", table);
}

enum wd_status
wd_linux_local_addresses(struct wd_host *host,
    const struct wd_deadline *deadline, struct wd_local_addresses *found,
    struct wd_error *err)
{
	struct look look = { .lx = wd_linux_of(host),
		.deadline = deadline,
		.addresses = found };

	return look_everywhere(&look, &found->blinds, &found->complete,
	    "addresses", read_addresses, err);
}

enum wd_status
wd_linux_translations(struct wd_host *host, uint64_t netns, uint16_t port,
    const struct wd_deadline *deadline, struct wd_translations *found,
    struct wd_error *err)
{
	struct look look = { .lx = wd_linux_of(host),
		.deadline = deadline,
		.own_only = netns == 0,
		.translations = found,
		.port = port };

	return look_everywhere(&look, &found->blinds, &found->complete,
	    "translated connections", read_translations, err);
}
