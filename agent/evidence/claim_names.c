/*
 * Claims that are names: a repository's id, which a hub cache leads to files,
 * and a tag, which an Ollama store does. Only what lies in those caches now is
 * looked at: where a name led when the process loaded it, nobody has written
 * down.
 */
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/caches.h"
#include "evidence/claims.h"

/* One claim while it is followed. */
struct naming {
	struct wd_look *look;
	struct wd_group *group;
	size_t claim; /* index: adding claims moves them */
	const struct wd_member *member;
	struct wd_slice revision; /* that was asked for; else "main" */
	bool asked_revision;
	enum wd_status status;
};

static struct wd_claim *
claim_of(const struct naming *n)
{
	return &n->group->claims[n->claim];
}

static const struct wd_slice nothing;

/* ---- what a name looks like -----------------------------------------------
 */

static bool
is_part(struct wd_slice part)
{
	size_t i;

	if (!wd_folder_name_allowed(part) || part.data[0] == '-')
		return false;
	for (i = 0; i < part.len; i++)
		if (memchr("0123456789abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-",
			part.data[i], 65) == NULL)
			return false;
	return true;
}

/* "ORG/NAME" or "NAME", either with ":QUANT" behind it. */
static bool
is_repository(
    struct wd_slice value, struct wd_slice parts[2], struct wd_slice *quant)
{
	struct wd_slice id;

	(void)wd_slice_cut(&value, ':', &id);
	*quant = value;
	(void)wd_slice_cut(&id, '/', &parts[0]);
	parts[1] = id;
	return is_part(parts[0]) && (id.len == 0 || is_part(id));
}

/* [HOST/][NAMESPACE/]MODEL[:TAG] (Ollama, types/model/name.go). */
static bool
is_tag(struct wd_slice value, struct wd_slice parts[4])
{
	size_t count = 0, i;
	struct wd_slice part;

	parts[0] = wd_slice_text("registry.ollama.ai");
	parts[1] = wd_slice_text("library");
	parts[3] = wd_slice_text("latest");
	for (i = value.len; i > 0 && value.data[i - 1] != '/'; i--) {
		if (value.data[i - 1] != ':')
			continue;
		parts[3].data = value.data + i;
		parts[3].len = value.len - i;
		value.len = i - 1;
		break;
	}
	for (i = 0; i < value.len; i++)
		count += value.data[i] == '/';
	if (count > 2)
		return false;
	for (i = 2 - count; i < 3; i++) {
		(void)wd_slice_cut(&value, '/', &part);
		parts[i] = part;
	}
	for (i = 1; i < 4; i++)
		if (!is_part(parts[i]))
			return false;
	/* A host can have a port. */
	return wd_folder_name_allowed(parts[0]);
}

/* ---- both ----------------------------------------------------------------
 */

static bool
is_late(const struct naming *n, int64_t set_ns)
{
	return set_ns > n->member->load_start_ns + n->look->host.tick_ns;
}

static enum wd_status
set_escaped(struct wd_bytes *bytes, struct wd_slice from)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { .data = NULL };

	wd_buf_init(&text, 4 * WD_MAX_PATH);
	if (wd_escape(&text, from) != WD_OK)
		return text.status;
	return wd_bytes_set(bytes, wd_buf_slice(&text));
}

static enum wd_status
keep_store(const struct naming *n, struct wd_slice root, struct wd_slice label)
{
	enum wd_status st = wd_bytes_set(&claim_of(n)->store, root);

	return st == WD_OK ? wd_bytes_set(&claim_of(n)->label, label) : st;
}

static bool
is_folder(const struct naming *n, struct wd_slice path)
{
	int fd = -1;

	if (wd_host_open_folder(
		n->look->with->host, n->member->pid, path, &fd, NULL) != WD_OK)
		return false;
	(void)close(fd);
	return true;
}

/* ---- Hugging Face hub -----------------------------------------------------
 */

static enum wd_status
follow_revision(const struct naming *n, struct wd_slice root,
    struct wd_slice revision, struct wd_slice quant)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes folder = { NULL, 0 };
	enum wd_status st = wd_cache_path(
	    &folder, root, wd_slice_text("snapshots"), revision, nothing);

	return st == WD_OK ?
	    wd_claim_follow(n->look, n->group, claim_of(n), n->member->pid,
		wd_bytes_slice(&folder), quant) :
	    st;
}

static enum wd_status
follow_repository(struct naming *n, struct wd_slice root, struct wd_slice quant)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes found = { NULL, 0 };
	int64_t set_ns = INT64_MIN;
	enum wd_status st = wd_cache_ref(
	    n->look, n->member->pid, root, n->revision, &found, &set_ns);

	if (st == WD_OK)
		st = keep_store(n, root, n->revision);
	/* What was asked for may be a revision itself: those do not move. */
	if (st == WD_OK && found.len == 0 && n->asked_revision &&
	    wd_listing_is_revision(n->revision))
		st = wd_bytes_set(&found, n->revision);
	if (st != WD_OK || found.len == 0)
		return st;
	claim_of(n)->late |= is_late(n, set_ns);
	st = wd_bytes_set(&claim_of(n)->stored, wd_bytes_slice(&found));
	return st == WD_OK ?
	    follow_revision(n, root, wd_bytes_slice(&found), quant) :
	    st;
}

static bool
try_hub(void *ctx, struct wd_slice root)
{
	struct naming *n = ctx;
	WD_CLEANUP(wd_buf_release) struct wd_buf name = { .data = NULL };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes folder = { NULL, 0 };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes value = { NULL, 0 };
	struct wd_slice parts[2], quant;

	/* The claim's own value may move when claims are added. */
	n->status = wd_bytes_set(&value, wd_bytes_slice(&claim_of(n)->value));
	if (n->status != WD_OK ||
	    !is_repository(wd_bytes_slice(&value), parts, &quant))
		return false;
	wd_buf_init(&name, WD_MAX_PATH);
	(void)wd_buf_text(&name, "models--");
	(void)wd_buf_append(&name, parts[0].data, parts[0].len);
	(void)wd_buf_text(&name, parts[1].len > 0 ? "--" : "");
	(void)wd_buf_append(&name, parts[1].data, parts[1].len);
	n->status = name.status;
	if (n->status == WD_OK)
		n->status = wd_cache_path(
		    &folder, root, wd_buf_slice(&name), nothing, nothing);
	if (n->status != WD_OK || !is_folder(n, wd_bytes_slice(&folder)))
		return n->status != WD_NOMEM;
	n->status = follow_repository(n, wd_bytes_slice(&folder), quant);
	return false;
}

/* ---- Ollama --------------------------------------------------------------
 */

static bool
layer_claim(enum wd_listed_use use, enum wd_claim_use *claim_use)
{
	*claim_use =
	    use == WD_LISTED_ADAPTER ? WD_CLAIM_ADAPTER : WD_CLAIM_PROJECTOR;
	return use == WD_LISTED_ADAPTER || use == WD_LISTED_PROJECTOR;
}

/* "sha256:HEX" as the name of a blob. */
static enum wd_status
blob_path(struct wd_bytes *path, struct wd_slice root, struct wd_slice digest)
{
	enum wd_status st =
	    wd_cache_path(path, root, wd_slice_text("blobs"), digest, nothing);

	if (st == WD_OK)
		path->data[path->len - digest.len + 6] = '-';
	return st;
}

/* Adapters and projectors are layers of their own. */
static enum wd_status
add_layers(struct naming *n, struct wd_slice root,
    const struct wd_listing *list, struct wd_slice manifest)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes key = { NULL, 0 };
	size_t member = claim_of(n)->member, i;
	enum wd_status st = set_escaped(&key, manifest);
	enum wd_claim_use use;

	for (i = 0; i < list->count && st == WD_OK; i++) {
		if (!layer_claim(list->items[i].use, &use) ||
		    !wd_listing_is_digest(list->items[i].value))
			continue;
		st = blob_path(&path, root, list->items[i].value);
		if (st == WD_OK)
			st = wd_claim_add(n->look, n->group, member,
			    WEIGHTD__V1__CLAIM__SOURCE__SOURCE_CONFIGURATION,
			    wd_bytes_slice(&key), use, true,
			    wd_bytes_slice(&path));
	}
	return st;
}

static enum wd_status
follow_layers(struct naming *n, struct wd_slice root,
    const struct wd_listing *list, struct wd_slice manifest)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->items[i].use == WD_LISTED_MODEL &&
		    wd_listing_is_digest(list->items[i].value))
			break;
	if (i < list->count) {
		st = wd_bytes_set(&claim_of(n)->stored, list->items[i].value);
		if (st == WD_OK)
			st = blob_path(&path, root, list->items[i].value);
		if (st == WD_OK)
			st = wd_claim_follow(n->look, n->group, claim_of(n),
			    n->member->pid, wd_bytes_slice(&path), nothing);
	}
	return st == WD_OK ? add_layers(n, root, list, manifest) : st;
}

static bool
try_ollama(void *ctx, struct wd_slice root)
{
	struct naming *n = ctx;
	WD_CLEANUP(wd_listing_release) struct wd_listing list = { 0 };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes tag = { NULL, 0 };
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	struct wd_slice parts[4];
	int64_t set_ns = INT64_MIN;
	enum wd_status st;

	if (!is_tag(wd_bytes_slice(&claim_of(n)->value), parts))
		return false;
	n->status = wd_cache_path(
	    &path, root, wd_slice_text("manifests"), parts[0], parts[1]);
	if (n->status == WD_OK && !is_folder(n, wd_bytes_slice(&path)))
		return true;
	if (n->status == WD_OK)
		n->status = wd_cache_path(
		    &tag, wd_bytes_slice(&path), parts[2], parts[3], nothing);
	if (n->status == WD_OK)
		n->status =
		    keep_store(n, root, wd_bytes_slice(&claim_of(n)->value));
	if (n->status != WD_OK)
		return n->status == WD_LIMIT;
	st = wd_cache_read(n->look, n->member->pid, wd_bytes_slice(&tag),
	    WD_LISTING_MANIFEST, &list, &set_ns);
	claim_of(n)->late |= st == WD_OK && is_late(n, set_ns);
	if (st == WD_OK || st == WD_NOMEM)
		n->status = st == WD_OK ?
		    follow_layers(n, root, &list, wd_bytes_slice(&tag)) :
		    st;
	return false;
}

/* ---- claims --------------------------------------------------------------
 */

static bool
wants_name(const struct wd_claim *claim, size_t member)
{
	struct wd_slice value = wd_bytes_slice(&claim->value);

	return claim->member == member && claim->use != WD_CLAIM_NAME &&
	    !claim->leads_to_file && claim->path.len == 0 && value.len > 0 &&
	    value.data[0] != '/' && value.data[0] != '.';
}

static bool
is_ollama(const struct wd_process *process)
{
	struct wd_recognition found = wd_engine_recognise(process);
	size_t i;

	for (i = 0; i < process->env_count; i++)
		if (strcmp(process->env[i].name, "OLLAMA_MODELS") == 0)
			return true;
	return found.engine != NULL &&
	    strcmp(found.engine->family, "ollama") == 0;
}

/* vLLM and SGLang; TGI: the hub's cache by option. */
static bool
is_cache_option(const struct wd_claim *claim)
{
	static const char *const options[] = { "--download-dir",
		"--huggingface-hub-cache", "--weights-cache-override",
		"WEIGHTS_CACHE_OVERRIDE" };
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(claim->key, options[i]) == 0)
			return true;
	return false;
}

/* What an option names counts before the environment. */
static void
try_options(struct naming *n)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes root = { NULL, 0 };
	size_t i, member = claim_of(n)->member;
	bool more = true;

	for (i = 0; i < n->group->claim_count && more; i++) {
		if (n->group->claims[i].member != member ||
		    !is_cache_option(&n->group->claims[i]))
			continue;
		/* The claims may move while one is followed. */
		n->status = wd_bytes_set(
		    &root, wd_bytes_slice(&n->group->claims[i].value));
		more = n->status == WD_OK && try_hub(n, wd_bytes_slice(&root));
	}
}

static enum wd_status
follow_name(struct naming *n)
{
	const struct wd_process *p = &n->member->process;
	enum wd_status st = WD_OK;

	n->status = WD_OK;
	try_options(n);
	if (n->status == WD_OK && claim_of(n)->store.len == 0)
		st = wd_cache_roots(p, WD_CACHE_HUB, try_hub, n);
	if (st == WD_OK && n->status == WD_OK && claim_of(n)->store.len == 0 &&
	    is_ollama(p))
		st = wd_cache_roots(p, WD_CACHE_OLLAMA, try_ollama, n);
	/* A name that is too long for a path leads nowhere. */
	return st == WD_NOMEM || n->status == WD_NOMEM ? WD_NOMEM : WD_OK;
}

static void
find_revision(struct naming *n, const struct wd_run_settings *run)
{
	size_t i;

	n->revision = wd_slice_text("main");
	for (i = 0; i < run->count; i++) {
		if (strcmp(run->items[i].key, "run.revision") != 0)
			continue;
		n->revision = wd_slice_text(run->items[i].value);
		n->asked_revision = true;
	}
}

/* A branch may have '/' in its name ("refs/pr/1"), but leads nowhere else. */
static bool
is_branch(struct wd_slice name)
{
	struct wd_slice part;

	if (name.len == 0)
		return false;
	while (wd_slice_cut(&name, '/', &part))
		if (!wd_folder_name_allowed(part))
			return false;
	return true;
}

enum wd_status
wd_claim_names(struct wd_look *look, struct wd_group *group, size_t member,
    struct wd_error *err)
{
	struct naming n = {
		.look = look, .group = group, .member = &look->members[member]
	};
	struct wd_run_settings run;
	size_t count = group->claim_count, i;
	enum wd_status st;

	memset(&run, 0, sizeof(run));
	st = wd_engine_run_settings(&n.member->process, &run, err);
	if (st != WD_OK)
		return st;
	find_revision(&n, &run);
	for (i = 0; i < count && st == WD_OK && is_branch(n.revision); i++) {
		n.claim = i;
		if (wants_name(&group->claims[i], member))
			st = follow_name(&n);
	}
	wd_run_settings_release(&run);
	return st;
}
