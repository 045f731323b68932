/*
 * A server that has not loaded yet is LOADING, not wrong: evidence/loading.c.
 */
#include <check.h>
#include <stdio.h>

#include "support/scene.h"
#include "support/suite.h"

static struct scene s;

/* Process 100 is half a minute old, names its file and holds nothing. */
static void
set_up(void)
{
	scene_begin(&s);
	scene_unmap_all(&s, 100);
	s.real_ns = SCENE_START + 30 * WD_NS_PER_SECOND;
	scene_put(&s, "/processes/100/read_bytes", "100");
	scene_put(&s, "/processes/100/rss_anon_bytes", "100");
}

static void
tear_down(void)
{
	scene_end(&s);
}

static void
expect_loading(bool wanted)
{
	scene_ask(&s);
	ck_assert_int_eq(HAS_FLAG(scene_group(&s, 0), LOADING), wanted);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}

/* ---- not begun ------------------------------------------------------------
 */

START_TEST(a_young_server_without_its_model_is_loading)
{
	expect_loading(true);
}
END_TEST

START_TEST(an_old_server_without_its_model_is_not)
{
	s.real_ns = SCENE_START + 70 * WD_NS_PER_SECOND;
	expect_loading(false);
}
END_TEST

static const char *const enough[] = { "/processes/100/read_bytes",
	"/processes/100/rss_anon_bytes" };

START_TEST(a_young_server_with_its_bytes_is_not)
{
	scene_put(&s, enough[_i], "100000");
	expect_loading(false);
}
END_TEST

/* Also where the file is too young to be what was read. */
START_TEST(bytes_of_a_file_that_changed_are_enough)
{
	scene_put_int(
	    &s, "/files/m.gguf/ctime_ns", SCENE_START + 10 * WD_NS_PER_SECOND);
	expect_loading(true);
	scene_put(&s, enough[_i], "100000");
	expect_loading(false);
}
END_TEST

START_TEST(a_young_server_that_names_nothing_is_not)
{
	scene_put(&s, "/processes/100/argv", "['server']");
	expect_loading(false);
}
END_TEST

/* Whether enough was read cannot be told: nothing is said. */
START_TEST(unknown_counters_say_nothing)
{
	scene_put(&s, "/processes/100/io_status", "'denied'");
	expect_loading(false);
}
END_TEST

/* What is mapped whole is loaded, however young the process is. */
START_TEST(a_young_server_with_its_mapping_matches)
{
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_group(&s, 0), LOADING));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* ---- at work --------------------------------------------------------------
 */

/* Old, and 100 has the file open at position 10. */
static void
has_it_open(void)
{
	s.real_ns = SCENE_START + 5000 * WD_NS_PER_SECOND;
	scene_open(&s, 100, 9, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/processes/100/descriptors/items/2/position", "10");
}

START_TEST(an_open_file_that_is_read_is_loading)
{
	has_it_open();
	scene_after(&s, "descriptors", 1,
	    "/processes/100/descriptors/items/2/position", "20");
	expect_loading(true);
}
END_TEST

START_TEST(an_open_file_that_is_not_read_is_not)
{
	has_it_open();
	expect_loading(false);
}
END_TEST

START_TEST(an_open_file_that_is_mapped_whole_is_not)
{
	has_it_open();
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	scene_after(&s, "descriptors", 1,
	    "/processes/100/descriptors/items/2/position", "20");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_group(&s, 0), LOADING));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* One is loaded and read for some reason, another is open and lies still. */
START_TEST(a_loaded_file_beside_an_open_one_is_not)
{
	s.real_ns = SCENE_START + 5000 * WD_NS_PER_SECOND;
	scene_gguf(&s, "o.gguf", "Open", NULL, 64, 2);
	scene_open(&s, 100, 8, "o.gguf", "/m/o.gguf");
	scene_open(&s, 100, 9, "m.gguf", "/m/m.gguf");
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/processes/100/descriptors/items/3/position", "10");
	scene_after(&s, "descriptors", 1,
	    "/processes/100/descriptors/items/3/position", "20");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_group(&s, 0), LOADING));
}
END_TEST

/* A log that grows, or any other file, is none. */
START_TEST(another_file_that_is_read_is_not)
{
	has_it_open();
	scene_write(&s, "x.log", "x", 1);
	scene_open(&s, 100, 10, "x.log", "/m/x.log");
	scene_after(&s, "descriptors", 1,
	    "/processes/100/descriptors/items/3/position", "20");
	expect_loading(false);
}
END_TEST

static const struct {
	const char *pointer;
	int64_t age_seconds, bytes;
	bool loading;
} growths[] = {
	{ "/processes/100/read_bytes", 300, 5000000, true },
	{ "/processes/100/rss_anon_bytes", 300, 5000000, true },
	{ "/processes/100/read_bytes", 300, 1000, false },
	{ "/processes/100/read_bytes", 700, 5000000, false },
};

/* pread moves no position. Traffic of a server at work is no load. */
START_TEST(a_counter_that_grows)
{
	char json[32];

	has_it_open();
	s.real_ns = SCENE_START + growths[_i].age_seconds * WD_NS_PER_SECOND;
	(void)snprintf(
	    json, sizeof(json), "%lld", (long long)growths[_i].bytes);
	scene_after(&s, "process", 1, growths[_i].pointer, json);
	expect_loading(growths[_i].loading);
}
END_TEST

START_TEST(a_partial_mapping_that_fills_is_loading)
{
	s.real_ns = SCENE_START + 300 * WD_NS_PER_SECOND;
	scene_map_part(&s, 100, "m.gguf", "/m/m.gguf", 0, 1024);
	scene_after(
	    &s, "process", 1, "/processes/100/rss_file_bytes", "5000000");
	expect_loading(true);
}
END_TEST

/* Other weights are there already: they would be wrong, and are not yet. */
START_TEST(a_mismatch_waits_for_the_load)
{
	uint32_t line;

	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	has_it_open();
	scene_map(&s, 100, "w.gguf", "/m/w.gguf");
	scene_put(&s, "/processes/100/argv", "['server']");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_group(&s, 0), LOADING));
	scene_after(&s, "descriptors", 1,
	    "/processes/100/descriptors/items/2/position", "20");
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_group(&s, 0), LOADING));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", &line), VERDICT(UNVERIFIABLE));
}
END_TEST

/* A tied process's load is not the server's. */
START_TEST(a_tied_process_that_reads_is_not)
{
	has_it_open();
	scene_put(&s, "/processes/100/descriptors/items",
	    "[{'fd': 3, 'type': 'socket', 'inode': 77}, {'fd': 20,"
	    " 'type': 'pipe', 'path': 'pipe:[5000]', 'inode': 5000,"
	    " 'writable': true}]");
	scene_process(&s, 300, 50);
	scene_put(&s, "/processes/300/descriptors/items",
	    "[{'fd': 20, 'type': 'pipe', 'path': 'pipe:[5000]',"
	    " 'inode': 5000}]");
	scene_open(&s, 300, 9, "m.gguf", "/m/m.gguf");
	scene_after(&s, "descriptors", 3,
	    "/processes/300/descriptors/items/1/position", "20");
	expect_loading(false);
}
END_TEST

WD_SUITE_BEGIN("evidence loading")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(a_young_server_without_its_model_is_loading);
WD_TEST(an_old_server_without_its_model_is_not);
WD_LOOP(a_young_server_with_its_bytes_is_not, enough);
WD_LOOP(bytes_of_a_file_that_changed_are_enough, enough);
WD_TEST(a_young_server_that_names_nothing_is_not);
WD_TEST(unknown_counters_say_nothing);
WD_TEST(a_young_server_with_its_mapping_matches);
WD_TEST(an_open_file_that_is_read_is_loading);
WD_TEST(an_open_file_that_is_not_read_is_not);
WD_TEST(an_open_file_that_is_mapped_whole_is_not);
WD_TEST(a_loaded_file_beside_an_open_one_is_not);
WD_TEST(another_file_that_is_read_is_not);
WD_LOOP(a_counter_that_grows, growths);
WD_TEST(a_partial_mapping_that_fills_is_loading);
WD_TEST(a_mismatch_waits_for_the_load);
WD_TEST(a_tied_process_that_reads_is_not);
WD_SUITE_END
