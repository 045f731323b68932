/* A list of names as a message: what a reader may not say. */
#include "seam/pack_listing.h"

#include <string.h>

#include "base/mem.h"
#include "support/suite.h"

static struct wd_listing list;
static Weightd__Seam__V1__Listed item;
static Weightd__Seam__V1__Listed *items[] = { &item };
static Weightd__Seam__V1__Listing message;
static uint8_t bytes[8];

static ProtobufCBinaryData
data_of(const char *text)
{
	memcpy(bytes, text, strlen(text));
	return (ProtobufCBinaryData){ strlen(text), bytes };
}

static void
set_up(void)
{
	weightd__seam__v1__listed__init(&item);
	weightd__seam__v1__listing__init(&message);
	message.items = items;
	message.n_items = 1;
	message.complete = 1;
	item.value = data_of("x");
}

static void
tear_down(void)
{
	wd_listing_release(&list);
}

static enum wd_status
unpack(void)
{
	return wd_listing_of_message(&message, &list, NULL);
}

START_TEST(what_is_right)
{
	item.entry = data_of("a\\x1b");
	ck_assert_int_eq(unpack(), WD_OK);
	ck_assert_uint_eq(list.count, 1);
	ck_assert_str_eq(list.items[0].entry, "a\\x1b");
	ck_assert(list.complete);
}
END_TEST

static const char *const unescaped[] = { "\x1b[2J", "\xff", "a\nb" };

START_TEST(texts_are_escaped)
{
	item.entry = data_of(unescaped[_i]);
	ck_assert_int_eq(unpack(), WD_MALFORMED);
	ck_assert_uint_eq(list.count, 0);
	item.key = item.entry;
	item.entry.len = 0;
	ck_assert_int_eq(unpack(), WD_MALFORMED);
}
END_TEST

START_TEST(uses_are_known)
{
	item.use = WD_LISTED_UPSTREAM + 1;
	ck_assert_int_eq(unpack(), WD_MALFORMED);
	item.use = WD_LISTED_UPSTREAM;
	ck_assert_int_eq(unpack(), WD_OK);
}
END_TEST

START_TEST(no_value_is_no_item)
{
	item.value.len = 0;
	ck_assert_int_eq(unpack(), WD_OK);
	ck_assert_uint_eq(list.count, 0);
	ck_assert(!list.complete);
}
END_TEST

START_TEST(out_of_memory)
{
	uint64_t n;

	for (n = 0;; n++) {
		Weightd__Seam__V1__Listing *packed = NULL;
		enum wd_status st;
		int failed;

		wd_listing_release(&list);
		wd_mem_fail_after(n);
		st = unpack();
		if (st == WD_OK)
			st = wd_listing_message(&list, &packed, NULL);
		wd_listing_message_free(&packed);
		failed = wd_mem_has_failed();
		wd_mem_fail_after(UINT64_MAX);
		if (!failed)
			break;
		ck_assert_int_eq(st, WD_NOMEM);
		ck_assert_ptr_null(packed);
	}
	ck_assert_uint_ge(n, 5);
}
END_TEST

WD_SUITE_BEGIN("seam listing")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(what_is_right);
WD_LOOP(texts_are_escaped, unescaped);
WD_TEST(uses_are_known);
WD_TEST(no_value_is_no_item);
WD_TEST(out_of_memory);
WD_SUITE_END
