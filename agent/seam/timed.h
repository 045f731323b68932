/*
 * timed.h - a folder and its files that can be read until a deadline.
 *
 * The parsers of bundle/ know no clock. Whoever must not be kept busy by a
 * hostile header, or by a folder full of them, hands them these instead:
 * every read, open and listed name looks at the deadline first. Behind it all
 * of them give WD_TIMEDOUT.
 */
#ifndef WD_SEAM_TIMED_H
#define WD_SEAM_TIMED_H

#include "base/clock.h"
#include "bundle/source.h"

struct wd_timed {
	const struct wd_deadline *deadline; /* NULL: none */
	const struct wd_folder *folder;     /* the real one; may be NULL */
	/* Something was refused. A parser takes that for one file which is
	 * lost and goes on with the others, so its caller looks here. */
	bool passed;
};

/* The real source must outlive the timed one. */
struct wd_timed_source {
	struct wd_timed *timed;
	struct wd_source inner;
};

struct wd_source wd_timed_source(struct wd_timed_source *source);

/* timed->folder must not be NULL. Errors of its open: also WD_NOMEM. */
struct wd_folder wd_timed_folder(struct wd_timed *timed);

/* Errors: WD_TIMEDOUT. */
enum wd_status wd_timed_check(
    struct wd_timed *timed, struct wd_error *err) WD_MUST_CHECK;

#endif
