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
#include "evidence/look.h"

/* Bare words that are tried as paths, for each process. */
#define MAX_BARE 256
/* Folders that are looked into for all claims of a group. */
#define MAX_FOLDERS 32
#define MAX_FOLDER_NAMES 4096

struct names {
	struct wd_bytes *items;
	size_t count, capacity;
	enum wd_status status;
};

static bool
collect_name(void *ctx, struct wd_slice name)
{
	struct names *names = ctx;

	if (names->count == MAX_FOLDER_NAMES)
		return false;
	names->status = wd_grow((void **)&names->items, names->count,
	    &names->capacity, sizeof(*names->items), MAX_FOLDER_NAMES);
	if (names->status != WD_OK)
		return false;
	memset(&names->items[names->count], 0, sizeof(*names->items));
	names->status = wd_bytes_set(&names->items[names->count], name);
	if (names->status != WD_OK)
		return false;
	names->count++;
	return true;
}

static void
names_release(struct names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		wd_bytes_release(&names->items[i]);
	wd_free(names->items);
}

static int
compare_names(const void *a, const void *b)
{
	return wd_slice_compare(wd_bytes_slice(a), wd_bytes_slice(b));
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

/* The file of a folder that somebody holds, else the first, in byte order of
 * names, that holds weights. */
static enum wd_status
follow_folder(struct wd_look *look, struct wd_group *group,
    struct wd_claim *claim, pid_t pid, int fd)
{
	struct wd_folder_fd beneath = { fd, true };
	struct wd_folder folder = wd_folder_over_fd(&beneath);
	WD_CLEANUP(names_release) struct names names = { NULL, 0, 0, WD_OK };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	bool done = false;
	enum wd_status st;
	size_t i;

	st = folder.list(folder.ctx, collect_name, &names, NULL);
	if (st == WD_NOMEM || names.status == WD_NOMEM)
		return WD_NOMEM;
	if (names.count > 1)
		qsort(names.items, names.count, sizeof(*names.items),
		    compare_names);
	for (i = 0; i < names.count && !done; i++) {
		struct wd_file file = { .fd = -1 };

		if (wd_deadline_passed(look->deadline))
			break;
		st = join(&path, wd_bytes_slice(&claim->value),
		    wd_bytes_slice(&names.items[i]));
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

/* Where the value leads, if it is a path of weights as the process sees it. */
static enum wd_status
follow(struct wd_look *look, struct wd_group *group, struct wd_claim *claim,
    pid_t pid)
{
	struct wd_slice value = wd_bytes_slice(&claim->value);
	enum wd_bundle_format format;
	enum wd_status st;
	int fd = -1;

	if (value.len == 0 || value.len >= WD_MAX_PATH ||
	    claim->use == WD_CLAIM_NAME)
		return WD_OK;
	st =
	    wd_host_open_path(look->with->host, pid, value, &claim->file, NULL);
	if (st == WD_OK) {
		st = sniff(look, &claim->file, &format);
		claim->leads_to_file = format != WD_FORMAT_UNKNOWN;
		if (!claim->leads_to_file)
			wd_file_release(&claim->file);
		return st == WD_OK ? wd_bytes_set(&claim->path, value) : st;
	}
	claim->file.fd = -1;
	if (st == WD_NOMEM || group->folders >= MAX_FOLDERS)
		return st == WD_NOMEM ? st : WD_OK;
	st = wd_host_open_folder(look->with->host, pid, value, &fd, NULL);
	if (st != WD_OK)
		return st == WD_NOMEM ? st : WD_OK;
	group->folders++;
	st = follow_folder(look, group, claim, pid, fd);
	(void)close(fd);
	return st;
}

static void
claim_release(struct wd_claim *claim)
{
	wd_free(claim->key);
	wd_bytes_release(&claim->value);
	wd_bytes_release(&claim->path);
	wd_file_release(&claim->file);
}

/* Adds a claim. One whose key says nothing is kept only when its value leads
 * to weights. */
static enum wd_status
add_claim(struct wd_look *look, struct wd_group *group, size_t member,
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
		st = follow(look, group, &claim, look->members[member].pid);
	if (st == WD_OK && (keep || claim.leads_to_file))
		st = wd_grow((void **)&group->claims, group->claim_count,
		    &group->claim_capacity, sizeof(claim),
		    WD_MAX_CANDIDATE_FILES);
	if (st == WD_OK && (keep || claim.leads_to_file)) {
		group->claims[group->claim_count++] = claim;
		return WD_OK;
	}
	claim_release(&claim);
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

/* False for words that name no weights of their own: stores of many models
 * and files of options are followed by nobody. */
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
	enum wd_claim_use use = WD_CLAIM_MODEL;

	if (!use_of(claim->use, &use) && claim->known)
		return true;
	/* What something given later replaces was not loaded by its name. */
	if (claim->overridden)
		use = WD_CLAIM_NAME;
	if (!claim->known && ++t->bare > MAX_BARE)
		return true;
	t->status =
	    add_claim(t->look, t->group, t->member, source_of(claim->source),
		claim->key, use, claim->known, claim->value);
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
	}
	if (t.status != WD_OK)
		return wd_fail(err, t.status, "claims: out of memory");
	return WD_OK;
}
