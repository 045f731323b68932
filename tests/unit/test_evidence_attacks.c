/*
 * Ways to a false MATCH. Each scene looks good from one side: the right file
 * is named, or lies there, or is mapped by somebody, or was right a moment
 * ago; the process behind the port does not use it, or not only. None may end
 * in MATCH for the right file.
 */
#include <check.h>
#include <string.h>

#include "support/scene.h"
#include "support/suite.h"

static struct scene s;

static void
set_up(void)
{
	scene_begin(&s);
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
}

static void
tear_down(void)
{
	scene_end(&s);
}

static void
map_wrong(void)
{
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "w.gguf", "/m/w.gguf");
}

/* ---- the attacks --------------------------------------------------------- */

static void
right_name_wrong_map(void)
{
	map_wrong();
}

static void
wrong_file_under_the_right_path(void)
{
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "w.gguf", "/m/m.gguf");
	scene_path(&s, 100, "/m/m.gguf", "m.gguf");
}

static void
deleted_and_put_right_on_disk(void)
{
	wrong_file_under_the_right_path();
	scene_put(&s, "/files/w.gguf/links", "0");
	scene_put(&s, "/processes/100/mappings/items/0/deleted", "true");
}

static void
wrong_beside_right(void)
{
	scene_map(&s, 100, "w.gguf", "/m/w.gguf");
}

static void
wrong_only_open_and_right_mapped_in_part(void)
{
	scene_unmap_all(&s, 100);
	scene_map_part(&s, 100, "m.gguf", "/m/m.gguf", 0, 2048);
	scene_open(&s, 100, 9, "w.gguf", "/m/w.gguf");
}

static void
right_only_reserved(void)
{
	scene_put(&s, "/processes/100/mappings/items/0/readable", "false");
}

static void
written_in_memory(void)
{
	scene_put(&s, "/processes/100/mappings/items/0/shared", "false");
	scene_put(&s, "/processes/100/mappings/items/0/written_bytes", "4096");
}

static void
written_who_knows(void)
{
	scene_put(&s, "/processes/100/mappings/items/0/shared", "false");
}

/* A decoy in a child that serves somebody else. */
static void
right_in_a_child_that_listens(void)
{
	scene_unmap_all(&s, 100);
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
	scene_listener(&s, "127.0.0.1", 9000, 90);
	scene_owner(&s, 101, 5, 90);
}

static void
right_in_a_process_beside(void)
{
	map_wrong();
	scene_process(&s, 101, 50);
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
}

/* A child takes the blame off its parent with two variables. */
static void
parent_called_an_activator(void)
{
	map_wrong();
	scene_process(&s, 101, 100);
	scene_owner(&s, 101, 3, 77);
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/processes/101/env",
	    "[{'name': 'LISTEN_PID', 'value': '101'},"
	    " {'name': 'LISTEN_FDS', 'value': '1'}]");
}

/* The same, with weights that nobody can see. */
static void
parent_with_unseen_weights_called_an_activator(void)
{
	parent_called_an_activator();
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/mappings/status", "'denied'");
}

static void
server_named_like_a_manager(void)
{
	map_wrong();
	scene_put(&s, "/processes/100/exe/path", "'/opt/bin/init'");
	scene_process(&s, 101, 100);
	scene_owner(&s, 101, 3, 77);
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
}

/* Wrong called a draft, so that it is "no candidate". */
static void
wrong_called_a_draft(void)
{
	scene_map(&s, 100, "w.gguf", "/m/w.gguf");
	scene_put(&s, "/processes/100/argv",
	    "['server', '-m', '/m/m.gguf', '-md', '/m/w.gguf']");
}

static void
a_twin_on_the_port(void)
{
	scene_process(&s, 200, 50);
	scene_listener(&s, "127.0.0.1", 8080, 78);
	scene_owner(&s, 200, 3, 78);
	scene_map(&s, 200, "w.gguf", "/m/w.gguf");
}

static void
an_owner_that_is_hidden(void)
{
	scene_put(&s, "/holders/complete", "false");
}

static void
a_child_that_is_hidden(void)
{
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "w.gguf", "/m/w.gguf");
	scene_put(&s, "/pids", "{'hidden': [101], 'complete': false}");
}

static void
a_mapping_that_is_hidden(void)
{
	scene_put(&s, "/processes/100/mappings/complete", "false");
}

static void
a_second_owner_with_wrong_weights(void)
{
	scene_process(&s, 200, 50);
	scene_owner(&s, 200, 3, 77);
	scene_map(&s, 200, "w.gguf", "/m/w.gguf");
}

/* Somebody planted a digest under the key of the file, while it may still be
 * written to. */
static void
a_planted_digest(void)
{
	struct wd_digest_row row;
	struct wd_file file = { .fd = -1 };

	map_wrong();
	scene_put(&s, "/files/w.gguf/quiet", "false");
	scene_ask(&s);
	ck_assert_int_eq(wd_host_open_path(s.host, 100,
			     wd_slice_text("/m/w.gguf"), &file, NULL),
	    WD_OK);
	row.key = (struct wd_digest_key){ file.state.fs_id, file.state.device,
		file.state.inode, file.state.generation, file.state.size_bytes,
		file.state.mtime_ns, file.state.ctime_ns };
	row.computed_real_ns = SCENE_START;
	row.sha256 = scene_sha256(&s, "m.gguf");
	wd_file_release(&file);
	wd_store_put(s.store, &row);
}

static void
a_hollow_copy(void)
{
	scene_put(&s, "/files/m.gguf/sparse", "'yes'");
	scene_put(&s, "/files/m.gguf/allocated_bytes", "0");
	scene_put(&s, "/files/m.gguf/size_bytes", "9000000");
}

static void
another_process_at_the_end(void)
{
	scene_after(&s, "file_state", 3, "/processes/100/start", "1");
	scene_after(&s, "process", 2, "/processes/100/start", "2");
	scene_after(&s, "process", 3, "/processes/100/start", "3");
	scene_after(&s, "process", 4, "/processes/100/start", "4");
	scene_after(&s, "process", 5, "/processes/100/start", "5");
	scene_after(&s, "process", 6, "/processes/100/start", "6");
	scene_after(&s, "process", 7, "/processes/100/start", "7");
	scene_after(&s, "process", 8, "/processes/100/start", "8");
}

static void
a_swap_before_the_end(void)
{
	scene_after(&s, "file_state", 3, "/processes/100/mappings/items/0/file",
	    "'w.gguf'");
}

static void
mapped_in_halves_of_two_files(void)
{
	uint64_t size = scene_size(&s, "m.gguf");

	scene_unmap_all(&s, 100);
	scene_map_part(&s, 100, "m.gguf", "/m/m.gguf", 0, size / 2);
	scene_map_part(&s, 100, "w.gguf", "/m/m.gguf", size / 2, size);
	scene_path(&s, 100, "/m/m.gguf", "m.gguf");
	scene_put(&s, "/processes/100/mappings/items/1/device", "5");
	scene_put(&s, "/processes/100/mappings/items/1/inode", "6");
	scene_put(&s, "/processes/100/mappings/items/0/device", "5");
	scene_put(&s, "/processes/100/mappings/items/0/inode", "6");
}

static void
only_named_and_much_was_read(void)
{
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/read_bytes", "1000000000");
}

static void
only_open(void)
{
	scene_unmap_all(&s, 100);
	scene_open(&s, 100, 9, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/processes/100/read_bytes", "1000000000");
}

static const struct attack {
	const char *name;
	void (*prepare)(void);
} attacks[] = {
#define ATTACK(function)                                                       \
	{                                                                      \
#function, function                                            \
	}
	ATTACK(right_name_wrong_map),
	ATTACK(wrong_file_under_the_right_path),
	ATTACK(deleted_and_put_right_on_disk),
	ATTACK(wrong_beside_right),
	ATTACK(wrong_only_open_and_right_mapped_in_part),
	ATTACK(right_only_reserved),
	ATTACK(written_in_memory),
	ATTACK(written_who_knows),
	ATTACK(right_in_a_child_that_listens),
	ATTACK(right_in_a_process_beside),
	ATTACK(parent_called_an_activator),
	ATTACK(parent_with_unseen_weights_called_an_activator),
	ATTACK(server_named_like_a_manager),
	ATTACK(wrong_called_a_draft),
	ATTACK(a_twin_on_the_port),
	ATTACK(an_owner_that_is_hidden),
	ATTACK(a_child_that_is_hidden),
	ATTACK(a_mapping_that_is_hidden),
	ATTACK(a_second_owner_with_wrong_weights),
	ATTACK(a_planted_digest),
	ATTACK(a_hollow_copy),
	ATTACK(another_process_at_the_end),
	ATTACK(a_swap_before_the_end),
	ATTACK(mapped_in_halves_of_two_files),
	ATTACK(only_named_and_much_was_read),
	ATTACK(only_open),
};

START_TEST(no_false_match)
{
	Weightd__V1__VerdictKind kind;

	attacks[_i].prepare();
	scene_ask(&s);
	kind = scene_verdict(&s, "m.gguf", NULL);
	ck_assert_msg(
	    kind == VERDICT(MISMATCH) || kind == VERDICT(UNVERIFIABLE),
	    "%s: verdict %d", attacks[_i].name, (int)kind);
	/* Nor may anybody read that there is nothing. */
	ck_assert_msg(s.all->grade != GRADE(NONE) ||
		s.all->groups[0]->grade == GRADE(NONE),
	    "%s", attacks[_i].name);
}
END_TEST

/* The scene without an attack, so that the table cannot pass by mistake. */
START_TEST(the_right_file_matches)
{
	scene_ask(&s);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	ck_assert_int_eq(scene_verdict(&s, "w.gguf", NULL), VERDICT(MISMATCH));
}
END_TEST

/* ---- overwritten after the start ----------------------------------------- */

static void
run_llama(const char *argv)
{
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/llama-server'");
	scene_put(&s, "/processes/100/argv", argv);
}

/* Engines repack tensors when they load them (llama.cpp: Q4_K and others on a
 * CPU): the file was written over, the mapping shows the new bytes, and the
 * copies have the old ones. What is mapped proves nothing then, unless the
 * engine is known to make no copies. */
START_TEST(overwritten_under_repacked_copies)
{
	static const char *const repacks[] = {
		"['llama-server', '-m', '/m/m.gguf']",
		"['llama-server', '-m', '/m/m.gguf', '--no-repack', "
		"'--repack']",
		"['llama-server', '-m', '/m/m.gguf', '-nr', '-ot', 'a=CPU']",
		"['llama-server', '-m', '/m/m.gguf', '-nr', '-ot', 'a=b', "
		"'-ot', "
		"'c=d']",
	};
	size_t i;

	scene_put_int(
	    &s, "/files/m.gguf/ctime_ns", SCENE_START + WD_NS_PER_SECOND);
	scene_ask(&s);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
	s.digests = WD_DIGEST_FRESH;
	for (i = 0; i < WD_COUNT(repacks); i++) {
		run_llama(repacks[i]);
		scene_ask(&s);
		ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
		ck_assert_int_eq(
		    scene_model(&s, 0)->memory_copies, SEEN(UNSPECIFIED));
		ck_assert_int_eq(
		    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
	}
	run_llama("['llama-server', '-m', '/m/m.gguf', '-nr']");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->memory_copies, SEEN(NO));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	/* Words are no program. */
	scene_put(&s, "/processes/100/exe/path", "'/opt/unknown'");
	scene_ask(&s);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* B4, B7: the last name of the file was taken away, which moves its ctime;
 * copies that were made of it before are of the same bytes. Not when it was
 * written to as well, nor while it has a name, nor on a file system whose times
 * say nothing. */
START_TEST(removed_under_repacked_copies)
{
	s.digests = WD_DIGEST_FRESH;
	scene_put_int(
	    &s, "/files/m.gguf/ctime_ns", SCENE_START + WD_NS_PER_SECOND);
	scene_put(&s, "/files/m.gguf/links", "0");
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_model(&s, 0), CHANGED_SINCE_LOAD));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(UNVERIFIABLE));
	scene_put(&s, "/files/m.gguf/links", "1");
	scene_ask(&s);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
	scene_put(&s, "/files/m.gguf/links", "0");
	scene_put(&s, "/files/m.gguf/trusted_times", "false");
	scene_ask(&s);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
	scene_put(&s, "/files/m.gguf/trusted_times", "true");
	scene_put_int(
	    &s, "/files/m.gguf/mtime_ns", SCENE_START + WD_NS_PER_SECOND);
	scene_ask(&s);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* Only the digest of what is mapped now, pinned, is stronger than the doubt
 * about what was loaded. */
START_TEST(overwritten_in_place)
{
	run_llama("['llama-server', '-m', '/m/m.gguf', '--no-repack']");
	scene_put_int(
	    &s, "/files/m.gguf/ctime_ns", SCENE_START + WD_NS_PER_SECOND);
	scene_ask(&s);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	ck_assert_int_eq(
	    scene_verdict(&s, "w.gguf", NULL), VERDICT(UNVERIFIABLE));
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(UNVERIFIABLE));
	/* A remembered digest is not of this moment. */
	scene_ask(&s);
	ck_assert_int_eq(
	    scene_model(&s, 0)->bundle->content_digest_state, STATE(CACHED));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
	/* On an overlay the mapping may be of the file below. */
	s.digests = WD_DIGEST_FRESH;
	scene_put(&s, "/files/m.gguf/fs_type", "'overlay'");
	scene_ask(&s);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

WD_SUITE_BEGIN("evidence attacks")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_LOOP(no_false_match, attacks);
WD_TEST(the_right_file_matches);
WD_TEST(overwritten_under_repacked_copies);
WD_TEST(removed_under_repacked_copies);
WD_TEST(overwritten_in_place);
WD_SUITE_END
