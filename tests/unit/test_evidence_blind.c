/*
 * What could not be looked at is a blind spot and never "nothing".
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/scene.h"
#include "support/suite.h"

static struct scene s;

static void
set_up(void)
{
	scene_begin(&s);
}

static void
tear_down(void)
{
	scene_end(&s);
}

static void
forget_the_claim(void)
{
	scene_put(&s, "/processes/100/argv", "['server']");
}

static void
hold_nothing(void)
{
	scene_unmap_all(&s, 100);
	forget_the_claim();
}

static const struct blind_row {
	const char *what; /* in the blind spot */
	const char *pointer, *json;
	bool holds_weights; /* the good mapping stays */
} blind_rows[] = {
	{ "/m/m.gguf", "/processes/100/mappings/items/0/open_status",
	    "'denied'", true },
	{ "/m/m.gguf", "/processes/100/mappings/items/0/open_status",
	    "'stale handle'", true },
	{ "process 100", "/processes/100/mappings/status", "'denied'", true },
	{ "process 100", "/processes/100/mappings/complete", "false", true },
	{ "process 100", "/processes/100/descriptors/status", "'denied'",
	    true },
	{ "process 100", "/processes/100/descriptors/complete", "false", true },
	{ "process 100", "/processes/100/process_status",
	    "'input/output error'", true },
	{ "/m/odd", "/processes/100/descriptors/items/-",
	    "{'fd': 8, 'file': 'm.gguf', 'path': '/m/odd',"
	    " 'open_status': 'denied'}",
	    true },
};

START_TEST(what_cannot_be_read_is_blind)
{
	const struct blind_row *row = &blind_rows[_i];

	scene_put(&s, row->pointer, row->json);
	scene_ask(&s);
	ck_assert_msg(s.all->grade == GRADE(BLIND), "%s: grade %d",
	    row->pointer, (int)s.all->grade);
	ck_assert(!scene_group(&s, 0)->members_complete);
	ck_assert_msg(scene_blind(&s, SCOPE(WEIGHTS), row->what),
	    "%s: no blind spot names %s", row->pointer, row->what);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

static const struct {
	const char *pointer, *json, *reason, *remedy;
} remedies[] = {
	{ "/processes/100/mappings/status", "'denied'", "no right to look in",
	    "no right to look in" },
	{ "/processes/100/mappings/items/0/open_status", "'denied'",
	    "no right to open", "no right to open" },
	{ "/processes/100/mappings/items/0/open_status", "'stale handle'",
	    "stale handle", "ask again" },
	{ "/processes/100/mappings/complete", "false", "timed out",
	    "allow more time" },
	{ "/processes/100/mappings/status", "'limit reached'", "limit reached",
	    "more than the agent looks into" },
	{ "/processes/100/mappings/status", "'unsupported'", "unsupported",
	    "cannot tell" },
	{ "/processes/100/process_status", "'input/output error'",
	    "input/output error", "the kernel's may tell more" },
};

/* A right is named only where the host says that it is missing. */
START_TEST(the_remedy_is_true)
{
	const Weightd__V1__BlindSpot *spot;

	scene_put(&s, "/refusal",
	    "{'process': 'no right to look in', 'object': 'no right to open'}");
	scene_put(&s, remedies[_i].pointer, remedies[_i].json);
	scene_ask(&s);
	ck_assert_uint_ge(s.all->n_blind_spots, 1);
	spot = s.all->blind_spots[0];
	ck_assert_str_eq(spot->reason, remedies[_i].reason);
	ck_assert_msg(strstr(spot->remedy, remedies[_i].remedy) != NULL,
	    "%s: %s", remedies[_i].pointer, spot->remedy);
}
END_TEST

START_TEST(an_unknown_format_asks_for_no_rights)
{
	hold_nothing();
	scene_write(&s, "odd", NULL, 0);
	scene_put(&s, "/files/odd/size_bytes", "734003200");
	scene_map(&s, 100, "odd", "/m/odd");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_blind_spots, 1);
	ck_assert_ptr_nonnull(
	    strstr(s.all->blind_spots[0]->remedy, "newer agent"));
	ck_assert_ptr_null(strstr(s.all->blind_spots[0]->remedy, "root"));
}
END_TEST

START_TEST(a_process_table_that_is_not_whole_is_blind)
{
	scene_put(&s, "/pids/complete", "false");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(!HAS_CHECK(scene_group(&s, 0), GROUP));
	scene_put(&s, "/pids", "{'status': 'denied'}");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "process table"));
}
END_TEST

/* A mapping of something that is no regular file holds no weights. */
START_TEST(no_regular_file_is_no_gap)
{
	scene_put(&s, "/processes/100/mappings/items/-",
	    "{'start': 4096, 'end': 8192, 'path': '/odd', 'type': 'regular'}");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

/* A weight file that breaks its format hides what the process runs. */
START_TEST(a_malformed_weight_file_is_blind)
{
	static const char broken[] = "GGUF\3\0\0\0\377\377\377\377\377\377";

	hold_nothing();
	scene_write(&s, "broken.gguf", broken, sizeof(broken) - 1);
	scene_map(&s, 100, "broken.gguf", "/m/broken.gguf");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "broken.gguf"));
}
END_TEST

static void
write_large(const char *name, size_t len)
{
	uint8_t *bytes = calloc(len, 1);

	ck_assert_ptr_nonnull(bytes);
	scene_write(&s, name, bytes, len);
	free(bytes);
}

START_TEST(a_large_file_of_unknown_content)
{
	hold_nothing();
	write_large("model.bin", 1 << 20);
	scene_map(&s, 100, "model.bin", "/m/model.bin");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "/m/model.bin"));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 0);
	/* A library is none. */
	scene_put(&s, "/processes/100/mappings/items/0/executable", "true");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert(HAS_CHECK(scene_group(&s, 0), MAPPINGS));
}
END_TEST

START_TEST(a_small_file_of_unknown_content_is_no_gap)
{
	hold_nothing();
	write_large("locale", (1 << 20) - 1);
	scene_map(&s, 100, "locale", "/usr/lib/locale");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
}
END_TEST

/* Programs that carry their weights inside themselves. */
START_TEST(a_large_program_is_a_blind_spot)
{
	hold_nothing();
	write_large("llamafile", 1 << 20);
	scene_map(&s, 100, "llamafile", "/usr/bin/server");
	scene_put(&s, "/processes/100/mappings/items/0/executable", "true");
	scene_put(&s, "/files/llamafile/device", "1");
	scene_put(&s, "/files/llamafile/inode", "3");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	scene_put(&s, "/files/llamafile/size_bytes", "734003200");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "/usr/bin/server"));
}
END_TEST

static const struct {
	const char *path;
	bool computes;
} devices[] = {
	{ "/dev/nvidia0", true },
	{ "/dev/nvidia-uvm", true },
	{ "/dev/dri/renderD128", true },
	{ "/dev/dri/card0", true },
	{ "/dev/kfd", true },
	{ "/dev/accel/accel0", true },
	{ "/dev/dxg", true },
	{ "/srv/jail/dev/nvidia0", true },
	{ "/dev/null", false },
	{ "/dev/urandom", false },
	{ "/dev/pts/0", false },
};

START_TEST(a_device_that_computes)
{
	char json[160];

	hold_nothing();
	(void)snprintf(json, sizeof(json),
	    "{'fd': 9, 'type': 'device', 'path': '%s'}", devices[_i].path);
	scene_put(&s, "/processes/100/descriptors/items/-", json);
	scene_ask(&s);
	ck_assert_int_eq(
	    s.all->grade, devices[_i].computes ? GRADE(BLIND) : GRADE(NONE));
	ck_assert_int_eq(scene_blind(&s, SCOPE(WEIGHTS), devices[_i].path),
	    devices[_i].computes);
	ck_assert_uint_eq(scene_process_in(&s, 100)->n_accelerators,
	    devices[_i].computes ? 1 : 0);
}
END_TEST

/* The handle is closed, its memory is still mapped. */
START_TEST(a_device_that_is_only_mapped)
{
	hold_nothing();
	scene_put(&s, "/processes/100/mappings/items/-",
	    "{'start': 4096, 'end': 8192, 'type': 'device',"
	    " 'path': '/dev/nvidia0'}");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "/dev/nvidia0"));
}
END_TEST

/* Beside weights that are seen it is shown and decides nothing. */
START_TEST(a_device_beside_weights_is_shown)
{
	scene_put(&s, "/processes/100/descriptors/items/-",
	    "{'fd': 9, 'type': 'device', 'path': '/dev/nvidia0'}");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "/dev/nvidia0"));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

static const char *const kinds_of_memory[] = { "rss_anon_bytes",
	"rss_shmem_bytes", "swap_bytes", "hugetlb_bytes" };

START_TEST(large_memory_without_a_file)
{
	char pointer[64];

	hold_nothing();
	(void)snprintf(
	    pointer, sizeof(pointer), "/processes/100/%s", kinds_of_memory[_i]);
	scene_put(&s, pointer, "268435455");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	scene_put(&s, pointer, "268435456");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "256 MiB"));
}
END_TEST

/* An adapter explains nothing of a base model that was read into memory. */
START_TEST(large_memory_beside_an_adapter)
{
	hold_nothing();
	scene_gguf(&s, "lora.gguf", "Adapter", "adapter", 8, 3);
	scene_map(&s, 100, "lora.gguf", "/m/lora.gguf");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert_int_eq(scene_model(&s, 0)->bundle->kind, KIND(ADAPTER));
	scene_put(&s, "/processes/100/rss_anon_bytes", "4294967296");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

/* Memory in which a second model as large could be, beside the one that is
 * mapped: shown. */
START_TEST(large_memory_beside_a_mapped_model_is_shown)
{
	scene_put(&s, "/processes/100/rss_anon_bytes", "4294967296");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "4096 MiB"));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* More objects than the cap: said, and never taken for nothing. */
START_TEST(more_files_than_the_cap)
{
	char name[16], json[128], pointer[64];
	int i;

	for (i = 0; i < 4100; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		(void)snprintf(pointer, sizeof(pointer), "/files/%s", name);
		(void)snprintf(json, sizeof(json),
		    "{'path': 'small', 'inode': %d}", 100000 + i);
		scene_put(&s, pointer, json);
		(void)snprintf(json, sizeof(json),
		    "{'fd': %d, 'file': '%s', 'path': '/m/%s'}", 100 + i, name,
		    name);
		scene_put(&s, "/processes/100/descriptors/items/-", json);
	}
	wd_temp_write(wd_temp_path(s.folder, "small"), "x", 1);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "files"));
}
END_TEST

WD_SUITE_BEGIN("evidence blind")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_LOOP(what_cannot_be_read_is_blind, blind_rows);
WD_LOOP(the_remedy_is_true, remedies);
WD_TEST(an_unknown_format_asks_for_no_rights);
WD_TEST(a_process_table_that_is_not_whole_is_blind);
WD_TEST(no_regular_file_is_no_gap);
WD_TEST(a_malformed_weight_file_is_blind);
WD_TEST(a_large_file_of_unknown_content);
WD_TEST(a_small_file_of_unknown_content_is_no_gap);
WD_TEST(a_large_program_is_a_blind_spot);
WD_LOOP(a_device_that_computes, devices);
WD_TEST(a_device_that_is_only_mapped);
WD_TEST(a_device_beside_weights_is_shown);
WD_LOOP(large_memory_without_a_file, kinds_of_memory);
WD_TEST(large_memory_beside_an_adapter);
WD_TEST(large_memory_beside_a_mapped_model_is_shown);
WD_TEST(more_files_than_the_cap);
WD_SUITE_END
