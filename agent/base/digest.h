/*
 * digest.h - SHA-256 (FIPS 180-4) and its text form. The only user of
 * OpenSSL's digests.
 *
 * In text a digest is "sha256:" and 64 lower-case hexadecimal digits.
 */
#ifndef WD_BASE_DIGEST_H
#define WD_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/slice.h"

#define WD_SHA256_BYTES 32
#define WD_SHA256_TEXT_BYTES (7 + 64 + 1) /* "sha256:", hex, NUL */

struct wd_sha256 {
	uint8_t bytes[WD_SHA256_BYTES];
};

/* A digest in the making; opaque. */
struct wd_hasher;

/* Starts a digest. Errors: WD_NOMEM. The caller frees it. */
enum wd_status wd_hasher_new(
    struct wd_hasher **hasher, struct wd_error *err) WD_MUST_CHECK;

/* Adds bytes. A failure is kept and reported by wd_hasher_finish. */
void wd_hasher_add(struct wd_hasher *hasher, const void *bytes, size_t len);
void wd_hasher_text(struct wd_hasher *hasher, const char *text);

/* Adds a number as 8 little-endian bytes. */
void wd_hasher_u64(struct wd_hasher *hasher, uint64_t number);

/* Ends the digest; the hasher starts anew. Errors: WD_IO when OpenSSL
 * refused (never seen; a broken provider configuration could). */
enum wd_status wd_hasher_finish(struct wd_hasher *hasher,
    struct wd_sha256 *digest, struct wd_error *err) WD_MUST_CHECK;

/* Accepts NULL and sets NULL. */
void wd_hasher_free(struct wd_hasher **hasher);

/* The digest of one slice. Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_sha256(struct wd_slice bytes, struct wd_sha256 *digest,
    struct wd_error *err) WD_MUST_CHECK;

bool wd_sha256_equal(const struct wd_sha256 *a, const struct wd_sha256 *b);

/* Writes "sha256:HEX" and returns `text`. */
const char *wd_sha256_text(
    const struct wd_sha256 *digest, char text[WD_SHA256_TEXT_BYTES]);

/* Reads "sha256:HEX" (any case of the digits, exactly 64). Errors:
 * WD_INVALID with a message that shows the right form. */
enum wd_status wd_sha256_parse(const char *text, struct wd_sha256 *digest,
    struct wd_error *err) WD_MUST_CHECK;

#endif
