/*
 * Adapters, drafts and projectors, and whether they are in use; engines that
 * sleep; the notes that say why. Field case D1, and what was seen of
 * llama-server: its drafts, adapters and sleep.
 */
#include <check.h>
#include <string.h>

#include "evidence/companions.h"
#include "support/scene.h"
#include "support/suite.h"

static struct scene s;

static void
run(const char *program, const char *argv)
{
	scene_put(&s, "/processes/100/exe/path", program);
	scene_put(&s, "/processes/100/argv", argv);
}

static void
run_llama(const char *argv)
{
	run("'/usr/bin/llama-server'", argv);
}

static void
set_up(void)
{
	scene_begin(&s);
	scene_gguf(&s, "d.gguf", "Draft", NULL, 8, 2);
	scene_path(&s, 100, "/m/d.gguf", "d.gguf");
	scene_gguf(&s, "lora.gguf", "Adapter", "adapter", 8, 3);
	scene_path(&s, 100, "/m/lora.gguf", "lora.gguf");
	run_llama("['llama-server', '-m', '/m/m.gguf', '-md', '/m/d.gguf']");
}

static void
tear_down(void)
{
	scene_end(&s);
}

static Weightd__V1__Tristate
in_use(Weightd__V1__BundleKind kind)
{
	size_t i;

	for (i = 0; i < scene_group(&s, 0)->n_candidates; i++)
		if (scene_model(&s, i)->bundle->kind == kind)
			return scene_model(&s, i)->in_use;
	ck_abort_msg("no companion of kind %d", (int)kind);
}

static bool
has_note(size_t model, const char *text)
{
	const Weightd__V1__Candidate *c = scene_model(&s, model);
	size_t i;

	for (i = 0; i < c->n_notes; i++)
		if (strstr(c->notes[i], text) != NULL)
			return true;
	return false;
}

/* ---- drafts -------------------------------------------------------------- */

START_TEST(a_mapped_draft_is_in_use)
{
	scene_map(&s, 100, "d.gguf", "/m/d.gguf");
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(DRAFT)), SEEN(YES));
	ck_assert_int_eq(in_use(KIND(MODEL)), SEEN(UNSPECIFIED));
}
END_TEST

/* A page of the header is no tensor. */
START_TEST(a_draft_of_which_no_tensor_is_mapped)
{
	scene_map_part(&s, 100, "d.gguf", "/m/d.gguf", 0, 32);
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(DRAFT)), SEEN(UNSPECIFIED));
}
END_TEST

/* Speculation is off: the engine would have mapped it. */
START_TEST(a_draft_that_is_only_named_is_not_in_use)
{
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(DRAFT)), SEEN(NO));
	/* However much was read. */
	scene_put(&s, "/processes/100/read_bytes", "1000000000");
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(DRAFT)), SEEN(NO));
}
END_TEST

static const struct {
	const char *pointer, *json;
} doubts[] = {
	{ "/processes/100/exe/path", "'/usr/bin/server'" },
	{ "/processes/100/exe", "{'status': 'denied'}" },
	{ "/pids/complete", "false" },
	{ "/processes/100/mappings/complete", "false" },
	/* Fully offloaded, a draft is unmapped. */
	{ "/processes/100/descriptors/items/-",
	    "{'fd': 19, 'type': 'device', 'path': '/dev/nvidia0'}" },
	{ "/processes/100/argv",
	    "['llama-server', '-m', '/m/m.gguf', '-md', '/m/d.gguf',"
	    " '--sleep-idle-seconds', '60']" },
	{ "/processes/100/descriptors/items/-",
	    "{'fd': 19, 'file': 'd.gguf', 'path': '/m/d.gguf'}" },
};

START_TEST(where_there_is_doubt_its_use_is_not_known)
{
	scene_put(&s, doubts[_i].pointer, doubts[_i].json);
	scene_ask(&s);
	ck_assert_msg(in_use(KIND(DRAFT)) == SEEN(UNSPECIFIED), "%s: %s",
	    doubts[_i].pointer, doubts[_i].json);
}
END_TEST

/* With --no-mmap neither of them is mapped. */
START_TEST(a_draft_beside_a_model_that_is_not_mapped)
{
	scene_unmap_all(&s, 100);
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(DRAFT)), SEEN(UNSPECIFIED));
	scene_map_part(
	    &s, 100, "m.gguf", "/m/m.gguf", 0, scene_size(&s, "m.gguf") - 1);
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(DRAFT)), SEEN(UNSPECIFIED));
}
END_TEST

/* ---- adapters ------------------------------------------------------------ */

/* Read and closed, and scaled at run time: nobody can tell. */
START_TEST(an_adapter_of_llama_server)
{
	run_llama(
	    "['llama-server', '-m', '/m/m.gguf', '--lora', '/m/lora.gguf']");
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(ADAPTER)), SEEN(UNSPECIFIED));
	ck_assert(has_note(0,
	    "MUTABLE: llama-server changes its adapters by POST "
	    "/lora-adapters"));
	scene_map(&s, 100, "lora.gguf", "/m/lora.gguf");
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(ADAPTER)), SEEN(UNSPECIFIED));
}
END_TEST

START_TEST(a_mapped_adapter_of_an_engine_that_keeps_it)
{
	run_llama("['llama-server', '-m', '/m/m.gguf']");
	scene_map(&s, 100, "lora.gguf", "/m/lora.gguf");
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(ADAPTER)), SEEN(YES));
	run("'/usr/bin/server'", "['server', '-m', '/m/m.gguf']");
	scene_ask(&s);
	ck_assert_int_eq(in_use(KIND(ADAPTER)), SEEN(UNSPECIFIED));
}
END_TEST

/* ---- engines that sleep -------------------------------------------------- */

#define SLEEPY                                                                 \
	"['llama-server', '-m', '/m/m.gguf', '--sleep-idle-seconds', '60']"

/* Its mapping has vanished while /health says ok. */
START_TEST(a_server_that_sleeps)
{
	uint64_t size = scene_size(&s, "m.gguf");
	uint32_t line;

	run_llama(SLEEPY);
	scene_unmap_all(&s, 100);
	/* What it has read it has dropped. */
	scene_put_int(&s, "/processes/100/read_bytes", (int64_t)size);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
	ck_assert(HAS_FLAG(scene_group(&s, 0), MUTABLE));
	ck_assert(has_note(0, WD_ASLEEP));
	ck_assert(has_note(0, "MUTABLE: llama-server sleeps when idle"));
	ck_assert_ptr_nonnull(strstr(scene_file(&s, 0)->reason, "sleeps"));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", &line), VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(line, 8);
}
END_TEST

START_TEST(a_server_that_could_sleep_and_is_awake)
{
	run_llama(SLEEPY);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(!has_note(0, WD_ASLEEP));
	ck_assert(has_note(0, "MUTABLE"));
	/* Its weights may be in the memory that it holds. */
	scene_unmap_all(&s, 100);
	scene_put_int(&s, "/processes/100/rss_anon_bytes",
	    (int64_t)scene_size(&s, "m.gguf"));
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
	ck_assert(!has_note(0, WD_ASLEEP));
	/* Also when the file is another by now. */
	scene_put(&s, "/files/m.gguf/mtime_ns", "1800000000000000000");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
	ck_assert(!has_note(0, WD_ASLEEP));
}
END_TEST

START_TEST(a_server_that_does_not_sleep)
{
	uint64_t size = scene_size(&s, "m.gguf");

	run_llama("['llama-server', '-m', '/m/m.gguf',"
		  " '--sleep-idle-seconds', '-1']");
	scene_unmap_all(&s, 100);
	scene_put_int(&s, "/processes/100/read_bytes", (int64_t)size);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
	ck_assert_uint_eq(scene_model(&s, 0)->n_notes, 0);
}
END_TEST

/* Nothing is named: only the engine tells why nothing is there. */
START_TEST(an_engine_that_has_unloaded_everything)
{
	scene_unmap_all(&s, 100);
	run("'/usr/bin/ollama'", "['ollama', 'serve']");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert(scene_blind(&s, SCOPE(OTHER), "weights of ollama"));
	ck_assert(!scene_blind(&s, SCOPE(WEIGHTS), ""));
	/* Large memory is something else than sleep. */
	scene_put(&s, "/processes/100/rss_anon_bytes", "4294967296");
	scene_ask(&s);
	ck_assert(!scene_blind(&s, SCOPE(OTHER), "weights of ollama"));
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	run("'/usr/bin/server'", "['server']");
	scene_put(&s, "/processes/100/rss_anon_bytes", "0");
	scene_ask(&s);
	ck_assert(!scene_blind(&s, SCOPE(OTHER), "weights of"));
}
END_TEST

/* It falls asleep in the middle of the look, before each call in turn: the
 * answer is the later truth, or says that mappings moved. */
START_TEST(a_server_that_falls_asleep_meanwhile)
{
	unsigned n, late = 0;

	run_llama(SLEEPY);
	for (n = 1; n <= 3; n++) {
		scene_put(&s, "/after", "[]");
		scene_after(
		    &s, "mappings", n, "/processes/100/mappings/items", "[]");
		scene_ask(&s);
		late += s.all->grade == GRADE(CLAIMED) &&
		    has_note(0, WD_ASLEEP) && s.all->retries > 0;
	}
	ck_assert_uint_ge(late, 1);
	/* It wakes and sleeps all the time. */
	scene_put(&s, "/after", "[]");
	for (n = 0; n < 16; n++)
		scene_after(&s, "mappings", n + 1,
		    "/processes/100/mappings/items",
		    n % 2 == 0 ?
			"[]" :
			"[{'start': 4096, 'end': 8192, 'file': 'm.gguf',"
			" 'path': '/m/m.gguf'}]");
	scene_ask(&s);
	ck_assert(scene_moved(&s, MOVED(MAPPINGS)));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* ---- parts elsewhere ----------------------------------------------------- */

START_TEST(why_it_is_partial)
{
	run_llama("['llama-server', '-m', '/m/m.gguf', '--rpc', 'b:50052']");
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_group(&s, 0), PARTIAL));
	ck_assert(has_note(0, "PARTIAL: llama-server offloads to RPC servers"));
	ck_assert_uint_eq(scene_model(&s, 0)->n_notes, 1);
}
END_TEST

WD_SUITE_BEGIN("evidence companions")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(a_mapped_draft_is_in_use);
WD_TEST(a_draft_of_which_no_tensor_is_mapped);
WD_TEST(a_draft_that_is_only_named_is_not_in_use);
WD_LOOP(where_there_is_doubt_its_use_is_not_known, doubts);
WD_TEST(a_draft_beside_a_model_that_is_not_mapped);
WD_TEST(an_adapter_of_llama_server);
WD_TEST(a_mapped_adapter_of_an_engine_that_keeps_it);
WD_TEST(a_server_that_sleeps);
WD_TEST(a_server_that_could_sleep_and_is_awake);
WD_TEST(a_server_that_does_not_sleep);
WD_TEST(an_engine_that_has_unloaded_everything);
WD_TEST(a_server_that_falls_asleep_meanwhile);
WD_TEST(why_it_is_partial);
WD_SUITE_END
