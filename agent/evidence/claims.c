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

struct known_key {
	const char *key;
	enum wd_claim_use use;
};

/* Options that name weights, or only a name, across the common servers. */
static const struct known_key known_options[] = {
	{ "-m", WD_CLAIM_MODEL },
	{ "--model", WD_CLAIM_MODEL },
	{ "--model-path", WD_CLAIM_MODEL },
	{ "--model_path", WD_CLAIM_MODEL },
	{ "--model-id", WD_CLAIM_MODEL },
	{ "-md", WD_CLAIM_DRAFT },
	{ "--model-draft", WD_CLAIM_DRAFT },
	{ "--draft-model", WD_CLAIM_DRAFT },
	{ "--speculative-model", WD_CLAIM_DRAFT },
	{ "--lora", WD_CLAIM_ADAPTER },
	{ "--adapter", WD_CLAIM_ADAPTER },
	{ "--adapter-path", WD_CLAIM_ADAPTER },
	{ "-mm", WD_CLAIM_PROJECTOR },
	{ "--mmproj", WD_CLAIM_PROJECTOR },
	{ "-a", WD_CLAIM_NAME },
	{ "--alias", WD_CLAIM_NAME },
	{ "--served-model-name", WD_CLAIM_NAME },
};

static const struct known_key known_variables[] = {
	{ "LLAMA_ARG_MODEL", WD_CLAIM_MODEL },
	{ "LLAMA_ARG_MODEL_DRAFT", WD_CLAIM_DRAFT },
	{ "LLAMA_ARG_MMPROJ", WD_CLAIM_PROJECTOR },
	{ "LLAMA_ARG_ALIAS", WD_CLAIM_NAME },
	{ "MODEL_PATH", WD_CLAIM_MODEL },
	{ "MODEL_ID", WD_CLAIM_MODEL },
	{ "MODEL", WD_CLAIM_MODEL },
};

/* Bare arguments that are tried as paths, for each process. */
#define MAX_BARE 256
/* Folders that are looked into for all claims of a group. */
#define MAX_FOLDERS 32
#define MAX_FOLDER_NAMES 4096

static const struct known_key *
find_key(const struct known_key *keys, size_t count, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (wd_slice_equal(name, wd_slice_text(keys[i].key)))
			return &keys[i];
	return NULL;
}

#define FIND(table, name)                                                      \
	find_key(table, sizeof(table) / sizeof(table[0]), name)

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

static enum wd_status
claim_argument(struct wd_look *look, struct wd_group *group, size_t member,
    struct wd_slice argument, struct wd_slice *rest, unsigned *bare)
{
	Weightd__V1__Claim__Source source =
	    look->members[member].process.argv_overwritten ?
	    WEIGHTD__V1__CLAIM__SOURCE__SOURCE_TITLE :
	    WEIGHTD__V1__CLAIM__SOURCE__SOURCE_ARGV;
	struct wd_slice value = argument, key = { NULL, 0 };
	const struct known_key *known = FIND(known_options, argument);

	if (known != NULL) {
		if (!wd_slice_cut(rest, 0, &value))
			return WD_OK;
		return add_claim(look, group, member, source, argument,
		    known->use, true, value);
	}
	if (wd_slice_starts(argument, "-")) {
		if (!wd_slice_cut(&value, '=', &key) || value.len == 0)
			return WD_OK;
		known = FIND(known_options, key);
		return add_claim(look, group, member, source, key,
		    known == NULL ? WD_CLAIM_MODEL : known->use, known != NULL,
		    value);
	}
	if (++*bare > MAX_BARE)
		return WD_OK;
	return add_claim(
	    look, group, member, source, key, WD_CLAIM_MODEL, false, argument);
}

static enum wd_status
claims_of_argv(struct wd_look *look, struct wd_group *group, size_t member)
{
	struct wd_slice rest =
	    wd_bytes_slice(&look->members[member].process.argv);
	struct wd_slice argument;
	unsigned bare = 0;
	enum wd_status st;

	/* argv[0] is the program's own name. */
	(void)wd_slice_cut(&rest, 0, &argument);
	while (wd_slice_cut(&rest, 0, &argument)) {
		st =
		    claim_argument(look, group, member, argument, &rest, &bare);
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

static enum wd_status
claims_of_environment(
    struct wd_look *look, struct wd_group *group, size_t member)
{
	const struct wd_process *process = &look->members[member].process;
	size_t i;

	for (i = 0; i < process->env_count; i++) {
		struct wd_slice name = wd_slice_text(process->env[i].name);
		const struct known_key *known = FIND(known_variables, name);
		enum wd_status st = WD_OK;

		if (known != NULL)
			st = add_claim(look, group, member,
			    WEIGHTD__V1__CLAIM__SOURCE__SOURCE_ENVIRONMENT,
			    name, known->use, true,
			    wd_bytes_slice(&process->env[i].value));
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

enum wd_status
wd_look_claims(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i;

	group->checked_claims = true;
	for (i = 0; i < group->member_count && st == WD_OK; i++) {
		size_t member = group->members[i];
		const struct wd_process *p = &look->members[member].process;

		if (!look->members[member].candidate)
			continue;
		if (p->argv_status != WD_OK || p->argv_truncated)
			group->checked_claims = false;
		st = claims_of_argv(look, group, member);
		if (st == WD_OK)
			st = claims_of_environment(look, group, member);
	}
	if (st != WD_OK)
		return wd_fail(err, st, "claims: out of memory");
	return WD_OK;
}
