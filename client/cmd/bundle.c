/* weightctl bundle: the fingerprint of a model on this machine's disk. */
#include "bundle/bundle.h"

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
#include "cmd/cmd.h"
#include "cmd/kept.h"
#include "host/manners/manners.h"
#include "verdict/show.h"
#include "wire/build.h"
#include "wire/bundle.h"
#include "wire/json.h"

/* Below this a progress bar would only flicker. */
#define PROGRESS_FROM_BYTES (256UL << 20)

struct options {
	const char *path;
	bool is_json;
	bool headers_only;
};

/* What is open while the bundle is looked at. */
struct look {
	struct wd_kept kept;
	struct wd_slice name; /* of the file that was given; empty: a folder */
	struct wd_bundle *bundle;
	struct wd_file_digest *digests;
};

struct progress {
	bool is_shown;
	uint64_t before_bytes; /* of the files that are done */
	uint64_t total_bytes;
	uint64_t percent;
};

/* ---- arguments ------------------------------------------------------------
 */

static int
usage_error(const char *why)
{
	(void)fprintf(stderr,
	    "weightctl bundle: %s\n"
	    "usage: weightctl bundle PATH [--format text|json] "
	    "[--headers-only]\n",
	    why);
	return WD_EXIT_USAGE;
}

static const char *
parse_format(const char *value, struct options *options)
{
	if (value == NULL ||
	    (strcmp(value, "text") != 0 && strcmp(value, "json") != 0))
		return "--format takes text or json";
	options->is_json = strcmp(value, "json") == 0;
	return NULL;
}

/* Returns what is wrong, or NULL. */
static const char *
parse_arguments(int argc, char **argv, struct options *options)
{
	static const char format_is[] = "--format=";
	const char *why = NULL;
	bool only_paths = false;
	int i;

	for (i = 1; i < argc && why == NULL; i++) {
		const char *word = argv[i];

		if (only_paths || word[0] != '-') {
			if (options->path != NULL)
				return "more than one path is given";
			options->path = word;
		} else if (strcmp(word, "--") == 0) {
			only_paths = true;
		} else if (strcmp(word, "--headers-only") == 0) {
			options->headers_only = true;
		} else if (strcmp(word, "--format") == 0) {
			why = parse_format(
			    i + 1 < argc ? argv[++i] : NULL, options);
		} else if (strncmp(word, format_is, strlen(format_is)) == 0) {
			why = parse_format(word + strlen(format_is), options);
		} else {
			return "an option is not known";
		}
	}
	if (why == NULL && (options->path == NULL || options->path[0] == '\0'))
		return "no path is given";
	return why;
}

/* ---- opening --------------------------------------------------------------
 */

/* Says why, with the path escaped. A path that is not there is the caller's
 * mistake; one that cannot be read leaves the question open. */
static int
report(const char *path, enum wd_status st, const char *message)
{
	char shown[512];

	wd_escape_short(shown, sizeof(shown), wd_slice_text(path));
	(void)fprintf(stderr, "weightctl bundle: %s: %s\n", shown, message);
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

	return report(path, st, strerror(os_errno));
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
open_file(const char *path, int fd, struct look *look)
{
	const char *slash = strrchr(path, '/');
	struct wd_error err;

	wd_error_init(&err);
	look->name = wd_slice_text(slash == NULL ? path : slash + 1);
	wd_kept_init(&look->kept, open_parent(path));
	if (wd_kept_add(&look->kept, look->name, fd, &err) != WD_OK)
		return report(path, err.status, err.message);
	return WD_EXIT_MATCH;
}

/* O_NONBLOCK: a FIFO named x.gguf must not block us. */
static int
open_look(const char *path, struct look *look)
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

static void
close_look(struct look *look)
{
	wd_bundle_free(&look->bundle);
	wd_free(look->digests);
	wd_kept_release(&look->kept);
}

static enum wd_status
describe(struct look *look, struct wd_error *err)
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
hash_file(const struct look *look, const struct wd_bundle_file *file,
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
	(void)fprintf(stderr, "weightctl bundle: %s: %s\n", shown, message);
	return WD_EXIT_UNVERIFIABLE;
}

static int
hash_one(struct look *look, size_t at, struct progress *progress)
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

static int
hash_all(struct look *look)
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
static int
check_unchanged(const struct look *look)
{
	const struct wd_kept_file *changed = wd_kept_changed(&look->kept);

	if (changed == NULL)
		return WD_EXIT_MATCH;
	return report_file((struct wd_slice){ (const uint8_t *)changed->name,
			       changed->name_len },
	    "it changed while the bundle was read; run again when nobody "
	    "writes to it");
}

/* ---- output ---------------------------------------------------------------
 */

static enum wd_status
render(const struct look *look, const struct options *options,
    struct wd_buf *out, struct wd_error *err)
{
	Weightd__V1__Bundle *message WD_CLEANUP(wd_message_free_scoped) = NULL;
	enum wd_status st = wd_bundle_message(look->bundle, look->digests,
	    wd_slice_text(options->path), &message, err);

	if (st != WD_OK)
		return st;
	if (options->is_json)
		return wd_message_print_json(
		    &message->base, WD_JSON_INDENTED, out, err);
	st = wd_show_bundle(message, isatty(STDOUT_FILENO) != 0, out);
	return st == WD_OK ? st : wd_fail(err, st, "no memory for the text");
}

static int
print_look(const struct look *look, const struct options *options)
{
	struct wd_buf out WD_CLEANUP(wd_buf_release);
	struct wd_error err;

	wd_error_init(&err);
	wd_buf_init(&out, WD_MAX_MESSAGE);
	if (render(look, options, &out, &err) != WD_OK)
		return report(options->path, WD_IO, err.message);
	if (fwrite(out.data, 1, out.len, stdout) != out.len ||
	    fflush(stdout) != 0)
		return report("standard output", WD_IO, strerror(errno));
	return WD_EXIT_MATCH;
}

static int
look_at(struct look *look, const struct options *options)
{
	int code = WD_EXIT_MATCH, printed;
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	if ((st = describe(look, &err)) != WD_OK)
		return report(options->path, st, err.message);
	look->digests =
	    wd_calloc(look->bundle->file_count, sizeof(*look->digests));
	if (look->digests == NULL)
		return report(options->path, WD_NOMEM, "no memory");
	if (!options->headers_only)
		code = hash_all(look);
	if (check_unchanged(look) != WD_EXIT_MATCH)
		return WD_EXIT_UNVERIFIABLE;
	if (look->bundle->incomplete)
		code = WD_EXIT_UNVERIFIABLE;
	printed = print_look(look, options);
	return printed == WD_EXIT_MATCH ? code : printed;
}

int
wd_cmd_bundle(int argc, char **argv)
{
	struct options options = { .path = NULL };
	struct look look = { .kept = { .folder = { .fd = -1 } } };
	const char *why = parse_arguments(argc, argv, &options);
	int code;

	if (why != NULL)
		return usage_error(why);
	code = open_look(options.path, &look);
	if (code == WD_EXIT_MATCH)
		code = look_at(&look, &options);
	close_look(&look);
	return code;
}
