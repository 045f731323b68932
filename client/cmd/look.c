#include "cmd/look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest_many.h"
#include "base/escape.h"
#include "base/mem.h"
#include "bundle/arena.h"
#include "bundle/ollama.h"
#include "cmd/progress.h"
#include "host/manners/manners.h"

/* Below this a progress bar would only flicker. */
#define PROGRESS_FROM_BYTES (256UL << 20)

struct progress {
	uint64_t total_bytes;
	int64_t began_boot_ns;
};

/* ---- opening --------------------------------------------------------------
 */

int
wd_look_report(const char *path, enum wd_status st, const char *message)
{
	char shown[512];

	wd_escape_short(shown, sizeof(shown), wd_slice_text(path));
	(void)fprintf(stderr, "weightctl: %s: %s\n", shown, message);
	return st == WD_GONE || st == WD_INVALID ? WD_EXIT_USAGE :
						   WD_EXIT_UNVERIFIABLE;
}

static int
report_errno(const char *path, int os_errno)
{
	enum wd_status st = os_errno == ENOENT || os_errno == ENOTDIR ||
		os_errno == ENAMETOOLONG ?
	    WD_GONE :
	    WD_IO;

	return wd_look_report(path, st, strerror(os_errno));
}

/* The folder of `path`; "." when it names none. */
static int
open_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder WD_CLEANUP(wd_free_scoped) = NULL;

	if (slash == NULL)
		return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = wd_memdup0(path, (size_t)(slash - path) + 1);
	if (folder == NULL) {
		errno = ENOMEM;
		return -1;
	}
	return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Every file stays open to the end, and the largest bundles have more than
 * the usual 1024. */
static void
allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int
open_file(const char *path, int fd, struct wd_look *look)
{
	const char *slash = strrchr(path, '/');
	struct wd_error err;

	wd_error_init(&err);
	look->name = wd_slice_text(slash == NULL ? path : slash + 1);
	wd_kept_init(&look->kept, open_parent(path));
	if (wd_kept_add(&look->kept, look->name, fd, &err) != WD_OK)
		return wd_look_report(path, err.status, err.message);
	return WD_EXIT_MATCH;
}

/* STORE/manifests/HOST/NAMESPACE/MODEL/TAG has its layers in STORE/blobs. The
 * descriptor of that folder, or -1; `look->real` is then the tag's path. */
static int
open_blobs(const char *path, struct wd_look *look)
{
	static const char manifests[] = "/manifests/";
	char real[PATH_MAX], *at, *next;
	char *store WD_CLEANUP(wd_free_scoped) = NULL;
	int fd = -1;

	if (realpath(path, real) == NULL)
		return -1;
	for (at = NULL, next = strstr(real, manifests); next != NULL;
	     next = strstr(next + 1, manifests))
		at = next;
	if (at != NULL)
		store =
		    wd_memdup0(real, (size_t)(at - real) + sizeof("/blobs"));
	if (store == NULL)
		return -1;
	memcpy(store + (at - real), "/blobs", sizeof("/blobs"));
	fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		look->real = wd_memdup0(real, strlen(real));
	return fd;
}

/* The blobs are the folder; the tag is kept under its whole path. */
static int
open_tag(const char *path, int fd, int blobs, struct wd_look *look)
{
	struct wd_error err;

	wd_error_init(&err);
	wd_kept_init(&look->kept, blobs);
	look->name = wd_slice_text(look->real == NULL ? path : look->real);
	look->is_tag = true;
	if (wd_kept_add(&look->kept, look->name, fd, &err) != WD_OK)
		return wd_look_report(path, err.status, err.message);
	return WD_EXIT_MATCH;
}

/* O_NONBLOCK: a FIFO named x.gguf must not block us. */
static int
open_look(const char *path, struct wd_look *look)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat stat;
	int blobs;

	if (fd < 0)
		return report_errno(path, errno);
	allow_many_files();
	if (fstat(fd, &stat) != 0 || !S_ISDIR(stat.st_mode)) {
		blobs = open_blobs(path, look);
		return blobs < 0 ? open_file(path, fd, look) :
				   open_tag(path, fd, blobs, look);
	}
	wd_kept_init(&look->kept, fd);
	return WD_EXIT_MATCH;
}

void
wd_look_release(struct wd_look *look)
{
	wd_bundle_free(&look->bundle);
	wd_free(look->digests);
	wd_kept_release(&look->kept);
	wd_free(look->real);
}

static enum wd_status
describe(struct wd_look *look, struct wd_error *err)
{
	struct wd_folder folder = wd_kept_folder(&look->kept);
	bool has_folder = look->kept.folder.fd >= 0;
	struct wd_source source;

	if (look->name.len == 0)
		return wd_bundle_describe_folder(
		    &folder, NULL, &look->bundle, err);
	/* A copy: the kept files move when more are opened. */
	source = wd_kept_find(&look->kept, look->name)->source;
	if (look->is_tag)
		return wd_ollama_describe(
		    &source, &folder, NULL, &look->bundle, err);
	return wd_bundle_describe(&source, look->name,
	    has_folder ? &folder : NULL, NULL, &look->bundle, err);
}

/* ---- digests --------------------------------------------------------------
 */

/* Called a few times a second. */
static void
show_progress(void *ctx, uint64_t done_bytes)
{
	const struct progress *progress = ctx;
	char text[WD_PROGRESS_BYTES];

	(void)fprintf(stderr, "\rhashing %s\033[K",
	    wd_progress_text(done_bytes, progress->total_bytes,
		wd_clock_boot_ns(&wd_clock_system) - progress->began_boot_ns,
		text));
}

/* As it was opened. */
static struct wd_slice
name_of(const struct wd_bundle_file *file)
{
	if (file->stored_name != NULL)
		return wd_slice_text(file->stored_name);
	return (struct wd_slice){ (const uint8_t *)file->name, file->name_len };
}

static int
report_file(struct wd_slice name, const char *message)
{
	char shown[300];

	wd_escape_short(shown, sizeof(shown), name);
	(void)fprintf(stderr, "weightctl: %s: %s\n", shown, message);
	return WD_EXIT_UNVERIFIABLE;
}

static int
take_digest(struct wd_look *look, size_t at, struct wd_digest_task *task)
{
	const struct wd_bundle_file *file = &look->bundle->files[at];
	struct wd_file_digest *known = &look->digests[at];

	if (task->status == WD_OK)
		task->status = wd_bundle_set_digest(
		    look->bundle, at, &task->sha256, &task->err);
	if (task->status != WD_OK)
		return report_file(name_of(file), task->err.message);
	known->digested_at_ns = task->began_real_ns;
	known->state = WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_COMPUTED;
	return WD_EXIT_MATCH;
}

/* Files of a hub's snapshot are links to blobs, which are named by digest. */
static enum wd_status
follow_link(struct wd_look *look, struct wd_bundle_file *file)
{
	struct wd_buf text WD_CLEANUP(wd_buf_release);
	struct wd_slice rest, part = { NULL, 0 };
	struct wd_sha256 named;

	wd_buf_init(&text, 2 * WD_MAX_PATH);
	if (file->stored_name != NULL || look->kept.folder.fd < 0 ||
	    wd_folder_link(look->kept.folder.fd, name_of(file), &text, NULL) !=
		WD_OK)
		return WD_OK;
	for (rest = wd_buf_slice(&text); wd_slice_cut(&rest, '/', &part);)
		;
	if (!wd_blob_named(part, &named))
		return WD_OK;
	file->stored_name = wd_arena_copy(look->bundle->arena, part);
	return file->stored_name == NULL ? WD_NOMEM : WD_OK;
}

/* A blob's name says what its bytes must be. */
static int
check_blobs(struct wd_look *look)
{
	enum wd_status st = WD_OK;
	struct wd_error err;
	size_t i, wrong = 0;

	wd_error_init(&err);
	for (i = 0; i < look->bundle->file_count && st == WD_OK; i++)
		st = follow_link(look, &look->bundle->files[i]);
	if (st == WD_OK)
		st = wd_blob_check(look->bundle, &wrong, &err);
	if (st != WD_OK)
		return wd_look_report("the names", st, "no memory");
	for (i = 0; i < look->bundle->file_count; i++)
		if (wd_blob_misnamed(&look->bundle->files[i]))
			(void)report_file(name_of(&look->bundle->files[i]),
			    "its bytes are not those that its name says: the "
			    "cache is corrupt; fetch it again");
	return wrong > 0 ? WD_EXIT_MISMATCH : WD_EXIT_MATCH;
}

/* The files that are there, each through the descriptor that it was described
 * through; `places` are their numbers. */
static size_t
list_tasks(const struct wd_look *look, struct wd_digest_task *tasks,
    size_t *places, uint64_t *bytes)
{
	const struct wd_kept_file *kept;
	size_t i, count = 0;

	for (i = 0; i < look->bundle->file_count; i++) {
		const struct wd_bundle_file *file = &look->bundle->files[i];

		if (!file->present)
			continue;
		kept = wd_kept_find(&look->kept, name_of(file));
		tasks[count].fd = kept == NULL ? -1 : kept->fd;
		places[count++] = i;
		*bytes += file->size_bytes;
	}
	return count;
}

static int
hash_files(struct wd_look *look)
{
	size_t most = look->bundle->file_count, i;
	struct wd_digest_task *tasks WD_CLEANUP(wd_free_scoped) =
	    wd_calloc(most, sizeof(*tasks));
	size_t *places WD_CLEANUP(wd_free_scoped) =
	    wd_calloc(most, sizeof(*places));
	struct progress progress = { 0, wd_clock_boot_ns(&wd_clock_system) };
	struct wd_digest_many many = { .tasks = tasks,
		.threads = wd_host_allowed_cores(),
		.manners = wd_host_io_manners(),
		.idle_class = true,
		.tick_ctx = &progress };
	struct wd_error err;
	int code = WD_EXIT_MATCH;

	wd_error_init(&err);
	if (tasks == NULL || places == NULL)
		return wd_look_report("the digests", WD_NOMEM, "no memory");
	many.count = list_tasks(look, tasks, places, &progress.total_bytes);
	if (progress.total_bytes >= PROGRESS_FROM_BYTES &&
	    isatty(STDERR_FILENO))
		many.tick = show_progress;
	if (wd_digest_many(&many, &err) != WD_OK)
		return wd_look_report("the digests", err.status, err.message);
	if (many.tick != NULL)
		(void)fputs("\r\033[K", stderr);
	for (i = 0; i < many.count; i++)
		if (take_digest(look, places[i], &tasks[i]) != WD_EXIT_MATCH)
			code = WD_EXIT_UNVERIFIABLE;
	return code;
}

int
wd_look_hash(struct wd_look *look)
{
	int code = hash_files(look), names = check_blobs(look);

	return names == WD_EXIT_MATCH ? code : names;
}

/* Nothing is printed of a bundle that moved: its headers may be from before,
 * its digests from after. */
int
wd_look_check_unchanged(const struct wd_look *look)
{
	const struct wd_kept_file *changed = wd_kept_changed(&look->kept);

	if (changed == NULL)
		return WD_EXIT_MATCH;
	return report_file((struct wd_slice){ (const uint8_t *)changed->name,
			       changed->name_len },
	    "it changed while the bundle was read; run again when nobody "
	    "writes to it");
}

void
wd_look_init(struct wd_look *look)
{
	*look = (struct wd_look){ .kept = { .folder = { .fd = -1 } } };
}

int
wd_look_describe(struct wd_look *look, const char *path)
{
	struct wd_error err;
	enum wd_status st;
	int code = open_look(path, look);

	if (code != WD_EXIT_MATCH)
		return code;
	wd_error_init(&err);
	st = describe(look, &err);
	if (st != WD_OK)
		return wd_look_report(path, st, err.message);
	look->digests =
	    wd_calloc(look->bundle->file_count, sizeof(*look->digests));
	if (look->digests == NULL)
		return wd_look_report(path, WD_NOMEM, "no memory");
	return WD_EXIT_MATCH;
}
