#include "role/material.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

const char *
wd_material_path(const struct wd_config *config, unsigned which)
{
	const char *const paths[WD_MATERIALS] = { config->certificate,
		config->key, config->ca, config->crl };

	return paths[which];
}

static enum wd_status
read_open(int fd, const char *path, struct wd_buf *text, struct stat *mark,
    struct wd_error *err)
{
	uint8_t *space;
	ssize_t got;

	if (fstat(fd, mark) != 0)
		return wd_fail_errno(err, errno, "%s", path);
	if (!S_ISREG(mark->st_mode))
		return wd_fail(err, WD_INVALID, "%s is no regular file", path);
	do {
		enum wd_status st = wd_buf_reserve(text, 65536, &space);

		if (st != WD_OK)
			return wd_fail(err, st, "%s: more than %d bytes", path,
			    WD_MAX_MATERIAL);
		got = read(fd, space, 65536);
		if (got < 0)
			return wd_fail_errno(err, errno, "%s", path);
		wd_buf_advance(text, (size_t)got);
	} while (got > 0);
	return WD_OK;
}

static enum wd_status
read_one(const char *path, struct wd_buf *text, struct stat *mark,
    struct wd_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum wd_status st;

	if (fd < 0)
		return wd_fail_errno(err, errno, "%s", path);
	st = read_open(fd, path, text, mark, err);
	(void)close(fd);
	return st;
}

enum wd_status
wd_material_read(const struct wd_config *config, struct wd_material *material,
    struct wd_error *err)
{
	enum wd_status st = WD_OK;
	unsigned i;

	memset(material, 0, sizeof(*material));
	for (i = 0; i < WD_MATERIALS; i++)
		/* What does not fit with the last block is too long. */
		wd_buf_init(&material->texts[i], WD_MAX_MATERIAL + 65536);
	for (i = 0; i < WD_MATERIALS && st == WD_OK; i++)
		if (wd_material_path(config, i) != NULL)
			st = read_one(wd_material_path(config, i),
			    &material->texts[i], &material->marks[i], err);
	material->key_is_open =
	    (material->marks[WD_KEY].st_mode & (S_IRGRP | S_IROTH)) != 0;
	return st;
}

void
wd_material_release(struct wd_material *material)
{
	unsigned i;

	if (material->texts[WD_KEY].data != NULL)
		explicit_bzero(material->texts[WD_KEY].data,
		    material->texts[WD_KEY].capacity);
	for (i = 0; i < WD_MATERIALS; i++)
		wd_buf_release(&material->texts[i]);
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	    a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	    a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	    a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool
wd_material_changed(
    const struct wd_config *config, const struct stat marks[WD_MATERIALS])
{
	struct stat now;
	unsigned i;

	for (i = 0; i < WD_MATERIALS; i++) {
		const char *path = wd_material_path(config, i);

		if (path != NULL && stat(path, &now) == 0 &&
		    !is_same(&now, &marks[i]))
			return true;
	}
	return false;
}
