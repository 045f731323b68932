#include "evidence/caches.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "wire/bundle.h"

/* ---- places --------------------------------------------------------------
 */

static bool
is_ollama_blob(struct wd_slice name)
{
	size_t i;

	if (name.len != 71 || !wd_slice_starts(name, "sha256-"))
		return false;
	for (i = 7; i < name.len; i++)
		if (memchr("0123456789abcdef", name.data[i], 16) == NULL)
			return false;
	return true;
}

static bool
is_hub_root(struct wd_slice root)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf inside = { .data = NULL };
	char repository[256];

	wd_buf_init(&inside, 2 * WD_MAX_PATH);
	(void)wd_buf_append(&inside, root.data, root.len);
	return wd_buf_text(&inside, "/blobs/x") == WD_OK &&
	    wd_hub_repository(
		wd_buf_slice(&inside), repository, sizeof(repository));
}

struct wd_cache_place
wd_cache_place_of(struct wd_slice path)
{
	struct wd_cache_place place, none;
	struct wd_slice rest = path, part;

	memset(&none, 0, sizeof(none));
	place = none;
	while (wd_slice_cut(&rest, '/', &part)) {
		bool blobs = wd_slice_equal(part, wd_slice_text("blobs"));

		place.root.data = path.data;
		place.root.len = part.data == path.data ?
		    0 :
		    (size_t)(part.data - path.data) - 1;
		if (place.root.len == 0 || rest.len == 0 ||
		    (!blobs &&
			!wd_slice_equal(part, wd_slice_text("snapshots"))))
			continue;
		place.blob = blobs ? rest : (struct wd_slice){ NULL, 0 };
		if (blobs && is_ollama_blob(rest)) {
			place.kind = WD_CACHE_OLLAMA;
			return place;
		}
		if (!is_hub_root(place.root))
			continue;
		place.kind = WD_CACHE_HUB;
		if (!blobs)
			(void)wd_slice_cut(&rest, '/', &place.revision);
		return blobs && memchr(rest.data, '/', rest.len) != NULL ?
		    none :
		    place;
	}
	return none;
}

/* ---- roots ---------------------------------------------------------------
 */

static const struct {
	enum wd_cache_kind kind;
	const char *variable, *below;
	bool stays; /* later ones do not count once it is set */
} places[] = {
	/* llama.cpp looks there first. */
	{ WD_CACHE_HUB, "LLAMA_CACHE", "", false },
	/* huggingface_hub/constants.py */
	{ WD_CACHE_HUB, "HF_HUB_CACHE", "", true },
	{ WD_CACHE_HUB, "HUGGINGFACE_HUB_CACHE", "", true },
	{ WD_CACHE_HUB, "TRANSFORMERS_CACHE", "", true },
	{ WD_CACHE_HUB, "HF_HOME", "/hub", true },
	{ WD_CACHE_HUB, "XDG_CACHE_HOME", "/huggingface/hub", true },
	{ WD_CACHE_HUB, "HOME", "/.cache/huggingface/hub", true },
	{ WD_CACHE_OLLAMA, "OLLAMA_MODELS", "", true },
	{ WD_CACHE_OLLAMA, "HOME", "/.ollama/models", false },
};

static const struct wd_variable *
find_variable(const struct wd_process *process, const char *name)
{
	size_t i;

	for (i = 0; i < process->env_count; i++)
		if (strcmp(process->env[i].name, name) == 0 &&
		    process->env[i].value.len > 0)
			return &process->env[i];
	return NULL;
}

enum wd_status
wd_cache_roots(const struct wd_process *process, enum wd_cache_kind kind,
    bool (*each)(void *ctx, struct wd_slice root), void *ctx)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf root = { .data = NULL };
	const struct wd_variable *variable;
	size_t i;

	wd_buf_init(&root, WD_MAX_PATH);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		variable = find_variable(process, places[i].variable);
		if (places[i].kind != kind || variable == NULL)
			continue;
		wd_buf_reset(&root);
		(void)wd_buf_append(
		    &root, variable->value.data, variable->value.len);
		if (wd_buf_text(&root, places[i].below) == WD_NOMEM)
			return WD_NOMEM;
		if ((root.status == WD_OK && !each(ctx, wd_buf_slice(&root))) ||
		    places[i].stays)
			return WD_OK;
	}
	/* Where the package's service keeps them. */
	if (kind == WD_CACHE_OLLAMA)
		(void)each(
		    ctx, wd_slice_text("/usr/share/ollama/.ollama/models"));
	return WD_OK;
}

/* ---- lists ---------------------------------------------------------------
 */

enum wd_status
wd_cache_path(struct wd_bytes *path, struct wd_slice a, struct wd_slice b,
    struct wd_slice c, struct wd_slice d)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf joined = { .data = NULL };
	const struct wd_slice parts[] = { a, b, c, d };
	size_t i;

	wd_buf_init(&joined, WD_MAX_PATH);
	for (i = 0; i < 4; i++) {
		if (parts[i].len == 0)
			continue;
		if (i > 0)
			(void)wd_buf_byte(&joined, '/');
		(void)wd_buf_append(&joined, parts[i].data, parts[i].len);
	}
	return joined.status == WD_OK ?
	    wd_bytes_set(path, wd_buf_slice(&joined)) :
	    joined.status;
}

enum wd_status
wd_cache_read(struct wd_look *look, pid_t pid, struct wd_slice path,
    enum wd_listing_kind kind, struct wd_listing *list, int64_t *set_ns)
{
	WD_CLEANUP(wd_file_release) struct wd_file file = { .fd = -1 };
	enum wd_status st;

	memset(list, 0, sizeof(*list));
	if (wd_deadline_passed(look->deadline))
		return WD_TIMEDOUT;
	st = wd_host_open_path(look->with->host, pid, path, &file, NULL);
	if (st != WD_OK)
		return st;
	*set_ns = file.state.mtime_ns > file.state.ctime_ns ?
	    file.state.mtime_ns :
	    file.state.ctime_ns;
	return wd_reader_names(look->with->reader, file.fd, kind, list, NULL);
}

/* The value of the first item with that use, when `right` says so. */
static enum wd_status
read_one(struct wd_look *look, pid_t pid, struct wd_slice path,
    enum wd_listing_kind kind, enum wd_listed_use use,
    bool (*right)(struct wd_slice value), struct wd_bytes *value,
    int64_t *set_ns)
{
	WD_CLEANUP(wd_listing_release) struct wd_listing list = { 0 };
	enum wd_status st = wd_cache_read(look, pid, path, kind, &list, set_ns);
	size_t i;

	for (i = 0; st == WD_OK && i < list.count; i++)
		if (list.items[i].use == use && right(list.items[i].value))
			return wd_bytes_set(value, list.items[i].value);
	return st == WD_NOMEM ? st : WD_OK;
}

enum wd_status
wd_cache_ref(struct wd_look *look, pid_t pid, struct wd_slice root,
    struct wd_slice name, struct wd_bytes *revision, int64_t *set_ns)
{
	WD_CLEANUP(wd_bytes_release) struct wd_bytes path = { NULL, 0 };
	enum wd_status st = wd_cache_path(
	    &path, root, wd_slice_text("refs"), name, (struct wd_slice){ 0 });

	wd_bytes_release(revision);
	if (st != WD_OK)
		return st == WD_NOMEM ? st : WD_OK;
	return read_one(look, pid, wd_bytes_slice(&path), WD_LISTING_REF,
	    WD_LISTED_REVISION, wd_listing_is_revision, revision, set_ns);
}

enum wd_status
wd_cache_manifest(struct wd_look *look, pid_t pid, struct wd_slice path,
    struct wd_bytes *digest, int64_t *set_ns)
{
	wd_bytes_release(digest);
	return read_one(look, pid, path, WD_LISTING_MANIFEST, WD_LISTED_MODEL,
	    wd_listing_is_digest, digest, set_ns);
}
