/*
 * page.h - the paper that the show files write on: lines of a key
 * and a text, every text made safe for a terminal; not for other rooms.
 */
#ifndef WD_VERDICT_PAGE_H
#define WD_VERDICT_PAGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "weightd/v1/attestation.pb-c.h"

struct wd_page {
	struct wd_buf *out;
	bool with_colour;
};

enum wd_paint { WD_GREEN, WD_RED, WD_YELLOW, WD_BOLD };

/* Appends `text` between colour codes, or as it is without colour. */
void wd_page_paint(struct wd_page *page, enum wd_paint paint, const char *text);

/* Starts a line: `depth` steps of two spaces and the key, padded. An empty
 * key continues the line above. */
void wd_page_key(struct wd_page *page, unsigned depth, const char *key);
void wd_page_end(struct wd_page *page);

/* A whole line of our own words and numbers; never for texts of others. */
void wd_page_line(struct wd_page *page, unsigned depth, const char *key,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A text that its maker escaped, perhaps: what passes wd_escape passes, and a
 * backslash too; everything else becomes \xHH. */
void wd_page_text(struct wd_page *page, const char *text);

/* Bytes, escaped so that different bytes look different; longer than `most`
 * they are cut and "..." follows. */
void wd_page_bytes(
    struct wd_page *page, ProtobufCBinaryData bytes, size_t most);

/* "79,674,391,296" */
void wd_page_number(struct wd_page *page, uint64_t number);

/* "sha256:HEX", or "none". */
void wd_page_digest(struct wd_page *page, const Weightd__V1__Digest *digest);

/* "DELETED, REPLACED". */
void wd_page_flags(
    struct wd_page *page, const Weightd__V1__Flag *flags, size_t count);

/* The name of an enum value without `prefix`, or its number. */
void wd_page_enum(struct wd_page *page, const ProtobufCEnumDescriptor *type,
    int number, const char *prefix);

/* The connection that was asked about, if one was, and its other end. */
void wd_page_connection(
    struct wd_page *page, const Weightd__V1__Attestation *attestation);

/* A line of a text, or of flags; nothing when there is none. */
void wd_page_text_line(
    struct wd_page *page, unsigned depth, const char *key, const char *text);
void wd_page_flags_line(struct wd_page *page, unsigned depth,
    const Weightd__V1__Flag *flags, size_t count);

/* All lines of a process. `by_connection`: the question named one, so that an
 * owner holds that and perhaps no listener. */
void wd_page_process(struct wd_page *page, const Weightd__V1__Process *process,
    bool by_connection);

/* Fingerprint lines of a bundle, `depth` deep. */
void wd_page_bundle(
    struct wd_page *page, unsigned depth, const Weightd__V1__Bundle *bundle);

/* What leads to a candidate now, and what no longer does. */
void wd_page_names(
    struct wd_page *page, const Weightd__V1__Candidate *candidate);

/* Processes outside the group that hold it too. */
void wd_page_others(
    struct wd_page *page, const Weightd__V1__Candidate *candidate);

#endif
