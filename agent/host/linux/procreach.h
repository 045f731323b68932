/*
 * procreach.h - lines of /proc/net/fib_trie, if_inet6 and nf_conntrack. Pure.
 */
#ifndef WD_HOST_LINUX_PROCREACH_H
#define WD_HOST_LINUX_PROCREACH_H

#include "host/reach.h"

/* fib_trie tells an address and, some lines below it, what it is: a reader
 * keeps the last address. True when `address` is one of
 * an interface. Any other line changes nothing. */
struct wd_fib_reader {
	bool has_address;
	uint8_t address[16]; /* 4 used */
};
bool wd_fib_line(struct wd_fib_reader *reader, struct wd_slice line);

/* A line of if_inet6. Errors: WD_MALFORMED. */
enum wd_status wd_parse_inet6_line(
    struct wd_slice line, uint8_t address[16]) WD_MUST_CHECK;

/* A line of nf_conntrack. `*translated` is false for what is no established
 * TCP connection, and for one that is not rewritten: `translation` is then not
 * filled. Errors: WD_MALFORMED. */
enum wd_status wd_parse_conntrack(struct wd_slice line,
    struct wd_translation *translation, bool *translated) WD_MUST_CHECK;

#endif
