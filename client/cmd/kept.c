#include "cmd/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

/* A bundle's files, and index files that turn out to be another's. */
#define MOST_FILES (WD_MAX_BUNDLE_FILES + WD_MAX_INDEX_FILES)

void
wd_kept_init(struct wd_kept *kept, int folder_fd)
{
	*kept = (struct wd_kept){ .folder = { .fd = folder_fd } };
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

struct wd_folder
wd_kept_folder(struct wd_kept *kept)
{
	return (struct wd_folder){ kept_open, kept_close, kept_list, kept };
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
