/* weightctl bundle: the fingerprint of a model on this machine's disk. */
#include "bundle/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "verdict/show.h"
#include "wire/build.h"
#include "wire/bundle.h"
#include "wire/json.h"

#define CHUNK_BYTES (1UL << 20)

/* Below this a progress bar would only flicker. */
#define PROGRESS_FROM_BYTES (256UL << 20)

struct options {
	const char *path;
	bool is_json;
	bool headers_only;
};

/* What is open while the bundle is looked at. */
struct look {
	int fd; /* the file that was named; -1 for a directory */
	struct wd_source source;
	struct wd_slice name; /* its last component */
	struct wd_folder_fd folder_fd;
	struct wd_folder folder;
	struct wd_bundle *bundle;
	struct wd_file_digest *digests;
};

struct progress {
	bool is_shown;
	uint64_t done_bytes;
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

/* O_NONBLOCK: a FIFO named x.gguf must not block us. */
static int
open_look(const char *path, struct look *look)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *slash = strrchr(path, '/');
	struct wd_error err;
	struct stat stat;

	if (fd < 0)
		return report_errno(path, errno);
	if (fstat(fd, &stat) == 0 && S_ISDIR(stat.st_mode)) {
		look->folder_fd.fd = fd;
	} else {
		look->fd = fd;
		wd_error_init(&err);
		if (wd_source_fd(fd, &look->source, &err) != WD_OK)
			return report(path, err.status, err.message);
		look->name = wd_slice_text(slash == NULL ? path : slash + 1);
		look->folder_fd.fd = open_parent(path);
	}
	if (look->folder_fd.fd >= 0)
		look->folder = wd_folder_over_fd(&look->folder_fd);
	return WD_EXIT_MATCH;
}

static void
close_look(struct look *look)
{
	wd_bundle_free(&look->bundle);
	wd_free(look->digests);
	if (look->fd >= 0)
		(void)close(look->fd);
	if (look->folder_fd.fd >= 0)
		(void)close(look->folder_fd.fd);
}

static enum wd_status
describe(struct look *look, struct wd_error *err)
{
	const struct wd_folder *folder =
	    look->folder_fd.fd >= 0 ? &look->folder : NULL;

	if (look->fd < 0)
		return wd_bundle_describe_folder(folder, &look->bundle, err);
	return wd_bundle_describe(
	    &look->source, look->name, folder, &look->bundle, err);
}

/* ---- digests --------------------------------------------------------------
 */

static void
show_progress(struct progress *progress, size_t added_bytes)
{
	uint64_t percent;

	progress->done_bytes += added_bytes;
	if (!progress->is_shown)
		return;
	percent = progress->done_bytes / (progress->total_bytes / 100 + 1);
	if (percent == progress->percent && added_bytes != 0)
		return;
	progress->percent = percent;
	(void)fprintf(stderr, "\rhashing %3u %%", (unsigned)percent);
}

static void
end_progress(struct progress *progress)
{
	if (progress->is_shown)
		(void)fputs("\r             \r", stderr);
	progress->is_shown = false;
}

static enum wd_status
hash_chunks(const struct wd_source *source, struct wd_hasher *hasher,
    struct progress *progress, struct wd_error *err)
{
	uint8_t *chunk WD_CLEANUP(wd_free_scoped) = wd_calloc(CHUNK_BYTES, 1);
	enum wd_status st = WD_OK;
	uint64_t at = 0;
	size_t got;

	if (chunk == NULL)
		return wd_fail(err, WD_NOMEM, "no memory to hash");
	for (;; at += got) {
		st = source->read(
		    source->ctx, at, chunk, CHUNK_BYTES, &got, err);
		if (st != WD_OK || got == 0)
			break;
		wd_hasher_add(hasher, chunk, got);
		show_progress(progress, got);
	}
	if (st == WD_OK && at != source->size_bytes)
		return wd_fail(err, WD_CHANGED,
		    "its size changed while it was read; run again when "
		    "nobody writes to it");
	return st;
}

static enum wd_status
hash_source(const struct wd_source *source, struct progress *progress,
    struct wd_sha256 *sha256, struct wd_error *err)
{
	struct wd_hasher *hasher WD_CLEANUP(wd_hasher_free) = NULL;
	enum wd_status st;

	if ((st = wd_hasher_new(&hasher, err)) != WD_OK ||
	    (st = hash_chunks(source, hasher, progress, err)) != WD_OK)
		return st;
	return wd_hasher_finish(hasher, sha256, err);
}

/* The file that was named is hashed through the descriptor that it was
 * described through; the others are opened by name once more. */
static enum wd_status
hash_file(struct look *look, const struct wd_bundle_file *file,
    struct progress *progress, struct wd_sha256 *sha256, struct wd_error *err)
{
	struct wd_slice name = { (const uint8_t *)file->name, file->name_len };
	struct wd_source source;
	enum wd_status st;

	if (look->fd >= 0 && wd_slice_equal(name, look->name))
		return hash_source(&look->source, progress, sha256, err);
	if (look->folder_fd.fd < 0)
		return wd_fail(err, WD_GONE, "its folder cannot be opened");
	st = look->folder.open(look->folder.ctx, name, &source, err);
	if (st != WD_OK)
		return st;
	if (source.size_bytes == file->size_bytes)
		st = hash_source(&source, progress, sha256, err);
	else
		st = wd_fail(err, WD_CHANGED,
		    "its size changed while the bundle was read; run again "
		    "when nobody writes to it");
	look->folder.close(look->folder.ctx, &source);
	return st;
}

static int
report_file(const struct wd_bundle_file *file, const struct wd_error *err)
{
	char name[300];

	wd_escape_short(name, sizeof(name),
	    (struct wd_slice){ (const uint8_t *)file->name, file->name_len });
	(void)fprintf(stderr, "weightctl bundle: %s: %s\n", name, err->message);
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
		return report_file(file, &err);
	}
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
	if (look->bundle->incomplete)
		code = WD_EXIT_UNVERIFIABLE;
	printed = print_look(look, options);
	return printed == WD_EXIT_MATCH ? code : printed;
}

int
wd_cmd_bundle(int argc, char **argv)
{
	struct options options = { .path = NULL };
	struct look look = { .fd = -1, .folder_fd = { .fd = -1 } };
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
