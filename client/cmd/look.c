#include "cmd/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest_job.h"
#include "base/escape.h"
#include "base/mem.h"
#include "host/manners/manners.h"

/* Below this a progress bar would only flicker. */
#define PROGRESS_FROM_BYTES (256UL << 20)

struct progress {
	bool is_shown;
	uint64_t before_bytes; /* of the files that are done */
	uint64_t total_bytes;
	uint64_t percent;
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

/* O_NONBLOCK: a FIFO named x.gguf must not block us. */
static int
open_look(const char *path, struct wd_look *look)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat stat;

	if (fd < 0)
		return report_errno(path, errno);
	allow_many_files();
	if (fstat(fd, &stat) != 0 || !S_ISDIR(stat.st_mode))
		return open_file(path, fd, look);
	wd_kept_init(&look->kept, fd);
	return WD_EXIT_MATCH;
}

void
wd_look_release(struct wd_look *look)
{
	wd_bundle_free(&look->bundle);
	wd_free(look->digests);
	wd_kept_release(&look->kept);
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
	return wd_bundle_describe(&source, look->name,
	    has_folder ? &folder : NULL, NULL, &look->bundle, err);
}

/* ---- digests --------------------------------------------------------------
 */

/* Called about every MiB; never stops the job. */
static bool
show_progress(void *ctx, uint64_t done_bytes)
{
	struct progress *progress = ctx;
	uint64_t percent = (progress->before_bytes + done_bytes) /
	    (progress->total_bytes / 100 + 1);

	if (!progress->is_shown || percent == progress->percent)
		return true;
	progress->percent = percent;
	(void)fprintf(stderr, "\rhashing %3u %%", (unsigned)percent);
	return true;
}

static void
end_progress(struct progress *progress)
{
	if (progress->is_shown)
		(void)fputs("\r             \r", stderr);
	progress->is_shown = false;
}

static struct wd_slice
name_of(const struct wd_bundle_file *file)
{
	return (struct wd_slice){ (const uint8_t *)file->name, file->name_len };
}

/* Through the descriptor that the file was described through. */
static enum wd_status
hash_file(const struct wd_look *look, const struct wd_bundle_file *file,
    struct progress *progress, struct wd_sha256 *sha256, struct wd_error *err)
{
	const struct wd_kept_file *kept =
	    wd_kept_find(&look->kept, name_of(file));
	struct wd_digest_manner manner = { .idle_class = true,
		.go_on = show_progress,
		.go_on_ctx = progress };

	if (kept == NULL)
		return wd_fail(err, WD_GONE, "it was not opened");
	return wd_digest_job(
	    kept->fd, wd_host_io_manners(), &manner, sha256, err);
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
hash_one(struct wd_look *look, size_t at, struct progress *progress)
{
	const struct wd_bundle_file *file = &look->bundle->files[at];
	struct wd_file_digest *known = &look->digests[at];
	struct wd_sha256 sha256;
	struct wd_error err;

	wd_error_init(&err);
	known->digested_at_ns = wd_clock_real_ns(&wd_clock_system);
	if (hash_file(look, file, progress, &sha256, &err) != WD_OK ||
	    wd_bundle_set_digest(look->bundle, at, &sha256, &err) != WD_OK) {
		known->digested_at_ns = 0;
		end_progress(progress);
		return report_file(name_of(file), err.message);
	}
	progress->before_bytes += file->size_bytes;
	known->state = WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_COMPUTED;
	return WD_EXIT_MATCH;
}

int
wd_look_hash(struct wd_look *look)
{
	struct progress progress = { .percent = UINT64_MAX };
	int code = WD_EXIT_MATCH;
	size_t i;

	for (i = 0; i < look->bundle->file_count; i++)
		progress.total_bytes += look->bundle->files[i].size_bytes;
	progress.is_shown = progress.total_bytes >= PROGRESS_FROM_BYTES &&
	    isatty(STDERR_FILENO);
	for (i = 0; i < look->bundle->file_count; i++)
		if (look->bundle->files[i].present &&
		    hash_one(look, i, &progress) != WD_EXIT_MATCH)
			code = WD_EXIT_UNVERIFIABLE;
	end_progress(&progress);
	return code;
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
