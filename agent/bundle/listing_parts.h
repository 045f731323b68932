/*
 * listing_parts.h - a list of names in the making. Private to listing*.c.
 */
#ifndef WD_BUNDLE_LISTING_PARTS_H
#define WD_BUNDLE_LISTING_PARTS_H

#include "bundle/listing.h"

/* As wd_listing_put, with `entry` and `key` as they stand in the file. */
enum wd_status wd_listing_add(struct wd_listing *listing,
    enum wd_listed_use use, struct wd_slice entry, struct wd_slice key,
    struct wd_slice value) WD_MUST_CHECK;

/* What the value of an option names. `option` is written without leading
 * dashes; underscores count as dashes. False for any other option. */
bool wd_listing_option(struct wd_slice option, enum wd_listed_use *use);

/* listing_preset.c: INI. */
enum wd_status wd_listing_preset(struct wd_slice text,
    struct wd_listing *listing, struct wd_error *err) WD_MUST_CHECK;

/* listing_yaml.c: the YAML kinds. */
enum wd_status wd_listing_yaml(struct wd_slice text, enum wd_listing_kind kind,
    struct wd_listing *listing, struct wd_error *err) WD_MUST_CHECK;

/* listing_command.c: options of a command line that name weights. `${NAME}`
 * and what a shell would expand is not known: such a value is left out and
 * makes the list incomplete. */
enum wd_status wd_listing_command(struct wd_listing *listing,
    struct wd_slice entry, struct wd_slice command,
    struct wd_error *err) WD_MUST_CHECK;

#endif
