/*
 * The host moves while it is looked at: pid reuse, exec, a change of owner, a
 * swap of the file or of a mapping. Each is forced before every single call of
 * a look, in turn, and must end in the later truth or in `moved`: never in the
 * stale answer.
 */
#include <check.h>
#include <string.h>

#include "host/fixture/fixture.h"
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
ask_anew(void)
{
	wd_store_free(&s.store);
	ck_assert_int_eq(wd_store_open_memory(&s.store, NULL), WD_OK);
	scene_ask(&s);
}

typedef void change_fn(unsigned calls);
typedef bool late_fn(void);

static bool
is_stale(change_fn *change, late_fn *is_late, unsigned calls)
{
	scene_put(&s, "/after", "[]");
	change(calls);
	ask_anew();
	return !is_late() && s.all->n_moved == 0;
}

/* Forces the change before call 1, 2, ... of a look. `of` is the operation
 * that reads what changes: before its last call every change must be noticed;
 * behind that it has changed after the look. `is_late` tells the truth after
 * the change from the one before. */
static void
force(change_fn *change, late_fn *is_late, const char *of)
{
	unsigned last, calls, n;

	ask_anew();
	calls = (unsigned)wd_host_fixture_calls(s.host, NULL);
	last = (unsigned)wd_host_fixture_last_call(s.host, of);
	ck_assert_uint_ge(wd_host_fixture_calls(s.host, of), 2);
	for (n = 0; n < last; n++)
		ck_assert_msg(!is_stale(change, is_late, n),
		    "before call %u of %u, of which the last %s is %u", n + 1,
		    calls, of, last);
	ck_assert_msg(is_stale(change, is_late, calls), "after all calls");
}

/* ---- another process under the pid --------------------------------------- */

static void
reuse_pid(unsigned calls)
{
	scene_after(&s, NULL, calls, "/processes/100/start", "777");
}

static void
exec_other(unsigned calls)
{
	scene_after(&s, NULL, calls, "/processes/100/exec_token", "777");
}

static void
exec_other_file(unsigned calls)
{
	scene_after(&s, NULL, calls, "/processes/100/exe/inode", "777");
}

static bool
has_new_start(void)
{
	return s.all->n_processes > 0 &&
	    s.all->processes[0]->identity->start == 777;
}

static bool
has_new_token(void)
{
	return s.all->n_processes > 0 &&
	    s.all->processes[0]->identity->exec_token == 777;
}

static bool
has_new_program(void)
{
	return s.all->n_processes > 0 &&
	    s.all->processes[0]->identity->executable_inode == 777;
}

START_TEST(pid_reuse)
{
	force(reuse_pid, has_new_start, "process_identity");
}
END_TEST

START_TEST(exec)
{
	force(exec_other, has_new_token, "process_identity");
}
END_TEST

START_TEST(exec_of_another_file)
{
	force(exec_other_file, has_new_program, "process_identity");
}
END_TEST

static void
end_process(unsigned calls)
{
	scene_after(&s, NULL, calls, "/processes/100", NULL);
}

static bool
says_gone(void)
{
	return s.all->n_groups == 0 || s.all->groups[0]->n_candidates == 0;
}

START_TEST(the_process_ends)
{
	force(end_process, says_gone, "process_identity");
}
END_TEST

/* ---- another owner ------------------------------------------------------- */

static void
change_owner(unsigned calls)
{
	scene_after(&s, NULL, calls, "/holders/items/0",
	    "{'inode': 77, 'pid': 50, 'fd': 3}");
}

static bool
has_new_owner(void)
{
	return s.all->n_listeners > 0 && s.all->listeners[0]->n_owners == 1 &&
	    s.all->listeners[0]->owners[0]->pid == 50;
}

START_TEST(the_owner_changes)
{
	force(change_owner, has_new_owner, "holders");
}
END_TEST

static void
change_socket(unsigned calls)
{
	scene_after(&s, NULL, calls, "/listeners/items/0/cookie", "6");
}

/* The cookie is not part of the answer: whoever saw both looks anew. */
static bool before_all;

static void
note_cookie(unsigned calls)
{
	/* The first call of all asks who the host is. */
	before_all = calls <= 1;
	change_socket(calls);
}

static bool
looked_anew(void)
{
	/* Before its listeners were read the first time, nothing moved. */
	return s.all->retries > 0 || before_all;
}

START_TEST(another_socket_with_the_same_number)
{
	force(note_cookie, looked_anew, "listeners");
}
END_TEST

static void
add_listener(unsigned calls)
{
	scene_after(&s, NULL, calls, "/listeners/items/-",
	    "{'family': 4, 'address': '0.0.0.0', 'port': 8080,"
	    " 'inode': 78}");
}

static bool
has_two_listeners(void)
{
	return s.all->n_listeners == 2;
}

START_TEST(a_second_listener_appears)
{
	force(add_listener, has_two_listeners, "listeners");
}
END_TEST

/* ---- another file -------------------------------------------------------- */

static void
swap_mapping(unsigned calls)
{
	scene_after(&s, NULL, calls, "/processes/100/mappings/items/0/file",
	    "'w.gguf'");
}

static bool
is_wrong_model(void)
{
	return s.all->n_groups == 1 && s.all->groups[0]->n_candidates == 1 &&
	    strcmp(s.all->groups[0]->candidates[0]->bundle->inner_name,
		"Wrong") == 0;
}

START_TEST(the_mapping_is_of_another_file)
{
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	force(swap_mapping, is_wrong_model, "mappings");
}
END_TEST

/* A model whose mapping is larger than what is always compared. */
START_TEST(a_large_mapping_is_of_another_file)
{
	scene_gguf(&s, "m.gguf", "Right", NULL, 4096, 1);
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 4096, 2);
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	force(swap_mapping, is_wrong_model, "mappings");
}
END_TEST

static bool
holds_one_model(void)
{
	return s.all->n_groups == 1 && s.all->groups[0]->n_candidates == 1;
}

/* Of two models one goes, and its place is taken by the other. */
START_TEST(one_of_two_models_takes_the_others_place)
{
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	scene_map(&s, 100, "w.gguf", "/m/w.gguf");
	force(swap_mapping, holds_one_model, "mappings");
}
END_TEST

static void
unmap(unsigned calls)
{
	scene_after(&s, NULL, calls, "/processes/100/mappings/items", "[]");
}

static bool
is_not_resident(void)
{
	return s.all->grade < GRADE(RESIDENT);
}

START_TEST(the_mapping_goes)
{
	force(unmap, is_not_resident, "mappings");
}
END_TEST

static void
map_second(unsigned calls)
{
	scene_after(&s, NULL, calls, "/processes/100/mappings/items/-",
	    "{'file': 'w.gguf', 'path': '/m/w.gguf', 'start': 281474976710656,"
	    " 'end': 281474976976896}");
}

static bool
has_two_models(void)
{
	return s.all->n_groups == 1 && s.all->groups[0]->n_candidates == 2;
}

START_TEST(a_second_model_is_mapped)
{
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 4096, 2);
	force(map_second, has_two_models, "mappings");
}
END_TEST

/* ---- the file is written ------------------------------------------------- */

static void
touch_file(unsigned calls)
{
	scene_after(
	    &s, NULL, calls, "/files/m.gguf/ctime_ns", "1699999999000000000");
}

static bool
has_new_ctime(void)
{
	return s.all->n_groups == 1 && s.all->groups[0]->n_candidates == 1 &&
	    s.all->groups[0]->candidates[0]->files[0]->changed_at->seconds ==
	    1699999999;
}

START_TEST(the_file_is_written)
{
	force(touch_file, has_new_ctime, "file_state");
}
END_TEST

/* The bytes move under the hash, and again on every try. */
START_TEST(a_file_that_never_rests)
{
	unsigned n;
	char json[32];

	for (n = 0; n < 40; n++) {
		(void)snprintf(json, sizeof(json), "%llu",
		    (unsigned long long)SCENE_START - 900000000000ULL + n);
		scene_after(
		    &s, "file_state", n + 1, "/files/m.gguf/ctime_ns", json);
	}
	scene_ask(&s);
	ck_assert(scene_moved(&s, MOVED(FILES)));
	ck_assert_uint_eq(s.all->retries, 3);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

START_TEST(a_file_that_rests_after_one_move)
{
	scene_after(&s, "file_state", 1, "/files/m.gguf/ctime_ns",
	    "1699999999000000000");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_moved, 0);
	ck_assert_uint_eq(s.all->retries, 1);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* ---- what could not be looked at again ----------------------------------- */

static const struct {
	const char *of;
	unsigned calls;
	const char *pointer, *json;
} unseen[] = {
	{ "mappings", 1, "/processes/100/mappings/status", "'denied'" },
	{ "mappings", 1, "/processes/100/mappings/complete", "false" },
	{ "holders", 1, "/holders/complete", "false" },
	{ "holders", 1, "/holders", "{'status': 'timed out'}" },
	{ "listeners", 2, "/listeners", "{'status': 'timed out'}" },
};

START_TEST(what_could_not_be_looked_at_again)
{
	scene_after(&s, unseen[_i].of, unseen[_i].calls, unseen[_i].pointer,
	    unseen[_i].json);
	scene_ask(&s);
	ck_assert_msg(
	    scene_verdict(&s, "m.gguf", NULL) == VERDICT(UNVERIFIABLE), "%s",
	    unseen[_i].json);
}
END_TEST

/* An exec would not be noticed. */
START_TEST(a_generation_that_is_not_known)
{
	scene_put(&s, "/processes/100/generation_known", "false");
	scene_ask(&s);
	ck_assert(!HAS_CHECK(s.all, IDENTITY_AGAIN));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

WD_SUITE_BEGIN("evidence moves")
tcase_add_checked_fixture(tcase, set_up, tear_down);
tcase_set_timeout(tcase, 600);
WD_TEST(pid_reuse);
WD_TEST(exec);
WD_TEST(exec_of_another_file);
WD_TEST(the_process_ends);
WD_TEST(the_owner_changes);
WD_TEST(another_socket_with_the_same_number);
WD_TEST(a_second_listener_appears);
WD_TEST(the_mapping_is_of_another_file);
WD_TEST(a_large_mapping_is_of_another_file);
WD_TEST(one_of_two_models_takes_the_others_place);
WD_TEST(the_mapping_goes);
WD_TEST(a_second_model_is_mapped);
WD_TEST(the_file_is_written);
WD_TEST(a_file_that_never_rests);
WD_TEST(a_file_that_rests_after_one_move);
WD_LOOP(what_could_not_be_looked_at_again, unseen);
WD_TEST(a_generation_that_is_not_known);
WD_SUITE_END
