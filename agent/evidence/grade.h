/*
 * grade.h - how strong the evidence is that a group runs a file, as a pure
 * function of what was seen.
 */
#ifndef WD_EVIDENCE_GRADE_H
#define WD_EVIDENCE_GRADE_H

#include <stdbool.h>

#include "bundle/bundle.h"
#include "weightd/v1/attestation.pb-c.h"

struct wd_grade_facts {
	bool blind;       /* the object could not be opened */
	bool writable;    /* a member has it mapped shared and writable */
	bool mapped;      /* at least one readable mapping */
	bool open;        /* at least one readable descriptor */
	bool named;       /* a claim leads to it */
	bool capped;      /* only unrecognised listening descendants hold it */
	bool tied;        /* only processes that are tied to the server do */
	bool unaccounted; /* the server holds memory or devices besides */
	bool whole;       /* the file is as long as its header promises */
	bool late;        /* all names that lead to it were set since then */
	bool older;       /* not younger than the process that loads it */
	bool sleeps;      /* the engine may have dropped what it once read */
	bool io_known;
	uint64_t read_bytes; /* asked of read(2) by one process of the group */
	uint64_t memory_bytes; /* it holds without a file */
	uint64_t device_bytes; /* it holds on devices: devices.h, rule 4 */
	/* Tensor bytes of all files of its model that nobody maps: one process
	 * must account for them together, not for each again. */
	uint64_t needed_bytes;
	struct wd_coverage coverage;
};

/* The grade, and in `*reason` (static) why it is no better. Never returns
 * WITNESSED: nobody watched. */
Weightd__V1__Grade wd_grade_file(
    const struct wd_grade_facts *facts, const char **reason);

#endif
