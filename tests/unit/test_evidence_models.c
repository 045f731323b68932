/*
 * One held file: deleted, replaced, in memory, written, mapped in part, cut.
 */
#include <check.h>
#include <stdlib.h>

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
	/* The rest of it in a second mapping that lies somewhere else: no
	 * engine finds a tensor's end there. */
	scene_map_part(&s, 100, "m.gguf", "/m/m.gguf", size - 4096 / 2, size);
	scene_ask(&s);
	ck_assert_int_eq(scene_file(&s, 0)->grade, GRADE(INFERRED));
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
WD_SUITE_END
