/*
 * What command lines and environments name. Claims are shown and compared;
 * they are never evidence that a file was loaded.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/claims.h"
#include "host/way.h"

/* Bare words that are tried as paths, for each process. */
#define MAX_BARE 256
/* Folders that are looked into for all claims of a group. */
#define MAX_FOLDERS 32

static bool
collect_name(void *ctx, struct wd_slice name)
{
	struct wd_entries *e = ctx;
	enum wd_status st = wd_grow((void **)&e->items, e->count, &e->capacity,
	    sizeof(*e->items), WD_MAX_FOLDER_ENTRIES);

	if (st == WD_OK) {
		memset(&e->items[e->count], 0, sizeof(*e->items));
		st = wd_bytes_set(&e->items[e->count], name);
	}
	e->complete &= st == WD_OK;
	if (st == WD_NOMEM)
		e->status = st;
	if (st == WD_OK)
		e->count++;
	return st == WD_OK;
}

void
wd_entries_release(struct wd_entries *entries)
{
	size_t i;

	for (i = 0; i < entries->count; i++)
		wd_bytes_release(&entries->items[i]);
	wd_free(entries->items);
	memset(entries, 0, sizeof(*entries));
}

static int
compare_names(const void *a, const void *b)
{
	return wd_slice_compare(wd_bytes_slice(a), wd_bytes_slice(b));
}

enum wd_status
wd_entries_read(int fd, struct wd_entries *entries)
{
	struct wd_folder_fd beneath = { fd, true };
	struct wd_folder folder = wd_folder_over_fd(&beneath);
	enum wd_status st;

	memset(entries, 0, sizeof(*entries));
	entries->complete = true;
	st = folder.list(folder.ctx, collect_name, entries, NULL);
	if (entries->status != WD_OK)
		st = entries->status;
	if (entries->count > 1)
		qsort(entries->items, entries->count, sizeof(*entries->items),
		    compare_names);
	return st;
}

/* WD_FORMAT_UNKNOWN also when it cannot be read: a claim is not evidence. */
static enum wd_status
sniff(struct wd_look *look, const struct wd_file *file,
    enum wd_bundle_format *format)
{
	enum wd_status st =
	    wd_reader_sniff(look->with->reader, file->fd, format, NULL);

	if (st != WD_OK)
		*format = WD_FORMAT_UNKNOWN;
	return st == WD_NOMEM ? st : WD_OK;
}

static enum wd_status
join(struct wd_bytes *path, struct wd_slice folder, struct wd_slice name)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf joined;

	wd_buf_init(&joined, WD_MAX_PATH);
	(void)wd_buf_append(&joined, folder.data, folder.len);
	if (folder.len > 0 && folder.data[folder.len - 1] != '/')
		(void)wd_buf_byte(&joined, '/');
	(void)wd_buf_append(&joined, name.data, name.len);
	if (joined.status != WD_OK)
		return joined.status;
	return wd_bytes_set(path, wd_buf_slice(&joined));
}

/* "m-00002-of-00005.gguf" without the number of the shard. */
static struct wd_slice
set_of(struct wd_slice name)
{
	static const size_t tail = sizeof("00002-of-00005.gguf") - 1;

	if (name.len <= tail ||
	    memcmp(name.data + name.len - tail + 5, "-of-", 4) != 0)
		return name;
	return (struct wd_slice){ name.data, name.len - tail };
}

/* Takes the file over into the claim, or closes it. */
static enum wd_status
consider(struct wd_look *look, struct wd_group *group, struct wd_claim *claim,
    struct wd_bytes *path, struct wd_file *file, bool *done)
{
	enum wd_bundle_format format;
	enum wd_status st = sniff(look, file, &format);
	bool held = wd_group_find_held(group, &file->state) != WD_NONE;

	*done = st != WD_OK;
	if (format == WD_FORMAT_UNKNOWN) {
		wd_file_release(file);
		return st;
	}
	/* Several models in one folder: which one is meant the name does not
	 * say, unless one is held. */
	claim->several |= claim->leads_to_file && format == WD_FORMAT_GGUF &&
	    !wd_slice_equal(set_of(wd_bytes_slice(path)),
		set_of(wd_bytes_slice(&claim->path)));
	if (claim->leads_to_file && !held) {
		wd_file_release(file);
		return WD_OK;
	}
	wd_file_release(&claim->file);
	claim->file = *file;
	claim->leads_to_file = true;
	if (held)
		claim->several = false;
	*done = held;
	return wd_bytes_set(&claim->path, wd_bytes_slice(path));
}

static uint8_t
lower(uint8_t byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

/* In any letter case: "Q4_K_M" is asked for as "q4_k_m". */
static bool
contains(struct wd_slice name, struct wd_slice part)
{
	size_t at, i;

	for (at = 0; at + part.len <= name.len; at++) {
		for (i = 0; i < part.len; i++)
			if (lower(name.data[at + i]) != lower(part.data[i]))
				break;
		if (i == part.len)
			return true;
	}
	return false;
}

/* The file of a folder that somebody holds, else the first, in byte order of
 * names, that holds weights. */
static enum wd_status
follow_folder(struct wd_look *look, struct wd_group *group,
    struct wd_claim *claim, pid_t pid, int fd, struct wd_slice at,
    struct wd_slice within)
{
	WD_CLEANUP(wd_entries_release) struct wd_entries names;
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	bool done = false;
	enum wd_status st = wd_entries_read(fd, &names);
	size_t i;

	if (st == WD_NOMEM)
		return st;
	for (i = 0; i < names.count && !done; i++) {
		struct wd_file file = { .fd = -1 };

		if (!contains(wd_bytes_slice(&names.items[i]), within))
			continue;
		if (wd_deadline_passed(look->deadline))
			break;
		st = join(&path, at, wd_bytes_slice(&names.items[i]));
		if (st == WD_OK)
			st = wd_host_open_path(look->with->host, pid,
			    wd_bytes_slice(&path), &file, NULL);
		if (st == WD_OK)
			st = consider(look, group, claim, &path, &file, &done);
		if (st == WD_NOMEM)
			return st;
	}
	if (claim->several) {
		claim->leads_to_file = false;
		wd_file_release(&claim->file);
	}
	return WD_OK;
}

/* Whether the path may have led elsewhere when the process loaded it; `ns`:
 * when a folder in which the file was looked for last changed. */
static enum wd_status
date_way(struct wd_look *look, struct wd_claim *claim, pid_t pid, int64_t ns)
{
	int64_t latest =
	    look->members[claim->member].load_start_ns + look->host.tick_ns;
	struct wd_way way;
	enum wd_status st;

	if (!claim->leads_to_file)
		return WD_OK;
	st = wd_host_way(
	    look->with->host, pid, wd_bytes_slice(&claim->path), 0, &way, NULL);
	claim->led_anew = st != WD_OK || way.mounted ||
	    way.changed_ns > latest || ns > latest;
	return st == WD_NOMEM ? st : WD_OK;
}

/* A file that was removed since leaves no other trace. */
static int64_t
folder_changed(struct wd_look *look, int fd)
{
	struct wd_file_state state;

	if (wd_host_file_state(look->with->host, fd, &state, NULL) != WD_OK)
		return INT64_MAX;
	return state.ctime_ns > state.mtime_ns ? state.ctime_ns :
						 state.mtime_ns;
}

enum wd_status
wd_claim_follow(struct wd_look *look, struct wd_group *group,
    struct wd_claim *claim, pid_t pid, struct wd_slice path,
    struct wd_slice within)
{
	int64_t changed_ns;
	enum wd_bundle_format format;
	enum wd_status st;
	int fd = -1;

	if (path.len == 0 || path.len >= WD_MAX_PATH ||
	    claim->use == WD_CLAIM_NAME)
		return WD_OK;
	st = wd_host_open_path(look->with->host, pid, path, &claim->file, NULL);
	if (st == WD_OK) {
		st = sniff(look, &claim->file, &format);
		claim->leads_to_file = format != WD_FORMAT_UNKNOWN;
		if (!claim->leads_to_file)
			wd_file_release(&claim->file);
		if (st == WD_OK)
			st = wd_bytes_set(&claim->path, path);
		return st == WD_OK ? date_way(look, claim, pid, INT64_MIN) : st;
	}
	claim->file.fd = -1;
	if (st == WD_NOMEM || group->folders >= MAX_FOLDERS)
		return st == WD_NOMEM ? st : WD_OK;
	st = wd_host_open_folder(look->with->host, pid, path, &fd, NULL);
	if (st != WD_OK)
		return st == WD_NOMEM ? st : WD_OK;
	group->folders++;
	st = follow_folder(look, group, claim, pid, fd, path, within);
	changed_ns = folder_changed(look, fd);
	(void)close(fd);
	return st == WD_OK ? date_way(look, claim, pid, changed_ns) : st;
}

enum wd_status
wd_claim_add(struct wd_look *look, struct wd_group *group, size_t member,
    Weightd__V1__Claim__Source source, struct wd_slice key,
    enum wd_claim_use use, bool keep, struct wd_slice value)
{
	struct wd_claim claim;
	enum wd_status st;

	memset(&claim, 0, sizeof(claim));
	claim.file.fd = -1;
	claim.source = source;
	claim.member = member;
	claim.use = use;
	claim.agrees = WD_NOT_KNOWN;
	claim.key = wd_memdup0(key.data, key.len);
	st = claim.key == NULL ? WD_NOMEM : wd_bytes_set(&claim.value, value);
	if (st == WD_OK)
		st = wd_claim_follow(look, group, &claim,
		    look->members[member].pid, wd_bytes_slice(&claim.value),
		    (struct wd_slice){ NULL, 0 });
	if (st == WD_OK && (keep || claim.leads_to_file))
		st = wd_grow((void **)&group->claims, group->claim_count,
		    &group->claim_capacity, sizeof(claim),
		    WD_MAX_CANDIDATE_FILES);
	if (st == WD_OK && (keep || claim.leads_to_file)) {
		group->claims[group->claim_count++] = claim;
		return WD_OK;
	}
	wd_claim_release(&claim);
	if (st != WD_LIMIT)
		return st;
	group->checked_claims = false;
	return WD_OK;
}

struct taking {
	struct wd_look *look;
	struct wd_group *group;
	size_t member;
	unsigned bare;
	enum wd_status status;
};

static Weightd__V1__Claim__Source
source_of(enum wd_engine_source source)
{
	switch (source) {
	case WD_ENGINE_ARGV:
		return WEIGHTD__V1__CLAIM__SOURCE__SOURCE_ARGV;
	case WD_ENGINE_TITLE:
		return WEIGHTD__V1__CLAIM__SOURCE__SOURCE_TITLE;
	case WD_ENGINE_ENVIRONMENT:
		break;
	}
	return WEIGHTD__V1__CLAIM__SOURCE__SOURCE_ENVIRONMENT;
}

/* False for words that name no weights of their own. */
static bool
use_of(enum wd_engine_use use, enum wd_claim_use *claim_use)
{
	switch (use) {
	case WD_ENGINE_MODEL:
		*claim_use = WD_CLAIM_MODEL;
		return true;
	case WD_ENGINE_DRAFT:
		*claim_use = WD_CLAIM_DRAFT;
		return true;
	case WD_ENGINE_ADAPTER:
		*claim_use = WD_CLAIM_ADAPTER;
		return true;
	case WD_ENGINE_PROJECTOR:
		*claim_use = WD_CLAIM_PROJECTOR;
		return true;
	case WD_ENGINE_NAME:
	case WD_ENGINE_STORE:
	case WD_ENGINE_CONFIG:
		*claim_use = WD_CLAIM_NAME;
		return true;
	case WD_ENGINE_NO_USE:
	case WD_ENGINE_TOKENIZER:
		break;
	}
	return false;
}

static bool
take_claim(void *ctx, const struct wd_engine_claim *claim)
{
	struct taking *t = ctx;
	size_t before = t->group->claim_count;
	enum wd_claim_use use = WD_CLAIM_MODEL;

	if (!use_of(claim->use, &use) && claim->known)
		return true;
	/* What something given later replaces was not loaded by its name. */
	if (claim->overridden)
		use = WD_CLAIM_NAME;
	if (!claim->known && ++t->bare > MAX_BARE)
		return true;
	t->status =
	    wd_claim_add(t->look, t->group, t->member, source_of(claim->source),
		claim->key, use, claim->known, claim->value);
	if (t->group->claim_count > before)
		t->group->claims[before].names_list =
		    claim->use == WD_ENGINE_CONFIG && !claim->overridden;
	return t->status == WD_OK;
}

enum wd_status
wd_look_claims(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	struct taking t = { look, group, 0, 0, WD_OK };
	size_t i;

	group->checked_claims = true;
	for (i = 0; i < group->member_count && t.status == WD_OK; i++) {
		t.member = group->members[i];
		t.bare = 0;
		/* What talks to the server names nothing for it. */
		if (look->members[t.member].candidate &&
		    look->members[t.member].role != WD_MEMBER_TIED &&
		    !wd_engine_claims(
			&look->members[t.member].process, take_claim, &t))
			group->checked_claims = false;
		if (look->members[t.member].candidate && t.status == WD_OK)
			t.status = wd_claim_lists(look, group, t.member, err);
		if (look->members[t.member].candidate && t.status == WD_OK)
			t.status = wd_claim_names(look, group, t.member, err);
	}
	if (t.status != WD_OK)
		return wd_fail(err, t.status, "claims: out of memory");
	return WD_OK;
}
