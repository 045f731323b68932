/*
 * Claims that stand in files: the configuration that an engine was given, and
 * the folder of models. An
 * engine with one model names it there; a router's list names many, of which
 * each is shown and compared, and none is taken for loaded.
 */
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/caches.h"
#include "evidence/claims.h"

/* Entries of one list that become claims. */
#define MAX_ENTRIES 256

static const struct {
	const char *family;
	const char *option; /* blanks between; NULL: any that names a file */
	enum wd_listing_kind kind;
	bool many;
} lists[] = {
	{ "llama.cpp", "--models-preset LLAMA_ARG_MODELS_PRESET",
	    WD_LISTING_PRESET, true },
	{ "vllm", NULL, WD_LISTING_OPTIONS, false },
	{ "sglang", NULL, WD_LISTING_OPTIONS, false },
	{ "tensorrt-llm", NULL, WD_LISTING_OPTIONS, false },
	{ "koboldcpp", NULL, WD_LISTING_OPTIONS, false },
	{ "llama-cpp-python", NULL, WD_LISTING_OPTIONS, true },
	{ "llama-swap", NULL, WD_LISTING_SWAP, true },
	{ "litellm", NULL, WD_LISTING_PROXY, true },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct reading {
	struct wd_look *look;
	struct wd_group *group;
	size_t member;
	size_t claim; /* index: that which names the file */
	size_t words; /* claims that command line and environment made */
	bool many, late;
};

static bool
is_word(const char *words, const char *word)
{
	struct wd_slice rest = wd_slice_text(words), one;

	while (wd_slice_cut(&rest, ' ', &one))
		if (wd_slice_equal(one, wd_slice_text(word)))
			return true;
	return false;
}

static size_t
find_list(const struct wd_engine *engine, const char *key)
{
	size_t i;

	for (i = 0; engine != NULL && i < COUNT(lists); i++)
		if (strcmp(engine->family, lists[i].family) == 0 &&
		    (lists[i].option == NULL || is_word(lists[i].option, key)))
			return i;
	return COUNT(lists);
}

/* ---- one entry -----------------------------------------------------------
 */

static enum wd_claim_use
use_of(enum wd_listed_use use)
{
	switch (use) {
	case WD_LISTED_MODEL:
		return WD_CLAIM_MODEL;
	case WD_LISTED_DRAFT:
		return WD_CLAIM_DRAFT;
	case WD_LISTED_ADAPTER:
		return WD_CLAIM_ADAPTER;
	case WD_LISTED_PROJECTOR:
		return WD_CLAIM_PROJECTOR;
	case WD_LISTED_REVISION:
	case WD_LISTED_NAME:
	case WD_LISTED_UPSTREAM:
		break;
	}
	return WD_CLAIM_NAME;
}

/* What the command line gives beats the file. */
static bool
is_given(const struct reading *r, enum wd_claim_use use)
{
	size_t i;

	for (i = 0; i < r->words; i++)
		if (r->group->claims[i].member == r->member &&
		    r->group->claims[i].use == use)
			return true;
	return false;
}

/* "FILE: ENTRY.KEY" */
static enum wd_status
make_key(
    const struct reading *r, const struct wd_listed *item, struct wd_buf *key)
{
	const char *entry = item->entry;

	(void)wd_escape(key, wd_bytes_slice(&r->group->claims[r->claim].value));
	(void)wd_buf_text(key, ": ");
	(void)wd_buf_text(key, entry);
	(void)wd_buf_text(
	    key, entry[0] != '\0' && item->key[0] != '\0' ? "." : "");
	return wd_buf_text(key, item->key);
}

static enum wd_status
add_item(struct reading *r, const struct wd_listed *item)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf key = { .data = NULL };
	enum wd_claim_use use = use_of(item->use);
	size_t before = r->group->claim_count;
	enum wd_status st;

	wd_buf_init(&key, 8 * WD_MAX_PATH);
	st = make_key(r, item, &key);
	if (st != WD_OK)
		return st;
	if (!r->many && is_given(r, use))
		use = WD_CLAIM_NAME;
	st = wd_claim_add(r->look, r->group, r->member,
	    WEIGHTD__V1__CLAIM__SOURCE__SOURCE_CONFIGURATION,
	    wd_buf_slice(&key), use, true, item->value);
	if (st != WD_OK || r->group->claim_count == before)
		return st;
	r->group->claims[before].listed = r->many;
	r->group->claims[before].late = r->late;
	return WD_OK;
}

/* ---- one file ------------------------------------------------------------
 */

static enum wd_status
read_file(struct reading *r, enum wd_listing_kind kind)
{
	WD_CLEANUP(wd_listing_release) struct wd_listing list = { 0 };
	const struct wd_member *m = &r->look->members[r->member];
	int64_t set_ns = INT64_MIN;
	size_t i;
	enum wd_status st = wd_cache_read(r->look, m->pid,
	    wd_bytes_slice(&r->group->claims[r->claim].value), kind, &list,
	    &set_ns);

	if (st != WD_OK || !list.complete || list.count > MAX_ENTRIES)
		r->group->checked_claims = false;
	if (st != WD_OK)
		return st == WD_NOMEM ? st : WD_OK;
	r->late = set_ns > m->load_start_ns + r->look->host.tick_ns;
	for (i = 0; i < list.count && i < MAX_ENTRIES && st == WD_OK; i++)
		st = add_item(r, &list.items[i]);
	return st;
}

/* ---- a folder of models ---------------------------------------------------
 */

/* llama-server's router offers each file and each folder of a model that lies
 * there (tools/server/README.md, --models-dir). */
static bool
is_models_folder(const struct wd_engine *engine, const struct wd_claim *claim)
{
	return engine != NULL && strcmp(engine->family, "llama.cpp") == 0 &&
	    is_word(
		"--models-dir --models_dir LLAMA_ARG_MODELS_DIR", claim->key);
}

/* "FOLDER: NAME", when it leads to weights. */
static enum wd_status
add_entry(struct reading *r, struct wd_slice name)
{
	static const struct wd_slice none;
	WD_CLEANUP(wd_buf_release) struct wd_buf key = { .data = NULL };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	struct wd_slice folder =
	    wd_bytes_slice(&r->group->claims[r->claim].value);
	size_t before = r->group->claim_count;
	enum wd_status st = wd_cache_path(&path, folder, name, none, none);

	if (st != WD_OK)
		return st == WD_NOMEM ? st : WD_OK;
	wd_buf_init(&key, 8 * WD_MAX_PATH);
	(void)wd_escape(&key, folder);
	(void)wd_buf_text(&key, ": ");
	st = wd_escape(&key, name);
	if (st == WD_OK)
		st = wd_claim_add(r->look, r->group, r->member,
		    WEIGHTD__V1__CLAIM__SOURCE__SOURCE_CONFIGURATION,
		    wd_buf_slice(&key), WD_CLAIM_MODEL, false,
		    wd_bytes_slice(&path));
	if (st == WD_OK && r->group->claim_count > before)
		r->group->claims[before].listed = true;
	return st;
}

static enum wd_status
read_folder(struct reading *r)
{
	WD_CLEANUP(wd_entries_release)
	struct wd_entries names = { .items = NULL };
	const struct wd_member *m = &r->look->members[r->member];
	enum wd_status st;
	size_t i;
	int fd = -1;

	st = wd_host_open_folder(r->look->with->host, m->pid,
	    wd_bytes_slice(&r->group->claims[r->claim].value), &fd, NULL);
	if (st == WD_OK) {
		st = wd_entries_read(fd, &names);
		(void)close(fd);
	}
	if (st != WD_OK || !names.complete || names.count > MAX_ENTRIES)
		r->group->checked_claims = false;
	if (st != WD_OK)
		return st == WD_NOMEM ? st : WD_OK;
	for (i = 0; i < names.count && i < MAX_ENTRIES && st == WD_OK; i++)
		st = add_entry(r, wd_bytes_slice(&names.items[i]));
	return st;
}

enum wd_status
wd_claim_lists(struct wd_look *look, struct wd_group *group, size_t member,
    struct wd_error *err)
{
	struct reading r = { .look = look,
		.group = group,
		.member = member,
		.words = group->claim_count };
	struct wd_recognition found =
	    wd_engine_recognise(&look->members[member].process);
	enum wd_status st = WD_OK;

	for (r.claim = 0; r.claim < r.words && st == WD_OK; r.claim++) {
		const struct wd_claim *claim = &group->claims[r.claim];
		size_t at = find_list(found.engine, claim->key);

		if (claim->member == member &&
		    is_models_folder(found.engine, claim))
			st = read_folder(&r);
		claim = &group->claims[r.claim];
		if (st != WD_OK || claim->member != member ||
		    !claim->names_list || at == COUNT(lists))
			continue;
		r.many = lists[at].many;
		st = read_file(&r, lists[at].kind);
	}
	return st == WD_OK ? st : wd_fail(err, st, "claims: out of memory");
}
