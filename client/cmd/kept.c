#include "cmd/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

/* A bundle's files, and index files that turn out to be another's. */
#define MOST_FILES (WD_MAX_BUNDLE_FILES + WD_MAX_INDEX_FILES)
#define MOST_INNER 16 /* folders within the bundle's */

void
wd_kept_init(struct wd_kept *kept, int folder_fd)
{
	*kept = (struct wd_kept){ .folder = { .fd = folder_fd } };
}

static void
free_inner(struct wd_kept_inner *inner)
{
	if (inner->folder.fd >= 0)
		(void)close(inner->folder.fd);
	wd_free(inner->prefix);
	wd_free(inner);
}

void
wd_kept_release(struct wd_kept *kept)
{
	size_t i;

	for (i = 0; i < kept->count; i++) {
		(void)close(kept->files[i].fd);
		wd_free(kept->files[i].name);
	}
	wd_free(kept->files);
	for (i = 0; i < kept->inner_count; i++)
		free_inner(kept->inner[i]);
	wd_free(kept->inner);
	if (kept->folder.fd >= 0)
		(void)close(kept->folder.fd);
	wd_kept_init(kept, -1);
}

static struct wd_slice
name_of(const struct wd_kept_file *file)
{
	return (struct wd_slice){ (const uint8_t *)file->name, file->name_len };
}

const struct wd_kept_file *
wd_kept_find(const struct wd_kept *kept, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < kept->count; i++)
		if (wd_slice_equal(name_of(&kept->files[i]), name))
			return &kept->files[i];
	return NULL;
}

/* The state is taken before anything is read; the size that the parsers see
 * is the one of that state. */
static enum wd_status
look_at(struct wd_kept_file *file, struct wd_error *err)
{
	enum wd_status st = wd_source_fd(file->fd, &file->source, err);

	if (st != WD_OK)
		return st;
	if (fstat(file->fd, &file->first) != 0)
		return wd_fail_errno(err, errno, "cannot stat the file");
	file->source.size_bytes = (uint64_t)file->first.st_size;
	return WD_OK;
}

static enum wd_status
add(struct wd_kept *kept, struct wd_slice name, int fd, struct wd_error *err)
{
	struct wd_kept_file *file;
	enum wd_status st = wd_grow((void **)&kept->files, kept->count,
	    &kept->capacity, sizeof(*kept->files), MOST_FILES);

	if (st != WD_OK)
		return wd_fail(err, st,
		    st == WD_LIMIT ? "there are too many files to keep open" :
				     "no memory for the files");
	file = &kept->files[kept->count];
	*file = (struct wd_kept_file){ .fd = fd, .name_len = name.len };
	st = look_at(file, err);
	if (st != WD_OK)
		return st;
	file->name = wd_memdup0(name.data, name.len);
	if (file->name == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for the files");
	kept->count++;
	return WD_OK;
}

enum wd_status
wd_kept_add(
    struct wd_kept *kept, struct wd_slice name, int fd, struct wd_error *err)
{
	enum wd_status st = add(kept, name, fd, err);

	if (st != WD_OK)
		(void)close(fd);
	return st;
}

static enum wd_status
open_new(struct wd_kept *kept, struct wd_slice name, struct wd_error *err)
{
	struct wd_folder folder = wd_folder_over_fd(&kept->folder);
	struct wd_source source;
	enum wd_status st;

	if (kept->folder.fd < 0)
		return wd_fail(err, WD_GONE, "its folder cannot be opened");
	st = folder.open(folder.ctx, name, &source, err);
	if (st != WD_OK)
		return st;
	return wd_kept_add(kept, name, wd_source_descriptor(&source), err);
}

static enum wd_status
kept_open(void *ctx, struct wd_slice name, struct wd_source *source,
    struct wd_error *err)
{
	struct wd_kept *kept = ctx;
	const struct wd_kept_file *file = wd_kept_find(kept, name);
	enum wd_status st;

	if (file != NULL) {
		*source = file->source;
		return WD_OK;
	}
	st = open_new(kept, name, err);
	if (st == WD_OK)
		*source = kept->files[kept->count - 1].source;
	return st;
}

static void
kept_close(void *ctx, struct wd_source *source)
{
	(void)ctx;
	*source = (struct wd_source){ .read = NULL };
}

static enum wd_status
kept_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	struct wd_kept *kept = ctx;
	struct wd_folder folder = wd_folder_over_fd(&kept->folder);

	return folder.list(folder.ctx, each, each_ctx, err);
}

/* ---- folders within -------------------------------------------------------
 */

static enum wd_status enter_at(struct wd_kept *kept, int fd, const char *prefix,
    struct wd_slice name, struct wd_folder *folder, struct wd_error *err);

/* The name from the bundle's own folder on. */
static enum wd_status
whole_name(const struct wd_kept_inner *inner, struct wd_slice name,
    struct wd_buf *path, struct wd_error *err)
{
	wd_buf_init(path, WD_MAX_PATH);
	(void)wd_buf_text(path, inner->prefix);
	if (wd_buf_append(path, name.data, name.len) != WD_OK)
		return wd_fail(err, path->status, "its path is too long");
	return WD_OK;
}

static enum wd_status
inner_open(void *ctx, struct wd_slice name, struct wd_source *source,
    struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf path;
	struct wd_kept_inner *inner = ctx;
	struct wd_folder folder = wd_folder_over_fd(&inner->folder);
	const struct wd_kept_file *file;
	enum wd_status st = whole_name(inner, name, &path, err);

	if (st != WD_OK)
		return st;
	if ((file = wd_kept_find(inner->kept, wd_buf_slice(&path))) != NULL)
		*source = file->source;
	if (file != NULL)
		return WD_OK;
	st = folder.open(folder.ctx, name, source, err);
	if (st == WD_OK)
		st = wd_kept_add(inner->kept, wd_buf_slice(&path),
		    wd_source_descriptor(source), err);
	if (st == WD_OK)
		*source = inner->kept->files[inner->kept->count - 1].source;
	return st;
}

static enum wd_status
inner_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	struct wd_kept_inner *inner = ctx;
	struct wd_folder folder = wd_folder_over_fd(&inner->folder);

	return folder.list(folder.ctx, each, each_ctx, err);
}

static enum wd_status
inner_enter(void *ctx, struct wd_slice name, struct wd_folder *folder,
    struct wd_error *err)
{
	struct wd_kept_inner *inner = ctx;

	return enter_at(
	    inner->kept, inner->folder.fd, inner->prefix, name, folder, err);
}

static enum wd_status
name_inner(struct wd_kept_inner *inner, const char *prefix,
    struct wd_slice name, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf path;

	wd_buf_init(&path, WD_MAX_PATH);
	(void)wd_buf_text(&path, prefix);
	(void)wd_buf_append(&path, name.data, name.len);
	if (wd_buf_byte(&path, '/') != WD_OK)
		return wd_fail(err, path.status, "its path is too long");
	inner->prefix = wd_memdup0(path.data, path.len);
	return inner->prefix == NULL ?
	    wd_fail(err, WD_NOMEM, "no memory for a folder") :
	    WD_OK;
}

static enum wd_status
enter_at(struct wd_kept *kept, int fd, const char *prefix, struct wd_slice name,
    struct wd_folder *folder, struct wd_error *err)
{
	struct wd_kept_inner *inner;
	char last[256];
	enum wd_status st = wd_grow((void **)&kept->inner, kept->inner_count,
	    &kept->inner_capacity, sizeof(struct wd_kept_inner *), MOST_INNER);

	if (st != WD_OK || !wd_folder_name_allowed(name))
		return wd_fail(err, st == WD_OK ? WD_INVALID : st,
		    "the folder cannot be entered");
	inner = wd_calloc(1, sizeof(*inner));
	if (inner == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for a folder");
	kept->inner[kept->inner_count++] = inner;
	inner->kept = kept;
	inner->folder = (struct wd_folder_fd){ -1, true };
	st = name_inner(inner, prefix, name, err);
	if (st != WD_OK)
		return st;
	memcpy(last, name.data, name.len); /* 255 bytes at most */
	last[name.len] = '\0';
	inner->folder.fd =
	    openat(fd, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (inner->folder.fd < 0)
		return wd_fail(err, errno == ENOENT ? WD_NOTFOUND : WD_IO,
		    "cannot open the folder: %s", strerror(errno));
	*folder = (struct wd_folder){ inner_open, kept_close, inner_list, inner,
		inner_enter };
	return WD_OK;
}

static enum wd_status
kept_enter(void *ctx, struct wd_slice name, struct wd_folder *folder,
    struct wd_error *err)
{
	struct wd_kept *kept = ctx;

	return enter_at(kept, kept->folder.fd, "", name, folder, err);
}

struct wd_folder
wd_kept_folder(struct wd_kept *kept)
{
	return (struct wd_folder){ kept_open, kept_close, kept_list, kept,
		kept_enter };
}

static bool
same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool
same_object(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool
is_unchanged(const struct wd_kept *kept, const struct wd_kept_file *file)
{
	struct stat now, named;

	if (fstat(file->fd, &now) != 0 || now.st_size != file->first.st_size ||
	    !same_time(now.st_mtim, file->first.st_mtim) ||
	    !same_time(now.st_ctim, file->first.st_ctim))
		return false;
	if (kept->folder.fd < 0)
		return true;
	return fstatat(kept->folder.fd, file->name, &named, 0) == 0 &&
	    same_object(&named, &file->first);
}

const struct wd_kept_file *
wd_kept_changed(const struct wd_kept *kept)
{
	size_t i;

	for (i = 0; i < kept->count; i++)
		if (!is_unchanged(kept, &kept->files[i]))
			return &kept->files[i];
	return NULL;
}
