/*
 * manners.h - how a long read stays out of everybody else's way.
 *
 * The calls behind it differ from system to system, so host/manners/<os>.c
 * has them (host/manners/manners.h), and whoever reads is handed this table.
 * Each entry may be NULL, and so may the table: then the read is merely less
 * polite.
 */
#ifndef WD_BASE_MANNERS_H
#define WD_BASE_MANNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wd_io_manners {
	/* Sets a byte for each page of the range: 1 when it is in the page
	 * cache, 0 when not. `offset` is a multiple of the page size. False
	 * when the system does not tell. Brings nothing into the cache. */
	bool (*cached)(int fd, uint64_t offset, size_t len, uint8_t *pages);

	/* Switches the system's own read-ahead off (on) for this open file:
	 * it would bring in pages before `cached` was asked about them. */
	void (*read_ahead)(int fd, bool on);

	/* Starts reading the range into the page cache without waiting. */
	void (*will_need)(int fd, uint64_t offset, size_t len);

	/* Takes whole clean pages of the range out of the page cache, unless
	 * somebody maps them. */
	void (*drop)(int fd, uint64_t offset, size_t len);

	/* Lets the calling thread use only the processor and disk time that
	 * nobody else wants. Cannot be taken back without privilege: for a
	 * thread that ends with the job. */
	void (*be_idle)(void);
};

#endif
