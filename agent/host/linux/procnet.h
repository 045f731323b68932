/*
 * procnet.h - rows of /proc/net/tcp and tcp6. Pure.
 *
 * Address words are printed as host-endian 32-bit numbers (proc(5) does not
 * say so; net/ipv4/tcp_ipv4.c and net/ipv6/tcp_ipv6.c do): here they become
 * network order again.
 */
#ifndef WD_HOST_LINUX_PROCNET_H
#define WD_HOST_LINUX_PROCNET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "host/host.h"

#define WD_TCP_ESTABLISHED 0x01
#define WD_TCP_LISTEN 0x0A

struct wd_net_row {
	bool v6;
	uint8_t local[16], remote[16]; /* network order; 4 bytes used unless
					* v6 */
	uint16_t local_port, remote_port;
	uint8_t state;
	uint32_t uid;
	uint64_t inode; /* 0: no socket any more (TIME_WAIT) */
};

/* One row. Errors: WD_MALFORMED, which the heading gives too. */
enum wd_status wd_parse_net_row(
    struct wd_slice line, struct wd_net_row *row) WD_MUST_CHECK;

/* Whether an IPv6 listener answers IPv6 only. The socket's own `option`
 * matters for the wildcard alone: a mapped address is IPv4, any other address
 * never answers it. */
enum wd_tristate wd_v6only_settle(
    const uint8_t address[16], enum wd_tristate option);

#endif
