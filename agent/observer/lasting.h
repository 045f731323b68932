/*
 * lasting.h - a reader that is made when it is first needed, and made anew
 * when it ended.
 *
 * A reader in another process may say WD_GONE of itself: it crashed over a
 * file, or was killed. The call is then made once more by a new reader. When
 * that one ends too the call fails with WD_IO, never with WD_GONE: to whoever
 * asked that would mean that the file has gone.
 */
#ifndef WD_OBSERVER_LASTING_H
#define WD_OBSERVER_LASTING_H

#include "seam/reader.h"

struct wd_reader_maker {
	/* Errors: any; the call for which it was made then fails with WD_IO
	 * and its words. */
	enum wd_status (*make)(
	    void *ctx, struct wd_reader **reader, struct wd_error *err);
	void *ctx;
};

/* Used by one thread at a time. `maker` is copied. Errors: WD_NOMEM. */
enum wd_status wd_reader_lasting(const struct wd_reader_maker *maker,
    struct wd_reader **reader, struct wd_error *err) WD_MUST_CHECK;

#endif
