/*
 * bundle_check.h - what holds for every bundle, whatever bytes it came from.
 * Used by the fuzz targets of the bundle room; a violation aborts.
 */
#ifndef WD_TESTS_FUZZ_BUNDLE_CHECK_H
#define WD_TESTS_FUZZ_BUNDLE_CHECK_H

#include "bundle/bundle.h"

/* One file of a folder that gives these bytes for each of `names`. */
struct fuzz_file {
	const char *name;
	struct wd_slice bytes;
};
struct fuzz_folder {
	struct fuzz_file files[8];
	unsigned count;
	unsigned open_now;
};
struct wd_folder fuzz_folder_of(struct fuzz_folder *folder);

/* Describes file number `given`, checks the answer and frees it. */
void fuzz_describe(struct fuzz_folder *folder, unsigned given);

/* The same of the bundle that lies in the folder. */
void fuzz_describe_folder(struct fuzz_folder *folder);

#endif
