/*
 * json.h - JSON text to a tree, under a budget. The only user of jansson's
 * parser; the tree itself is jansson's (json_t), read with its functions.
 *
 * Stricter than RFC 8259 leaves it open: a key that stands twice is refused,
 * since readers differ on which one wins. Kinder than jansson: what Python
 * writes and jansson refuses (NaN, Infinity, -Infinity, integers that
 * int64_t and reals that double does not hold) is read as a string holding the
 * very token. A leading UTF-8 byte order mark is skipped.
 */
#ifndef WD_BASE_JSON_H
#define WD_BASE_JSON_H

#include <jansson.h>

#include "base/error.h"
#include "base/slice.h"

/* Parses `text`, whose root must be an object or an array. Errors: WD_NOMEM;
 * WD_LIMIT when nesting passes WD_MAX_JSON_DEPTH or the tree would take more
 * than `max_memory` bytes; WD_MALFORMED with line, column and byte offset.
 * The caller owns one reference (json_decref). The budget is each thread's
 * own. jansson's allocator is ours: text from json_dumps must not go to
 * free(); use json_dumpb or json_dump_callback. */
enum wd_status wd_json_parse(struct wd_slice text, size_t max_memory,
    json_t **root, struct wd_error *err) WD_MUST_CHECK;

/* Whether `token` is a number as RFC 8259 writes it. */
int wd_json_is_number(struct wd_slice token);

/* Cleanup handler for `json_t *`. */
void wd_json_free(json_t **root);

#endif
