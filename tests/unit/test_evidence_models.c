/*
 * What is held, and the bundles it makes: deleted, replaced and written files,
 * split sets, what could not be looked at.
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

/* ---- one file ------------------------------------------------------------ */

START_TEST(deleted)
{
	struct wd_sha256 digest = scene_sha256(&s, "m.gguf");

	scene_put(&s, "/files/m.gguf/links", "0");
	scene_remove(&s, "/processes/100/paths/~1m~1m.gguf");
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_file(&s, 0), DELETED));
	ck_assert(HAS_FLAG(scene_model(&s, 0), DELETED));
	ck_assert(!HAS_FLAG(scene_file(&s, 0), REPLACED));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(scene_digest_is(
	    scene_model(&s, 0)->bundle->files[0]->sha256, &digest));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* B6, B7: the name leads to another file; what is mapped is what counts. */
START_TEST(replaced)
{
	struct wd_sha256 held = scene_sha256(&s, "m.gguf"), disk;

	scene_gguf(&s, "new.gguf", "New", NULL, 64, 2);
	disk = scene_sha256(&s, "new.gguf");
	scene_path(&s, 100, "/m/m.gguf", "new.gguf");
	scene_put(&s, "/files/m.gguf/links", "0");
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_file(&s, 0), REPLACED));
	ck_assert(scene_digest_is(scene_file(&s, 0)->path_sha256, &disk));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Right");
	ck_assert(scene_digest_is(
	    scene_model(&s, 0)->bundle->files[0]->sha256, &held));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	ck_assert_int_eq(
	    scene_verdict(&s, "new.gguf", NULL), VERDICT(MISMATCH));
	/* The name is the same: no conflict of claim and evidence. */
	ck_assert(!HAS_FLAG(scene_model(&s, 0), CONFLICT));
}
END_TEST

/* The agent's own view of the path has nothing to do with a container's. */
START_TEST(a_path_of_the_agent_deletes_nothing)
{
	scene_put(&s, "/processes/100/paths/~1m~1m.gguf", "'!denied'");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_file(&s, 0), DELETED));
	ck_assert(!HAS_FLAG(scene_file(&s, 0), REPLACED));
}
END_TEST

/* B17: in a chroot maps shows the host's path. */
START_TEST(the_path_of_a_chroot_is_found_from_outside)
{
	scene_process(&s, 900, 1);
	scene_remove(&s, "/processes/100/paths/~1m~1m.gguf");
	scene_path(&s, 900, "/m/m.gguf", "m.gguf");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_file(&s, 0), DELETED));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

/* B18 */
START_TEST(a_memfd_is_a_file_without_a_path)
{
	hold_nothing();
	scene_map(&s, 100, "m.gguf", "/memfd:m.gguf");
	scene_put(&s, "/processes/100/mappings/items/0/type", "'memory'");
	scene_put(&s, "/files/m.gguf/links", "0");
	scene_put(&s, "/files/m.gguf/in_memory", "true");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(scene_file(&s, 0)->in_memory);
	ck_assert(!HAS_FLAG(scene_file(&s, 0), DELETED));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

static void
private_mapping(void)
{
	scene_put(&s, "/processes/100/mappings/items/0/shared", "false");
}

START_TEST(private_pages_that_were_written)
{
	private_mapping();
	scene_put(&s, "/processes/100/mappings/items/0/written_bytes", "4096");
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_file(&s, 0), MODIFIED_IN_MEMORY));
	ck_assert(HAS_FLAG(scene_model(&s, 0), MODIFIED_IN_MEMORY));
	ck_assert_uint_eq(scene_file(&s, 0)->written_bytes, 4096);
	ck_assert_int_eq(scene_file(&s, 0)->written, SEEN(YES));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

START_TEST(private_pages_that_were_not)
{
	private_mapping();
	scene_put(&s, "/processes/100/mappings/items/0/written_bytes", "0");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_file(&s, 0), MODIFIED_IN_MEMORY));
	ck_assert_int_eq(scene_file(&s, 0)->written, SEEN(NO));
	ck_assert(HAS_CHECK(scene_model(&s, 0), WRITTEN_PAGES));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* Without a number for the row, and without a look at all. */
static const struct {
	const char *pointer, *json;
} unknown_pages[] = {
	{ "/comment", "''" },
	{ "/processes/100/mappings/written_status", "'denied'" },
};

START_TEST(whether_pages_were_written_is_not_known)
{
	private_mapping();
	scene_put(&s, unknown_pages[_i].pointer, unknown_pages[_i].json);
	scene_ask(&s);
	ck_assert_int_eq(scene_file(&s, 0)->written, SEEN(UNSPECIFIED));
	ck_assert(!HAS_CHECK(scene_model(&s, 0), WRITTEN_PAGES));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* One of two mappings is private and was written. */
START_TEST(one_written_mapping_of_two_is_enough)
{
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/processes/100/mappings/items/1/shared", "false");
	scene_put(&s, "/processes/100/mappings/items/1/written_bytes", "1");
	scene_ask(&s);
	ck_assert_uint_eq(scene_file(&s, 0)->mapping_count, 2);
	ck_assert_int_eq(scene_file(&s, 0)->written, SEEN(YES));
}
END_TEST

START_TEST(a_mapping_that_cannot_be_read_covers_nothing)
{
	scene_put(&s, "/processes/100/mappings/items/0/readable", "false");
	scene_ask(&s);
	ck_assert_int_ne(scene_file(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert_uint_eq(scene_file(&s, 0)->tensors_mapped, 0);
}
END_TEST

START_TEST(a_part_of_the_file_is_mapped)
{
	uint64_t size = scene_size(&s, "m.gguf");

	scene_unmap_all(&s, 100);
	scene_map_part(&s, 100, "m.gguf", "/m/m.gguf", 0, size - 1);
	scene_ask(&s);
	ck_assert_int_eq(scene_file(&s, 0)->grade, GRADE(INFERRED));
	ck_assert_uint_eq(scene_file(&s, 0)->tensors_mapped, 1);
	ck_assert(!scene_model(&s, 0)->mapped_wholly);
	/* The rest of it in a second mapping. */
	scene_map_part(&s, 100, "m.gguf", "/m/m.gguf", size - 4096 / 2, size);
	scene_ask(&s);
	ck_assert_int_eq(scene_file(&s, 0)->grade, GRADE(RESIDENT));
}
END_TEST

START_TEST(a_cut_file_is_incomplete)
{
	size_t len = (size_t)scene_size(&s, "m.gguf");
	uint8_t *bytes = malloc(len);
	FILE *file = fopen(wd_temp_path(s.folder, "m.gguf"), "rb");

	ck_assert_ptr_nonnull(bytes);
	ck_assert_uint_eq(fread(bytes, 1, len, file), len);
	(void)fclose(file);
	scene_write(&s, "m.gguf", bytes, len - 1);
	free(bytes);
	scene_ask(&s);
	ck_assert_int_eq(scene_file(&s, 0)->grade, GRADE(INFERRED));
	ck_assert(HAS_FLAG(scene_file(&s, 0), INCOMPLETE));
	ck_assert(HAS_FLAG(scene_model(&s, 0), INCOMPLETE));
	ck_assert(scene_model(&s, 0)->bundle->incomplete);
}
END_TEST

/* E5: full length, and nothing in it. */
START_TEST(a_hollow_file_is_incomplete)
{
	scene_put(&s, "/files/m.gguf/sparse", "'yes'");
	scene_put(&s, "/files/m.gguf/size_bytes", "8000000");
	scene_put(&s, "/files/m.gguf/allocated_bytes", "4096");
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_file(&s, 0), INCOMPLETE));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
	/* A copy that leaves out a few pages of zeros is whole. */
	scene_put(&s, "/files/m.gguf/allocated_bytes", "7995904");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_file(&s, 0), INCOMPLETE));
}
END_TEST

START_TEST(an_overlay_is_named)
{
	scene_put(&s, "/files/m.gguf/fs_type", "'overlay'");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->on_overlay, SEEN(YES));
	scene_put(&s, "/files/m.gguf/fs_type", "''");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->on_overlay, SEEN(UNSPECIFIED));
}
END_TEST

/* On btrfs and overlay two objects can print the same numbers and, one after
 * the other, have the same name. */
START_TEST(two_objects_behind_the_same_numbers)
{
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	scene_map(&s, 100, "w.gguf", "/m/m.gguf");
	scene_path(&s, 100, "/m/m.gguf", "m.gguf");
	scene_put(&s, "/processes/100/mappings/items/0/device", "5");
	scene_put(&s, "/processes/100/mappings/items/0/inode", "6");
	scene_put(&s, "/processes/100/mappings/items/1/device", "5");
	scene_put(&s, "/processes/100/mappings/items/1/inode", "6");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert(HAS_FLAG(scene_group(&s, 0), AMBIGUOUS));
}
END_TEST

/* ---- what could not be looked at ----------------------------------------- */

static const struct blind_row {
	const char *what; /* in the blind spot */
	const char *pointer, *json;
	bool holds_weights; /* the good mapping stays */
} blind_rows[] = {
	{ "/m/m.gguf", "/processes/100/mappings/items/0/open_status",
	    "'denied'", true },
	{ "/m/m.gguf", "/processes/100/mappings/items/0/open_status", "'stale'",
	    true },
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

/* ---- sets of files ------------------------------------------------------- */

#define SHARD_1 "m-00001-of-00002.gguf"
#define SHARD_2 "m-00002-of-00002.gguf"

static void
split_set(void)
{
	hold_nothing();
	scene_shard(&s, SHARD_1, 1, 2, 16, 11);
	scene_shard(&s, SHARD_2, 2, 2, 32, 12);
	scene_path(&s, 100, "/m/" SHARD_1, SHARD_1);
	scene_path(&s, 100, "/m/" SHARD_2, SHARD_2);
}

START_TEST(a_split_set_that_is_held)
{
	split_set();
	scene_map(&s, 100, SHARD_2, "/m/" SHARD_2);
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_model(&s, 0)->n_files, 2);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_uint_eq(
	    scene_model(&s, 0)->bundle->parameter_count, 8 * (16 + 32));
	ck_assert(scene_model(&s, 0)->bundle->content_digest != NULL);
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(MATCH));
}
END_TEST

/* The others lie in the folder; nobody holds them. */
START_TEST(a_shard_found_beside_is_not_resident)
{
	split_set();
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_ask(&s);
	ck_assert_uint_eq(scene_model(&s, 0)->n_files, 2);
	ck_assert_int_eq(scene_file(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_file(&s, 1)->grade, GRADE(NONE));
	ck_assert_int_eq(scene_file(&s, 1)->origin, ORIGIN(BESIDE));
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(NONE));
	ck_assert(!scene_model(&s, 0)->mapped_wholly);
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* As many bytes read as one shard has are no proof of five. */
START_TEST(bytes_read_must_do_for_all_shards)
{
	split_set();
	scene_put(
	    &s, "/processes/100/argv", "['server', '-m', '/m/" SHARD_1 "']");
	scene_put(&s, "/processes/100/read_bytes", "1535");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(CLAIMED));
	scene_put(&s, "/processes/100/read_bytes", "1536");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(INFERRED));
}
END_TEST

START_TEST(a_missing_shard_is_incomplete)
{
	split_set();
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_remove(&s, "/processes/100/paths/~1m~1" SHARD_2);
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_model(&s, 0), INCOMPLETE));
	ck_assert_int_ne(scene_model(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* The held shard 2 is the old one; its name leads to a new one. */
START_TEST(a_held_shard_counts_before_the_one_in_the_folder)
{
	struct wd_sha256 old;

	split_set();
	scene_shard(&s, "new-2.gguf", 2, 2, 64, 99);
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_map(&s, 100, SHARD_2, "/m/" SHARD_2);
	scene_path(&s, 100, "/m/" SHARD_2, "new-2.gguf");
	old = scene_sha256(&s, SHARD_2);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_uint_eq(
	    scene_model(&s, 0)->bundle->parameter_count, 8 * (16 + 32));
	ck_assert(scene_digest_is(
	    scene_model(&s, 0)->bundle->files[1]->sha256, &old));
	ck_assert(HAS_FLAG(scene_file(&s, 1), REPLACED));
	ck_assert(!HAS_FLAG(scene_file(&s, 0), REPLACED));
}
END_TEST

/* An old and a new worker hold sets of the same names: two models, and no
 * mixture of them. */
START_TEST(two_sets_of_one_name_are_not_mixed)
{
	size_t i;

	split_set();
	scene_shard(&s, "new-1.gguf", 1, 2, 64, 98);
	scene_shard(&s, "new-2.gguf", 2, 2, 64, 99);
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_map(&s, 100, SHARD_2, "/m/" SHARD_2);
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "new-1.gguf", "/m/" SHARD_1);
	scene_map(&s, 101, "new-2.gguf", "/m/" SHARD_2);
	scene_path(&s, 100, "/m/" SHARD_1, "new-1.gguf");
	scene_path(&s, 100, "/m/" SHARD_2, "new-2.gguf");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	for (i = 0; i < 2; i++)
		ck_assert(scene_model(&s, i)->bundle->parameter_count ==
			8 * (16 + 32) ||
		    scene_model(&s, i)->bundle->parameter_count == 8 * 128);
	ck_assert(HAS_FLAG(scene_group(&s, 0), AMBIGUOUS));
}
END_TEST

/* What the very process has open goes before what another has mapped. */
START_TEST(a_neighbour_in_the_same_process_first)
{
	split_set();
	scene_shard(&s, "new-1.gguf", 1, 2, 64, 98);
	scene_shard(&s, "new-2.gguf", 2, 2, 64, 99);
	scene_map(&s, 100, SHARD_2, "/m/" SHARD_2);
	scene_open(&s, 100, 9, SHARD_1, "/m/" SHARD_1);
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "new-1.gguf", "/m/" SHARD_1);
	scene_map(&s, 101, "new-2.gguf", "/m/" SHARD_2);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert_uint_eq(scene_model(&s, 0)->bundle->parameter_count +
		scene_model(&s, 1)->bundle->parameter_count,
	    8 * (16 + 32) + 8 * 128);
	ck_assert(
	    scene_model(&s, 0)->bundle->parameter_count == 8 * (16 + 32) ||
	    scene_model(&s, 0)->bundle->parameter_count == 8 * 128);
}
END_TEST

/* Two containers have a folder of the same name. */
START_TEST(a_shard_of_another_view_is_not_beside)
{
	split_set();
	scene_shard(&s, "other-2.gguf", 2, 2, 64, 99);
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_process(&s, 101, 100);
	scene_put(&s, "/processes/101/mntns", "5");
	scene_put(&s, "/processes/100/mntns", "4");
	scene_map(&s, 101, "other-2.gguf", "/m/" SHARD_2);
	scene_ask(&s);
	ck_assert_int_ne(scene_model(&s, 0)->grade, GRADE(RESIDENT));
}
END_TEST

/* The sibling's name differs from the path it is held under (a link), but it
 * is the very object. */
START_TEST(a_sibling_that_is_held_under_another_name)
{
	split_set();
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_map(&s, 100, SHARD_2, "/blobs/abc");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_file(&s, 1)->origin, ORIGIN(MAPPED));
}
END_TEST

static void
safetensors_folder(void)
{
	static const char index[] =
	    "{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\","
	    "\"b\":\"model-00002-of-00002.safetensors\"}}";
	static const char config[] = "{\"model_type\":\"qwen3\"}";

	hold_nothing();
	scene_remove(&s, "/processes/100/paths/~1m~1m.gguf");
	(void)remove(wd_temp_path(s.folder, "m.gguf"));
	scene_remove(&s, "/files/m.gguf");
	scene_safetensors(&s, "model-00001-of-00002.safetensors", "a", 16, 21);
	scene_safetensors(&s, "model-00002-of-00002.safetensors", "b", 32, 22);
	scene_write(
	    &s, "model.safetensors.index.json", index, sizeof(index) - 1);
	scene_write(&s, "config.json", config, sizeof(config) - 1);
	scene_path(&s, 100, "/m/model.safetensors.index.json",
	    "model.safetensors.index.json");
	scene_path(&s, 100, "/m/config.json", "config.json");
	scene_map(&s, 100, "model-00002-of-00002.safetensors",
	    "/m/model-00002-of-00002.safetensors");
	scene_path(&s, 100, "/m/model-00001-of-00002.safetensors",
	    "model-00001-of-00002.safetensors");
}

START_TEST(a_safetensors_folder_from_one_shard)
{
	safetensors_folder();
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_model(&s, 0)->n_files, 2);
	ck_assert_uint_eq(
	    scene_model(&s, 0)->bundle->parameter_count, 8 * (16 + 32));
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(NONE));
	scene_map(&s, 100, "model-00001-of-00002.safetensors",
	    "/m/model-00001-of-00002.safetensors");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert(!HAS_FLAG(scene_model(&s, 0), SETTINGS_STALE));
}
END_TEST

static const char *const read_at_the_start[] = { "config.json",
	"model.safetensors.index.json" };

START_TEST(a_settings_file_younger_than_the_process)
{
	char pointer[96];

	safetensors_folder();
	scene_map(&s, 100, "model-00001-of-00002.safetensors",
	    "/m/model-00001-of-00002.safetensors");
	(void)snprintf(pointer, sizeof(pointer), "/files/%s/ctime_ns",
	    read_at_the_start[_i]);
	scene_put_int(&s, pointer, SCENE_START + 20000000);
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_model(&s, 0), SETTINGS_STALE));
	/* Within one tick of the start nothing can be told. */
	scene_put_int(&s, pointer, SCENE_START + 10000000);
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_model(&s, 0), SETTINGS_STALE));
}
END_TEST

/* The hub's cache: mapped files are blobs, the snapshot has the names. */
START_TEST(a_snapshot_of_links_to_blobs)
{
	safetensors_folder();
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "model-00001-of-00002.safetensors", "/hub/blobs/aa");
	scene_map(&s, 100, "model-00002-of-00002.safetensors", "/hub/blobs/bb");
	scene_put(&s, "/processes/100/argv", "['server', '--model', '/m']");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_model(&s, 0)->n_files, 2);
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert_uint_eq(
	    scene_model(&s, 0)->bundle->parameter_count, 8 * (16 + 32));
}
END_TEST

WD_SUITE_BEGIN("evidence models")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(deleted);
WD_TEST(replaced);
WD_TEST(a_path_of_the_agent_deletes_nothing);
WD_TEST(the_path_of_a_chroot_is_found_from_outside);
WD_TEST(a_memfd_is_a_file_without_a_path);
WD_TEST(private_pages_that_were_written);
WD_TEST(private_pages_that_were_not);
WD_LOOP(whether_pages_were_written_is_not_known, unknown_pages);
WD_TEST(one_written_mapping_of_two_is_enough);
WD_TEST(a_mapping_that_cannot_be_read_covers_nothing);
WD_TEST(a_part_of_the_file_is_mapped);
WD_TEST(a_cut_file_is_incomplete);
WD_TEST(a_hollow_file_is_incomplete);
WD_TEST(an_overlay_is_named);
WD_TEST(two_objects_behind_the_same_numbers);
WD_LOOP(what_cannot_be_read_is_blind, blind_rows);
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
WD_TEST(a_split_set_that_is_held);
WD_TEST(a_shard_found_beside_is_not_resident);
WD_TEST(bytes_read_must_do_for_all_shards);
WD_TEST(a_missing_shard_is_incomplete);
WD_TEST(a_held_shard_counts_before_the_one_in_the_folder);
WD_TEST(two_sets_of_one_name_are_not_mixed);
WD_TEST(a_neighbour_in_the_same_process_first);
WD_TEST(a_shard_of_another_view_is_not_beside);
WD_TEST(a_sibling_that_is_held_under_another_name);
WD_TEST(a_safetensors_folder_from_one_shard);
WD_LOOP(a_settings_file_younger_than_the_process, read_at_the_start);
WD_TEST(a_snapshot_of_links_to_blobs);
WD_SUITE_END
