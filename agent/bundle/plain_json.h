/*
 * plain_json.h - JSON as the usual writers write it, read from front to back.
 *
 * A table of 90,000 tensors as a tree costs more time than all the rest of a
 * description. This reader knows plain strings (printable ASCII without
 * escapes), whole numbers below 10^18, and the brackets around them. Whatever
 * else it meets it does not judge: `plain` becomes false, and the caller reads
 * the text again as a tree (base/json.h), which knows all of JSON and says what
 * is wrong.
 */
#ifndef WD_BUNDLE_PLAIN_JSON_H
#define WD_BUNDLE_PLAIN_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct wd_plain {
	struct wd_slice rest;
	bool plain; /* false: all answers since then mean nothing */
};

/* After blanks: takes `byte` when it is next, and says so. */
bool wd_plain_take(struct wd_plain *text, char byte);

/* As take, and anything else is not plain. */
void wd_plain_expect(struct wd_plain *text, char byte);

/* A string's inside, which lies in the text; empty when not plain. */
struct wd_slice wd_plain_string(struct wd_plain *text);

uint64_t wd_plain_number(struct wd_plain *text);

/* The text of a whole object, with its braces. Only its extent is found; what
 * is in it the caller parses. */
struct wd_slice wd_plain_object(struct wd_plain *text);

/* Nothing but blanks may follow. */
void wd_plain_end(struct wd_plain *text);

#endif
