/*
 * Names that caches keep: repositories and branches of a Hugging Face hub
 * cache, tags of an Ollama store. What leads to the held weights now, what has
 * moved, and that no name proves anything. Field cases D11, D14, D15.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "evidence/caches.h"
#include "support/scene.h"
#include "support/suite.h"
#include "wire/build.h"

#define REPO "/hub/models--org--name"
#define AFTER (SCENE_START + 60 * WD_NS_PER_SECOND)

static struct scene s;

static void
tear_down(void)
{
	scene_end(&s);
}

/* ---- a cache -------------------------------------------------------------
 */

/* A real folder, and what leads to it in the eyes of process 100. */
static void
folder(const char *path, const char *real)
{
	char pointer[256], json[128];
	size_t len;

	ck_assert_int_eq(mkdir(wd_temp_path(s.folder, real), 0700), 0);
	len = (size_t)snprintf(
	    pointer, sizeof(pointer), "/processes/100/folders/");
	for (; *path != '\0'; path++) {
		pointer[len++] = *path == '/' ? '~' : *path;
		if (*path == '/')
			pointer[len++] = '1';
	}
	pointer[len] = '\0';
	(void)snprintf(json, sizeof(json), "'%s'", real);
	scene_put(&s, pointer, json);
}

/* An entry of a real folder, for lists of names. */
static void
entry(const char *real)
{
	wd_temp_write(wd_temp_path(s.folder, real), "", 0);
}

static void
link_to(const char *real, const char *text)
{
	ck_assert_int_eq(symlink(text, wd_temp_path(s.folder, real)), 0);
}

/* A small file with this text at `path`. */
static void
text_at(const char *path, const char *file, const char *text)
{
	scene_write(&s, file, text, strlen(text));
	scene_path(&s, 100, path, file);
}

static void
set_time(const char *file, int64_t ns)
{
	char pointer[128];

	(void)snprintf(pointer, sizeof(pointer), "/files/%s/ctime_ns", file);
	scene_put_int(&s, pointer, ns);
}

static void
main_leads_to(const char *revision)
{
	text_at(REPO "/refs/main", "main", revision);
}

/* m.gguf is the blob of snapshot abc, called q.gguf there. */
static void
hub(void)
{
	scene_begin(&s);
	scene_unmap_all(&s, 100);
	scene_remove(&s, "/processes/100/paths/~1m~1m.gguf");
	folder(REPO, "repo");
	folder(REPO "/refs", "repo/refs");
	folder(REPO "/snapshots", "repo/snapshots");
	folder(REPO "/snapshots/abc", "repo/snapshots/abc");
	entry("repo/refs/main");
	link_to("repo/snapshots/abc/q.gguf", "../../blobs/0123");
	scene_map(&s, 100, "m.gguf", REPO "/blobs/0123");
	scene_path(&s, 100, REPO "/snapshots/abc/q.gguf", "m.gguf");
	main_leads_to("abc");
	scene_put(&s, "/processes/100/env",
	    "[{'name': 'HF_HUB_CACHE', 'value': '/hub'}]");
	scene_put(
	    &s, "/processes/100/argv", "['server', '--model', 'org/name']");
}

static Weightd__V1__Candidate *
only(void)
{
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	return scene_model(&s, 0);
}

static bool
has(char **names, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void
check_kept(const char *name)
{
	ck_assert_msg(
	    has(only()->kept_names, only()->n_kept_names, name), "%s", name);
}

static void
check_moved(const char *name, const char *leads_to)
{
	ck_assert_uint_eq(only()->n_moved_names, 1);
	ck_assert_str_eq(only()->moved_names[0]->name, name);
	ck_assert_str_eq(only()->moved_names[0]->leads_to, leads_to);
	ck_assert(HAS_FLAG(only(), NAME_MOVED));
}

static void
check_unmoved(void)
{
	ck_assert_uint_eq(only()->n_moved_names, 0);
	ck_assert(!HAS_FLAG(only(), NAME_MOVED));
}

static Weightd__V1__Claim *
claim(void)
{
	ck_assert_uint_ge(scene_group(&s, 0)->n_claims, 1);
	return scene_group(&s, 0)->claims[0];
}

/* ---- hub: what leads here -------------------------------------------------
 */

START_TEST(a_repository_leads_to_what_is_held)
{
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(YES));
	ck_assert(!HAS_FLAG(only(), CONFLICT));
	ck_assert_str_eq(only()->bundle->repository, "org/name");
	/* The file's own name, which the blob has lost. */
	ck_assert(has(only()->names, only()->n_names, "q.gguf"));
	ck_assert(has(only()->names, only()->n_names, "q"));
	ck_assert_uint_eq(only()->n_kept_names, 2);
	check_kept("org/name@abc");
	check_kept("org/name@main");
	check_unmoved();
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* Without any claim too: the path of the mapping tells. */
START_TEST(the_cache_is_known_by_the_path)
{
	scene_put(&s, "/processes/100/argv", "['server']");
	scene_put(&s, "/processes/100/env", "[]");
	scene_ask(&s);
	check_kept("org/name@main");
	ck_assert(has(only()->names, only()->n_names, "q.gguf"));
	check_unmoved();
}
END_TEST

static const char *const roots[] = {
	"[{'name': 'HF_HUB_CACHE', 'value': '/hub'},"
	" {'name': 'HF_HOME', 'value': '/else'}]",
	"[{'name': 'HUGGINGFACE_HUB_CACHE', 'value': '/hub'}]",
	"[{'name': 'TRANSFORMERS_CACHE', 'value': '/hub'}]",
	"[{'name': 'LLAMA_CACHE', 'value': '/hub'}]",
	"[{'name': 'LLAMA_CACHE', 'value': '/else'},"
	" {'name': 'HF_HUB_CACHE', 'value': '/hub'}]",
};

START_TEST(where_the_hub_cache_is)
{
	scene_put(&s, "/processes/100/env", roots[_i]);
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(YES));
}
END_TEST

/* vLLM's option counts before the environment. */
START_TEST(where_an_option_puts_the_hub_cache)
{
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/python3'");
	scene_put(&s, "/processes/100/env",
	    "[{'name': 'HF_HUB_CACHE', 'value': '/else'}]");
	scene_put(&s, "/processes/100/argv",
	    "['python3', '-m', 'vllm.entrypoints.openai.api_server',"
	    " '--model', 'org/name', '--download-dir', '/hub']");
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(YES));
}
END_TEST

/* What comes first counts, although others hold the repository. */
static const char *const other_roots[] = {
	("[{'name': 'HF_HUB_CACHE', 'value': '/else'},"
	 " {'name': 'HUGGINGFACE_HUB_CACHE', 'value': '/hub'}]"),
	"[{'name': 'HF_HOME', 'value': '/hub'}]",
	"[{'name': 'HOME', 'value': '/hub'}]",
	"[]",
};

START_TEST(where_the_hub_cache_is_not)
{
	scene_put(&s, "/processes/100/env", other_roots[_i]);
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(UNSPECIFIED));
	ck_assert(!HAS_FLAG(only(), CONFLICT));
}
END_TEST

static const char *const no_repositories[] = { "../org", "org/..", "a/b/c",
	"org/na me", "org/-name", "/org/name", "" };

START_TEST(what_is_no_repository)
{
	char argv[128];

	(void)snprintf(argv, sizeof(argv), "['server', '--model', '%s']",
	    no_repositories[_i]);
	scene_put(&s, "/processes/100/argv", argv);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	check_unmoved();
}
END_TEST

/* ORG/NAME:QUANT names one of several files. */
static const struct {
	const char *value;
	Weightd__V1__Tristate agrees;
} quants[] = {
	{ "org/name:Q4_K_M", SEEN(NO) },
	{ "org/name:q8_0", SEEN(YES) },
	{ "org/name", SEEN(YES) },
};

START_TEST(a_quantisation_of_a_repository)
{
	char argv[128];

	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	(void)unlink(wd_temp_path(s.folder, "repo/snapshots/abc/q.gguf"));
	link_to("repo/snapshots/abc/x-Q4_K_M.gguf", "../../blobs/4567");
	link_to("repo/snapshots/abc/x-Q8_0.gguf", "../../blobs/0123");
	scene_path(&s, 100, REPO "/snapshots/abc/x-Q4_K_M.gguf", "w.gguf");
	scene_path(&s, 100, REPO "/snapshots/abc/x-Q8_0.gguf", "m.gguf");
	(void)snprintf(argv, sizeof(argv), "['server', '--model', '%s']",
	    quants[_i].value);
	scene_put(&s, "/processes/100/argv", argv);
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, quants[_i].agrees);
	ck_assert_str_eq(only()->bundle->inner_name, "Right");
	check_kept("org/name@abc");
}
END_TEST

/* A revision is asked for: what branch main does is no matter. */
START_TEST(a_revision_that_was_asked_for)
{
	main_leads_to("def");
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/python3'");
	scene_put(&s, "/processes/100/argv",
	    "['python3', '-m', 'sglang.launch_server', '--model-path',"
	    " 'org/name', '--revision', 'abc']");
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(YES));
	check_kept("org/name@abc");
	check_unmoved();
}
END_TEST

/* ---- hub: what has moved --------------------------------------------------
 */

/* D14: branch main was set anew after the load. */
START_TEST(D14_a_branch_has_moved)
{
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	folder(REPO "/snapshots/def", "repo/snapshots/def");
	link_to("repo/snapshots/def/q.gguf", "../../blobs/4567");
	scene_path(&s, 100, REPO "/snapshots/def/q.gguf", "w.gguf");
	main_leads_to("def");
	set_time("main", AFTER);
	scene_ask(&s);
	check_moved("main", "def");
	ck_assert_uint_eq(only()->n_kept_names, 1);
	check_kept("org/name@abc");
	/* A name that moved is no conflict. */
	ck_assert_int_eq(claim()->agrees, SEEN(UNSPECIFIED));
	ck_assert(!HAS_FLAG(only(), CONFLICT));
	ck_assert_str_eq(only()->bundle->inner_name, "Right");
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	ck_assert_int_eq(scene_verdict(&s, "w.gguf", NULL), VERDICT(MISMATCH));
	/* It led there already when the process started. */
	set_time("main", SCENE_START);
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(NO));
	ck_assert(HAS_FLAG(only(), CONFLICT));
	check_moved("main", "def");
}
END_TEST

/* D14: no claim is needed to know what branch main is. */
START_TEST(D14_a_branch_has_moved_and_nobody_claims)
{
	main_leads_to("def");
	scene_put(&s, "/processes/100/argv", "['server']");
	scene_ask(&s);
	check_moved("main", "def");
}
END_TEST

/* D14: no refs; a ref that is no revision; the blob is gone. */
START_TEST(D14_refs_are_missing)
{
	scene_remove(&s,
	    "/processes/100/paths/~1hub~1models--org--name"
	    "~1refs~1main");
	scene_ask(&s);
	check_kept("org/name@abc");
	check_unmoved();
	main_leads_to("../../../etc");
	scene_ask(&s);
	check_unmoved();
	ck_assert_uint_eq(only()->n_kept_names, 1);
}
END_TEST

START_TEST(D14_the_blob_is_deleted)
{
	scene_remove(&s,
	    "/processes/100/paths/~1hub~1models--org--name"
	    "~1blobs~10123");
	scene_remove(&s,
	    "/processes/100/paths/~1hub~1models--org--name"
	    "~1snapshots~1abc~1q.gguf");
	scene_put_int(&s, "/files/m.gguf/links", 0);
	main_leads_to("def");
	scene_ask(&s);
	ck_assert(HAS_FLAG(only(), DELETED));
	ck_assert_int_eq(only()->grade, GRADE(RESIDENT));
	check_kept("org/name@abc");
	check_moved("main", "def");
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* ---- hub: shards ---------------------------------------------------------
 */

#define SHARD_1 "model-00001-of-00002.safetensors"
#define SHARD_2 "model-00002-of-00002.safetensors"
#define INDEX "model.safetensors.index.json"

static void
shards(void)
{
	static const char index[] =
	    "{\"weight_map\":{\"a\":\"" SHARD_1 "\",\"b\":\"" SHARD_2 "\"}}";

	scene_unmap_all(&s, 100);
	scene_safetensors(&s, "one", "a", 16, 21);
	scene_safetensors(&s, "two", "b", 32, 22);
	(void)unlink(wd_temp_path(s.folder, "repo/snapshots/abc/q.gguf"));
	link_to("repo/snapshots/abc/" SHARD_1, "../../blobs/aa");
	link_to("repo/snapshots/abc/" SHARD_2, "../../blobs/bb");
	link_to("repo/snapshots/abc/" INDEX, "../../blobs/cc");
	scene_path(&s, 100, REPO "/snapshots/abc/" SHARD_1, "one");
	scene_path(&s, 100, REPO "/snapshots/abc/" SHARD_2, "two");
	scene_write(&s, "index", index, sizeof(index) - 1);
	scene_path(&s, 100, REPO "/snapshots/abc/" INDEX, "index");
	scene_map(&s, 100, "one", REPO "/blobs/aa");
	scene_map(&s, 100, "two", REPO "/blobs/bb");
	scene_put(&s, "/processes/100/argv", "['server']");
}

START_TEST(blobs_are_one_model)
{
	shards();
	scene_ask(&s);
	ck_assert_uint_eq(only()->n_files, 2);
	ck_assert_int_eq(only()->grade, GRADE(RESIDENT));
	ck_assert(HAS_CHECK(only(), HEADERS));
	check_kept("org/name@main");
}
END_TEST

/* D14: a link that leads nowhere, and nobody holds what it led to. */
START_TEST(D14_a_broken_link_is_incomplete)
{
	shards();
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "one", REPO "/blobs/aa");
	scene_remove(&s,
	    "/processes/100/paths/~1hub~1models--org--name"
	    "~1snapshots~1abc~1" SHARD_2);
	scene_ask(&s);
	ck_assert(HAS_FLAG(only(), INCOMPLETE));
	ck_assert_int_ne(scene_verdict(&s, "one", NULL), VERDICT(MATCH));
}
END_TEST

/* D14: all blobs are gone, and the process holds them all. */
START_TEST(D14_broken_links_to_what_is_held)
{
	shards();
	scene_remove(&s,
	    "/processes/100/paths/~1hub~1models--org--name"
	    "~1snapshots~1abc~1" SHARD_1);
	scene_remove(&s,
	    "/processes/100/paths/~1hub~1models--org--name"
	    "~1snapshots~1abc~1" SHARD_2);
	scene_put_int(&s, "/files/one/links", 0);
	scene_put_int(&s, "/files/two/links", 0);
	scene_ask(&s);
	ck_assert_uint_eq(only()->n_files, 2);
	ck_assert_int_eq(only()->grade, GRADE(RESIDENT));
	ck_assert(!HAS_FLAG(only(), INCOMPLETE));
	ck_assert(HAS_FLAG(only(), DELETED));
}
END_TEST

/* The same weights in two snapshots, with other settings: nobody knows with
 * which of them they were loaded. */
START_TEST(settings_of_several_snapshots)
{
	shards();
	/* The folder's own times are the real ones. */
	scene_put_int(&s, "/processes/100/start_real_ns",
	    ((int64_t)time(NULL) + 3600) * WD_NS_PER_SECOND);
	scene_ask(&s);
	ck_assert(HAS_CHECK(only(), SETTINGS_STALE));
	folder(REPO "/snapshots/def", "repo/snapshots/def");
	link_to("repo/snapshots/def/" SHARD_1, "../../blobs/aa");
	scene_ask(&s);
	check_kept("org/name@abc");
	check_kept("org/name@def");
	check_unmoved();
	ck_assert(!HAS_CHECK(only(), SETTINGS_STALE));
	/* Whoever was told which one has said it. */
	scene_put(
	    &s, "/processes/100/argv", "['server', '--model', 'org/name']");
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(YES));
	ck_assert_uint_eq(only()->n_files, 2);
	ck_assert(HAS_CHECK(only(), SETTINGS_STALE));
}
END_TEST

/* ---- Ollama --------------------------------------------------------------
 */

#define STORE "/o"
#define LIBRARY STORE "/manifests/registry.ollama.ai/library"
#define MEDIA "application/vnd.ollama.image."

static char blobs[3][96], manifests[3][512];

/* m.gguf, w.gguf and p.gguf (a projector) by their digests. */
static void
prepare_blobs(void)
{
	static const char *const files[] = { "m.gguf", "w.gguf", "p.gguf" };
	char hex[WD_SHA256_TEXT_BYTES];
	unsigned i;

	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	scene_gguf(&s, "p.gguf", "Eyes", "mmproj", 16, 3);
	for (i = 0; i < 3; i++) {
		struct wd_sha256 digest = scene_sha256(&s, files[i]);

		(void)wd_sha256_text(&digest, hex);
		(void)snprintf(blobs[i], sizeof(blobs[i]),
		    STORE "/blobs/sha256-%s", strchr(hex, ':') + 1);
		scene_path(&s, 100, blobs[i], files[i]);
		(void)snprintf(manifests[i], sizeof(manifests[i]),
		    "{\"layers\":[{\"mediaType\":\"" MEDIA
		    "model\",\"digest\":\"%s\"}]}",
		    hex);
	}
}

static void
tag_leads_to(const char *path, const char *file, unsigned blob)
{
	text_at(path, file, manifests[blob]);
}

/* Tags a:latest and b:1, which both lead to m.gguf. */
static void
ollama(void)
{
	scene_begin(&s);
	scene_unmap_all(&s, 100);
	scene_remove(&s, "/processes/100/paths/~1m~1m.gguf");
	folder(STORE "/manifests", "ma");
	folder(STORE "/manifests/registry.ollama.ai", "ma/registry.ollama.ai");
	folder(LIBRARY, "ma/registry.ollama.ai/library");
	folder(LIBRARY "/a", "ma/registry.ollama.ai/library/a");
	folder(LIBRARY "/b", "ma/registry.ollama.ai/library/b");
	entry("ma/registry.ollama.ai/library/a/latest");
	entry("ma/registry.ollama.ai/library/b/1");
	prepare_blobs();
	tag_leads_to(LIBRARY "/a/latest", "a", 0);
	tag_leads_to(LIBRARY "/b/1", "b", 0);
	scene_map(&s, 100, "m.gguf", blobs[0]);
	scene_put(&s, "/processes/100/env",
	    "[{'name': 'OLLAMA_MODELS', 'value': '/o'}]");
	scene_put(&s, "/processes/100/argv", "['server', '--model', 'a']");
}

START_TEST(tags_that_lead_here)
{
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(YES));
	ck_assert_uint_eq(only()->n_kept_names, 2);
	check_kept("a:latest");
	check_kept("b:1");
	check_unmoved();
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* A tag is a claim: it is none of the names that an expectation may pin. */
START_TEST(a_tag_is_no_name_of_the_bundle)
{
	size_t i;

	scene_ask(&s);
	for (i = 0; i < only()->n_names; i++)
		ck_assert_ptr_null(strchr(only()->names[i], ':'));
	ck_assert_str_eq(only()->bundle->repository, "");
}
END_TEST

static const char *const names_of_a[] = { "a", "a:latest", "library/a",
	"registry.ollama.ai/library/a:latest" };

START_TEST(ways_to_write_a_tag)
{
	char argv[128];

	(void)snprintf(
	    argv, sizeof(argv), "['server', '--model', '%s']", names_of_a[_i]);
	scene_put(&s, "/processes/100/argv", argv);
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(YES));
}
END_TEST

/* D11: a:latest was pulled again while its old blob serves. */
START_TEST(D11_a_tag_was_pulled_again)
{
	char now[80];

	tag_leads_to(LIBRARY "/a/latest", "a", 1);
	set_time("a", AFTER);
	scene_ask(&s);
	ck_assert_uint_eq(only()->n_kept_names, 1);
	check_kept("b:1");
	(void)snprintf(
	    now, sizeof(now), "sha256:%s", strchr(blobs[1], '-') + 1);
	check_moved("a", now);
	ck_assert_int_eq(claim()->agrees, SEEN(UNSPECIFIED));
	ck_assert(!HAS_FLAG(only(), CONFLICT));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	ck_assert_int_eq(scene_verdict(&s, "w.gguf", NULL), VERDICT(MISMATCH));
	/* It led there when the process started: that is a conflict. */
	set_time("a", SCENE_START - 1);
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(NO));
	ck_assert(HAS_FLAG(only(), CONFLICT));
}
END_TEST

static bool
has_note(const char *text)
{
	size_t i;

	for (i = 0; i < only()->n_notes; i++)
		if (strstr(only()->notes[i], text) != NULL)
			return true;
	return false;
}

/* E5: a blob whose content is not what its name says. */
START_TEST(E5_a_blob_by_another_name)
{
	/* Without a digest nobody knows. */
	s.digests = WD_DIGEST_CACHED_ONLY;
	scene_ask(&s);
	ck_assert(!has_note("not what its name says"));
	s.digests = WD_DIGEST_COMPUTE;
	scene_ask(&s);
	ck_assert(!has_note("not what its name says"));
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "w.gguf", blobs[0]);
	scene_ask(&s);
	ck_assert(has_note("not what its name says"));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MISMATCH));
}
END_TEST

/* D11: nothing tells that a:latest ever led here. */
START_TEST(D11_a_tag_nobody_claimed)
{
	tag_leads_to(LIBRARY "/a/latest", "a", 1);
	scene_put(&s, "/processes/100/argv", "['server']");
	scene_ask(&s);
	ck_assert_uint_eq(only()->n_kept_names, 1);
	check_kept("b:1");
	check_unmoved();
}
END_TEST

START_TEST(D11_a_tag_is_gone)
{
	scene_remove(&s,
	    "/processes/100/paths/~1o~1manifests"
	    "~1registry.ollama.ai~1library~1a~1latest");
	scene_ask(&s);
	check_moved("a", "");
	ck_assert(!HAS_FLAG(only(), CONFLICT));
}
END_TEST

/* Weights that were read and closed: the tag alone names them. Set anew since
 * the start it says nothing of what was read. */
START_TEST(a_name_set_anew_names_nothing)
{
	scene_unmap_all(&s, 100);
	scene_put_int(&s, "/processes/100/read_bytes", 1 << 20);
	scene_ask(&s);
	ck_assert_int_eq(only()->grade, GRADE(INFERRED));
	set_time("a", AFTER);
	scene_ask(&s);
	ck_assert_int_eq(only()->grade, GRADE(CLAIMED));
	ck_assert_ptr_nonnull(strstr(only()->files[0]->reason, "set anew"));
	/* Within one tick of the start nothing can be told. */
	set_time("a", SCENE_START + 10000000);
	scene_ask(&s);
	ck_assert_int_eq(only()->grade, GRADE(INFERRED));
}
END_TEST

/* The name is old, and what its path leads through is not. */
START_TEST(a_path_led_anew_names_nothing)
{
	char at[256];

	(void)snprintf(at, sizeof(at), "/processes/100/ways/~1o~1blobs~1%s",
	    strstr(blobs[0], "sha256-"));
	scene_unmap_all(&s, 100);
	scene_put_int(&s, "/processes/100/read_bytes", 1 << 20);
	scene_put(&s, "/processes/100/ways", "{}");
	scene_put(&s, at, "{'changed_ns': 1, 'mounted': false}");
	scene_ask(&s);
	ck_assert_int_eq(only()->grade, GRADE(INFERRED));
	scene_put(&s, at, "{'changed_ns': 1, 'mounted': true}");
	scene_ask(&s);
	ck_assert_int_eq(only()->grade, GRADE(CLAIMED));
	scene_put(&s, at, "{'status': 'denied'}");
	scene_ask(&s);
	ck_assert_int_eq(only()->grade, GRADE(CLAIMED));
	scene_put(&s, at, "{'changed_ns': 1700000001000000000}");
	scene_ask(&s);
	ck_assert_int_eq(only()->grade, GRADE(CLAIMED));
	ck_assert_ptr_nonnull(strstr(only()->files[0]->reason, "set anew"));
}
END_TEST

/* A projector is a layer of its own. */
START_TEST(layers_that_are_no_model)
{
	char text[1024];

	(void)snprintf(text, sizeof(text),
	    "{\"layers\":[{\"mediaType\":\"" MEDIA
	    "projector\",\"digest\":\"sha256:%s\"},"
	    "{\"mediaType\":\"" MEDIA "model\",\"digest\":\"sha256:%s\"}]}",
	    strchr(blobs[2], '-') + 1, strchr(blobs[0], '-') + 1);
	text_at(LIBRARY "/a/latest", "a", text);
	scene_map(&s, 100, "p.gguf", blobs[2]);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert_int_eq(scene_model(&s, 1)->bundle->kind, KIND(PROJECTOR));
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 2);
	ck_assert_int_eq(scene_group(&s, 0)->claims[1]->source,
	    WEIGHTD__V1__CLAIM__SOURCE__SOURCE_CONFIGURATION);
	ck_assert_str_eq(
	    scene_group(&s, 0)->claims[1]->key, LIBRARY "/a/latest");
	ck_assert_int_eq(scene_group(&s, 0)->claims[1]->agrees, SEEN(YES));
	ck_assert(!HAS_FLAG(scene_model(&s, 0), CONFLICT));
}
END_TEST

/* A broken manifest says nothing; a cache that is no cache neither. */
START_TEST(what_a_store_cannot_say)
{
	folder(STORE "/manifests/registry.ollama.ai/up", "up");
	tag_leads_to(STORE "/manifests/registry.ollama.ai/up/../x", "x", 0);
	scene_put(
	    &s, "/processes/100/argv", "['server', '--model', 'up/..:x']");
	scene_ask(&s);
	ck_assert_int_eq(claim()->agrees, SEEN(UNSPECIFIED));
	scene_put(&s, "/processes/100/argv", "['server', '--model', 'a']");
	text_at(LIBRARY "/a/latest", "a",
	    "{\"layers\":[{\"mediaType\":\"" MEDIA
	    "model\",\"digest\":\"sha256:../../m\"}]}");
	text_at(LIBRARY "/b/1", "b", "no JSON");
	scene_ask(&s);
	ck_assert_uint_eq(only()->n_kept_names, 0);
	ck_assert_int_eq(only()->grade, GRADE(RESIDENT));
}
END_TEST

/* ---- lists in files -------------------------------------------------------
 */

/* The engine's program, its words, and the file that they name. */
static void
list_is(const char *program, const char *argv, const char *text)
{
	char json[64];

	(void)snprintf(json, sizeof(json), "'%s'", program);
	scene_put(&s, "/processes/100/exe/path", json);
	scene_put(&s, "/processes/100/argv", argv);
	text_at("/etc/list", "list", text);
}

static Weightd__V1__Claim *
claim_with(const char *key)
{
	Weightd__V1__Group *group = scene_group(&s, 0);
	size_t i;

	for (i = 0; i < group->n_claims; i++)
		if (strcmp(group->claims[i]->key, key) == 0)
			return group->claims[i];
	ck_abort_msg("no claim %s", key);
	return NULL;
}

static void
begin_with_another(void)
{
	scene_begin(&s);
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	scene_path(&s, 100, "/m/w.gguf", "w.gguf");
}

START_TEST(a_preset_names_many)
{
	list_is("/usr/bin/llama-server",
	    "['llama-server', '--models-preset', '/etc/list']",
	    "[right]\nmodel = /m/m.gguf\n[wrong]\nmodel = /m/w.gguf\n"
	    "[org/name]\n");
	scene_put_int(&s, "/processes/100/read_bytes", 1 << 20);
	scene_ask(&s);
	ck_assert_str_eq(only()->bundle->inner_name, "Right");
	ck_assert(!HAS_FLAG(only(), CONFLICT));
	ck_assert_int_eq(
	    claim_with("/etc/list: right.model")->agrees, SEEN(YES));
	ck_assert_int_eq(
	    claim_with("/etc/list: wrong.model")->agrees, SEEN(UNSPECIFIED));
	ck_assert_int_eq(claim_with("/etc/list: wrong.model")->source,
	    WEIGHTD__V1__CLAIM__SOURCE__SOURCE_CONFIGURATION);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 4);
	ck_assert(HAS_CHECK(scene_group(&s, 0), CLAIMS));
	/* Listed is not named: bytes that were read make nothing of it. */
	scene_unmap_all(&s, 100);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 0);
	scene_open(&s, 100, 9, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_int_eq(only()->grade, GRADE(CLAIMED));
}
END_TEST

/* What lies in the router's folder of models may be loaded; nothing says that
 * it is. */
START_TEST(a_folder_of_models_names_many)
{
	folder("/models", "models");
	wd_temp_write(wd_temp_path(s.folder, "models/m.gguf"), "", 0);
	wd_temp_write(wd_temp_path(s.folder, "models/w.gguf"), "", 0);
	wd_temp_write(wd_temp_path(s.folder, "models/x.txt"), "", 0);
	scene_path(&s, 100, "/models/m.gguf", "m.gguf");
	scene_path(&s, 100, "/models/w.gguf", "w.gguf");
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/llama-server'");
	scene_put(&s, "/processes/100/argv",
	    "['llama-server', '--models-dir', '/models']");
	scene_ask(&s);
	ck_assert_int_eq(claim_with("/models: m.gguf")->agrees, SEEN(YES));
	ck_assert_int_eq(
	    claim_with("/models: w.gguf")->agrees, SEEN(UNSPECIFIED));
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 3);
	ck_assert_str_eq(only()->bundle->inner_name, "Right");
	ck_assert(!HAS_FLAG(only(), CONFLICT));
	ck_assert(HAS_CHECK(scene_group(&s, 0), CLAIMS));
	/* Listed is not named: bytes that were read make nothing of it. */
	scene_unmap_all(&s, 100);
	scene_put_int(&s, "/processes/100/read_bytes", 1 << 20);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 0);
	/* A folder that cannot be read is not checked. */
	scene_put(&s, "/processes/100/argv",
	    "['llama-server', '--models-dir', '/elsewhere']");
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), CLAIMS));
	/* Of another program the option means nothing that we know. */
	scene_put(&s, "/processes/100/exe/path", "'/opt/unknown'");
	scene_put(&s, "/processes/100/argv",
	    "['unknown', '--models-dir', '/models']");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 0);
}
END_TEST

static const struct {
	const char *program, *argv, *text, *key;
} files[] = {
	{ "/usr/bin/koboldcpp", "['koboldcpp', '--config', '/etc/list']",
	    "{\"model_param\": \"/m/m.gguf\", \"mmproj\": null}",
	    "/etc/list: model_param" },
	{ "/usr/bin/python3",
	    "['python3', '-m', 'llama_cpp.server', '--config_file',"
	    " '/etc/list']",
	    "{\"models\": [{\"model\": \"/m/m.gguf\", \"model_alias\": "
	    "\"a\"}]}",
	    "/etc/list: a.model" },
	{ "/usr/bin/python3",
	    "['python3', '/usr/bin/trtllm-serve', 'serve', 'x', '--config',"
	    " '/etc/list']",
	    "speculative_config:\n  speculative_model_dir: /m/m.gguf\n",
	    "/etc/list: speculative_config" },
};

START_TEST(the_configuration_files_of_engines)
{
	list_is(files[_i].program, files[_i].argv, files[_i].text);
	scene_ask(&s);
	ck_assert_int_eq(claim_with(files[_i].key)->agrees, SEEN(YES));
	ck_assert_int_eq(claim_with(files[_i].key)->source,
	    WEIGHTD__V1__CLAIM__SOURCE__SOURCE_CONFIGURATION);
	ck_assert(HAS_CHECK(scene_group(&s, 0), CLAIMS));
}
END_TEST

START_TEST(a_long_list_is_folded)
{
	char text[4096];
	size_t len = 0, i;

	for (i = 0; i < 40; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "[m%zu]\nmodel = /m/%s\n", i,
		    i == 30 ? "m.gguf" : "none.gguf");
	list_is("/usr/bin/llama-server",
	    "['llama-server', '--models-preset', '/etc/list']", text);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 1 + 8 + 1);
	ck_assert_uint_eq(claim_with("/etc/list: m7.model")->folded, 31);
	ck_assert_int_eq(claim_with("/etc/list: m30.model")->agrees, SEEN(YES));
	ck_assert_uint_eq(claim_with("/etc/list: m30.model")->folded, 0);
}
END_TEST

/* vLLM's file names the one model: what it says is as good as an option, when
 * there is none. */
START_TEST(a_file_of_options_names_the_model)
{
	static const char no_option[] =
	    "['python3', '-m', 'vllm.entrypoints.openai.api_server',"
	    " '--config', '/etc/list']";

	list_is("/usr/bin/python3", no_option, "model: /m/w.gguf\n");
	scene_ask(&s);
	ck_assert_int_eq(claim_with("/etc/list: model")->agrees, SEEN(NO));
	ck_assert(HAS_FLAG(only(), CONFLICT));
	/* A file that was written since says nothing of what was loaded. */
	set_time("list", AFTER);
	scene_ask(&s);
	ck_assert_int_eq(
	    claim_with("/etc/list: model")->agrees, SEEN(UNSPECIFIED));
	ck_assert(!HAS_FLAG(only(), CONFLICT));
	list_is("/usr/bin/python3",
	    "['python3', '-m', 'vllm.entrypoints.openai.api_server',"
	    " '--model', '/m/m.gguf', '--config', '/etc/list']",
	    "model: /m/w.gguf\n");
	scene_ask(&s);
	ck_assert_int_eq(
	    claim_with("/etc/list: model")->agrees, SEEN(UNSPECIFIED));
	ck_assert(!HAS_FLAG(only(), CONFLICT));
}
END_TEST

static const struct {
	const char *program, *argv, *text, *key;
} router_lists[] = {
	{ "/usr/bin/llama-swap", "['llama-swap', '-config', '/etc/list']",
	    "models:\n  q:\n    cmd: llama-server -m /m/m.gguf --port "
	    "${PORT}\n",
	    "/etc/list: q.-m" },
	{ "/usr/bin/python3",
	    "['python3', '/usr/bin/litellm', '--config', '/etc/list']",
	    "model_list:\n- model_name: q\n"
	    "  litellm_params: {model: openai/x, api_key: s3cr3t}\n",
	    "/etc/list: q.model" },
};

START_TEST(lists_of_routers)
{
	list_is(router_lists[_i].program, router_lists[_i].argv,
	    router_lists[_i].text);
	scene_ask(&s);
	ck_assert_int_eq(claim_with(router_lists[_i].key)->agrees,
	    _i == 0 ? SEEN(YES) : SEEN(UNSPECIFIED));
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 2);
}
END_TEST

/* What could not be read is no check. */
static const char *const unread[] = { "a: &x 1\nmodel: *x\n", "- 1\n" };

START_TEST(a_list_that_cannot_be_read)
{
	list_is("/usr/bin/python3",
	    "['python3', '-m', 'vllm.entrypoints.openai.api_server',"
	    " '--config', '/etc/list']",
	    unread[_i]);
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), CLAIMS));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

/* ---- memory --------------------------------------------------------------
 */

/* Every allocation of a look fails once: an error, and no leak. */
static void
fail_everywhere(void)
{
	struct wd_evidence with = {
		.reader = s.reader, .store = s.store, .clock = &s.clock
	};
	unsigned n;

	scene_ask(&s);
	with.host = s.host;
	for (n = 0;; n++) {
		Weightd__V1__Attestation *all = NULL;
		enum wd_status st;
		int failed;

		ck_assert_uint_lt(n, 100000);
		wd_mem_fail_after(n);
		st = wd_attest_port(
		    &with, &s.question, s.digests, &s.deadline, &all, NULL);
		failed = wd_mem_has_failed();
		wd_mem_fail_after(UINT64_MAX);
		wd_message_free(all);
		ck_assert_msg(st == (failed ? WD_NOMEM : WD_OK),
		    "allocation %u: %s", n, wd_status_name(st));
		if (!failed)
			break;
	}
	ck_assert_uint_gt(n, 40);
}

START_TEST(memory_for_branches)
{
	main_leads_to("def");
	fail_everywhere();
}
END_TEST

START_TEST(memory_for_tags)
{
	tag_leads_to(LIBRARY "/a/latest", "a", 1);
	set_time("a", AFTER);
	fail_everywhere();
}
END_TEST

START_TEST(memory_for_lists)
{
	list_is("/usr/bin/llama-server",
	    "['llama-server', '--models-preset', '/etc/list']",
	    "[right]\nmodel = /m/m.gguf\n[org/name]\n");
	fail_everywhere();
}
END_TEST

/* ---- places --------------------------------------------------------------
 */

static const struct {
	const char *path;
	enum wd_cache_kind kind;
	const char *root, *blob, *revision;
} places[] = {
	{ "/h/models--o--n/blobs/ab", WD_CACHE_HUB, "/h/models--o--n", "ab",
	    "" },
	{ "/h/models--o--n/snapshots/c/x/y", WD_CACHE_HUB, "/h/models--o--n",
	    "", "c" },
	{ "/h/models--o--n/blobs/a/b", WD_CACHE_NONE, "", "", "" },
	{ "/h/o--n/blobs/ab", WD_CACHE_NONE, "", "", "" },
	{ "/blobs/ab", WD_CACHE_NONE, "", "", "" },
	{ "/o/blobs/sha256-0123", WD_CACHE_NONE, "", "", "" },
	{ "/o/blobs/sha256-"
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    WD_CACHE_OLLAMA, "/o",
	    "sha256-"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "" },
	{ "/o/blobs/sha256-"
	  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	    WD_CACHE_NONE, "", "", "" },
	{ "", WD_CACHE_NONE, "", "", "" },
};

static void
check_slice(struct wd_slice slice, const char *text)
{
	ck_assert(wd_slice_equal(slice, wd_slice_text(text)));
}

START_TEST(places_in_caches)
{
	struct wd_cache_place place =
	    wd_cache_place_of(wd_slice_text(places[_i].path));

	ck_assert_int_eq(place.kind, places[_i].kind);
	if (place.kind == WD_CACHE_NONE)
		return;
	check_slice(place.root, places[_i].root);
	check_slice(place.blob, places[_i].blob);
	check_slice(place.revision, places[_i].revision);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("evidence names");
	TCase *tcase = tcase_create("hub");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, hub, tear_down);
	WD_TEST(a_repository_leads_to_what_is_held);
	WD_TEST(the_cache_is_known_by_the_path);
	WD_LOOP(where_the_hub_cache_is, roots);
	WD_LOOP(where_the_hub_cache_is_not, other_roots);
	WD_TEST(where_an_option_puts_the_hub_cache);
	WD_LOOP(what_is_no_repository, no_repositories);
	WD_LOOP(a_quantisation_of_a_repository, quants);
	WD_TEST(a_revision_that_was_asked_for);
	WD_TEST(D14_a_branch_has_moved);
	WD_TEST(D14_a_branch_has_moved_and_nobody_claims);
	WD_TEST(D14_refs_are_missing);
	WD_TEST(D14_the_blob_is_deleted);
	WD_TEST(blobs_are_one_model);
	WD_TEST(D14_a_broken_link_is_incomplete);
	WD_TEST(D14_broken_links_to_what_is_held);
	WD_TEST(settings_of_several_snapshots);
	WD_TEST(memory_for_branches);
	tcase = tcase_create("Ollama");
	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, ollama, tear_down);
	WD_TEST(tags_that_lead_here);
	WD_TEST(a_tag_is_no_name_of_the_bundle);
	WD_LOOP(ways_to_write_a_tag, names_of_a);
	WD_TEST(D11_a_tag_was_pulled_again);
	WD_TEST(E5_a_blob_by_another_name);
	WD_TEST(D11_a_tag_nobody_claimed);
	WD_TEST(D11_a_tag_is_gone);
	WD_TEST(a_name_set_anew_names_nothing);
	WD_TEST(a_path_led_anew_names_nothing);
	WD_TEST(layers_that_are_no_model);
	WD_TEST(what_a_store_cannot_say);
	WD_TEST(memory_for_tags);
	tcase = tcase_create("lists");
	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, begin_with_another, tear_down);
	WD_TEST(a_preset_names_many);
	WD_TEST(a_folder_of_models_names_many);
	WD_LOOP(the_configuration_files_of_engines, files);
	WD_TEST(a_long_list_is_folded);
	WD_TEST(a_file_of_options_names_the_model);
	WD_LOOP(lists_of_routers, router_lists);
	WD_LOOP(a_list_that_cannot_be_read, unread);
	WD_TEST(memory_for_lists);
	tcase = tcase_create("places");
	suite_add_tcase(suite, tcase);
	WD_LOOP(places_in_caches, places);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
