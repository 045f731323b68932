#include "base/digest.h"

#include <string.h>

#include <openssl/evp.h>

#include "base/escape.h"
#include "base/mem.h"

struct wd_hasher {
	EVP_MD_CTX *ctx;
	bool failed;
};

enum wd_status
wd_hasher_new(struct wd_hasher **hasher, struct wd_error *err)
{
	struct wd_hasher *made = wd_calloc(1, sizeof(*made));

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "digest: out of memory");
	made->ctx = EVP_MD_CTX_new();
	if (made->ctx == NULL ||
	    EVP_DigestInit_ex(made->ctx, EVP_sha256(), NULL) != 1) {
		wd_hasher_free(&made);
		return wd_fail(
		    err, WD_NOMEM, "digest: OpenSSL could not start SHA-256");
	}
	*hasher = made;
	return WD_OK;
}

void
wd_hasher_add(struct wd_hasher *hasher, const void *bytes, size_t len)
{
	if (len > 0 && EVP_DigestUpdate(hasher->ctx, bytes, len) != 1)
		hasher->failed = true;
}

void
wd_hasher_text(struct wd_hasher *hasher, const char *text)
{
	wd_hasher_add(hasher, text, strlen(text));
}

void
wd_hasher_u64(struct wd_hasher *hasher, uint64_t number)
{
	uint8_t bytes[8];
	unsigned i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
	wd_hasher_add(hasher, bytes, sizeof(bytes));
}

enum wd_status
wd_hasher_finish(
    struct wd_hasher *hasher, struct wd_sha256 *digest, struct wd_error *err)
{
	struct wd_sha256 made;
	unsigned len = 0;

	/* Without a type the next digest starts without a new fetch. */
	if (hasher->failed ||
	    EVP_DigestFinal_ex(hasher->ctx, made.bytes, &len) != 1 ||
	    len != WD_SHA256_BYTES ||
	    EVP_DigestInit_ex(hasher->ctx, NULL, NULL) != 1)
		return wd_fail(err, WD_IO,
		    "digest: OpenSSL failed in SHA-256; check its "
		    "configuration (openssl list -digest-algorithms)");
	*digest = made;
	return WD_OK;
}

void
wd_hasher_free(struct wd_hasher **hasher)
{
	if (*hasher == NULL)
		return;
	EVP_MD_CTX_free((*hasher)->ctx);
	wd_free(*hasher);
	*hasher = NULL;
}

enum wd_status
wd_sha256(struct wd_slice bytes, struct wd_sha256 *digest, struct wd_error *err)
{
	WD_CLEANUP(wd_hasher_free) struct wd_hasher *hasher = NULL;
	enum wd_status st = wd_hasher_new(&hasher, err);

	if (st != WD_OK)
		return st;
	wd_hasher_add(hasher, bytes.data, bytes.len);
	return wd_hasher_finish(hasher, digest, err);
}

bool
wd_sha256_equal(const struct wd_sha256 *a, const struct wd_sha256 *b)
{
	return memcmp(a->bytes, b->bytes, WD_SHA256_BYTES) == 0;
}

const char *
wd_sha256_text(const struct wd_sha256 *digest, char text[WD_SHA256_TEXT_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	memcpy(text, "sha256:", 7);
	for (i = 0; i < WD_SHA256_BYTES; i++) {
		text[7 + 2 * i] = digits[digest->bytes[i] >> 4];
		text[8 + 2 * i] = digits[digest->bytes[i] & 15];
	}
	text[WD_SHA256_TEXT_BYTES - 1] = '\0';
	return text;
}

static bool
parse_text(const char *text, struct wd_sha256 *digest)
{
	struct wd_sha256 parsed;
	size_t i;

	if (strncmp(text, "sha256:", 7) != 0 || strlen(text + 7) != 64)
		return false;
	for (i = 0; i < WD_SHA256_BYTES; i++) {
		struct wd_slice pair = { (const uint8_t *)text + 7 + 2 * i, 2 };
		uint64_t value;

		if (!wd_slice_number(pair, 16, &value))
			return false;
		parsed.bytes[i] = (uint8_t)value;
	}
	*digest = parsed;
	return true;
}

enum wd_status
wd_sha256_parse(
    const char *text, struct wd_sha256 *digest, struct wd_error *err)
{
	char shown[96];

	if (parse_text(text, digest))
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "digest \"%s\" is not of the form sha256: and 64 hexadecimal "
	    "digits, as `sha256sum FILE` prints them",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(text)));
}
