/* digest.h: the vectors of FIPS 180-4 and NIST's CAVP, and the text form. */
#include "base/digest.h"

#include <string.h>

#include "base/mem.h"
#include "support/suite.h"

static const struct {
	const char *text;
	const char *digest;
} vectors[] = {
	{ "",
	    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b785"
	    "2b855" },
	{ "abc",
	    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20"
	    "015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	    "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419d"
	    "b06c1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijk"
	  "lmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
	    "sha256:cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037af"
	    "ee9d1" },
	/* CAVP SHA256ShortMsg, Len = 8 */
	{ "\xd3",
	    "sha256:28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9"
	    "802c1" },
	/* CAVP SHA256ShortMsg, Len = 32 */
	{ "\x74\xba\x25\x21",
	    "sha256:b16aa56be3880d18cd41e68384cf1ec8c17680c45a02b1575dc1518923a"
	    "e8b0e" },
};

START_TEST(vector)
{
	char text[WD_SHA256_TEXT_BYTES];
	struct wd_sha256 digest;

	ck_assert_int_eq(
	    wd_sha256(wd_slice_text(vectors[_i].text), &digest, NULL), WD_OK);
	ck_assert_str_eq(wd_sha256_text(&digest, text), vectors[_i].digest);
}
END_TEST

/* FIPS 180-4: one million times "a"; in uneven pieces, twice with the same
 * hasher. */
START_TEST(pieces_and_reuse)
{
	WD_CLEANUP(wd_hasher_free) struct wd_hasher *hasher = NULL;
	char text[WD_SHA256_TEXT_BYTES], block[997];
	struct wd_sha256 digest;
	size_t left, piece;
	int round;

	memset(block, 'a', sizeof(block));
	ck_assert_int_eq(wd_hasher_new(&hasher, NULL), WD_OK);
	for (round = 0; round < 2; round++) {
		for (left = 1000000; left > 0; left -= piece) {
			piece = left < sizeof(block) ? left : sizeof(block);
			wd_hasher_add(hasher, block, piece);
		}
		ck_assert_int_eq(
		    wd_hasher_finish(hasher, &digest, NULL), WD_OK);
		ck_assert_str_eq(wd_sha256_text(&digest, text),
		    "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046"
		    "d39ccc7112cd0");
	}
}
END_TEST

START_TEST(numbers_are_eight_little_endian_bytes)
{
	static const uint8_t bytes[] = { 8, 7, 6, 5, 4, 3, 2, 1, 'x' };
	WD_CLEANUP(wd_hasher_free) struct wd_hasher *hasher = NULL;
	struct wd_sha256 a, b;

	ck_assert_int_eq(wd_hasher_new(&hasher, NULL), WD_OK);
	wd_hasher_u64(hasher, UINT64_C(0x0102030405060708));
	wd_hasher_text(hasher, "x");
	wd_hasher_add(hasher, NULL, 0);
	ck_assert_int_eq(wd_hasher_finish(hasher, &a, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_sha256((struct wd_slice){ bytes, sizeof(bytes) }, &b, NULL),
	    WD_OK);
	ck_assert(wd_sha256_equal(&a, &b));
	b.bytes[31] ^= 1;
	ck_assert(!wd_sha256_equal(&a, &b));
}
END_TEST

#define HEX63 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a"

static const char *const wrong_texts[] = {
	"",
	"sha256:",
	"sha256:" HEX63,
	"sha256:" HEX63 "dd",
	"sha256:" HEX63 "g",
	"sha256:" HEX63 " ",
	" sha256:" HEX63 "d",
	"SHA256:" HEX63 "d",
	"sha512:" HEX63 "d",
	"md5:" HEX63 "d",
	HEX63 "d",
	"sha256:0x" HEX63,
	"sha256:\x1b[31m",
};

START_TEST(wrong_text)
{
	struct wd_sha256 digest, before;
	struct wd_error err;

	memset(&digest, 7, sizeof(digest));
	before = digest;
	ck_assert_int_eq(
	    wd_sha256_parse(wrong_texts[_i], &digest, &err), WD_INVALID);
	ck_assert(wd_sha256_equal(&digest, &before));
	ck_assert_ptr_nonnull(strstr(err.message, "64 hexadecimal"));
	ck_assert_ptr_null(strchr(err.message, '\x1b'));
}
END_TEST

START_TEST(text_in_any_case_is_read)
{
	char text[WD_SHA256_TEXT_BYTES];
	struct wd_sha256 digest;

	ck_assert_int_eq(
	    wd_sha256_parse("sha256:BA7816BF8F01CFEA414140de5dae2223b00361a396"
			    "177a9cb410ff61f20015aD",
		&digest, NULL),
	    WD_OK);
	ck_assert_str_eq(wd_sha256_text(&digest, text), "sha256:" HEX63 "d");
}
END_TEST

START_TEST(no_memory_is_a_status)
{
	struct wd_hasher *hasher = NULL;
	struct wd_sha256 digest;

	wd_mem_fail_after(0);
	ck_assert_int_eq(wd_hasher_new(&hasher, NULL), WD_NOMEM);
	ck_assert_int_eq(
	    wd_sha256(wd_slice_text("x"), &digest, NULL), WD_NOMEM);
	wd_mem_fail_after(UINT64_MAX);
	ck_assert_ptr_null(hasher);
	wd_hasher_free(&hasher);
}
END_TEST

WD_SUITE_BEGIN("base digest")
WD_LOOP(vector, vectors);
WD_TEST(pieces_and_reuse);
WD_TEST(numbers_are_eight_little_endian_bytes);
WD_LOOP(wrong_text, wrong_texts);
WD_TEST(text_in_any_case_is_read);
WD_TEST(no_memory_is_a_status);
WD_SUITE_END
