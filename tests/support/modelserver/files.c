/*
 * files.c - what people and updaters do to a model file behind the server's
 * back, and where a GGUF file's tensor data begins.
 */
#include "modelserver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
copy_bytes(int from, int to)
{
	uint8_t bytes[65536];
	ssize_t got;

	while ((got = read(from, bytes, sizeof(bytes))) > 0) {
		if (write(to, bytes, (size_t)got) != got)
			return ms_fail_errno("write");
	}
	return got == 0 || ms_fail_errno("read");
}

/* Copies `with` over `path` with the given open flags. */
static bool
write_file(const char *path, int flags, const char *with)
{
	int from = open(with, O_RDONLY | O_CLOEXEC);
	int to;
	bool done;

	if (from < 0)
		return ms_fail_errno(with);
	to = open(path, flags | O_WRONLY | O_CLOEXEC, 0644);
	if (to < 0) {
		(void)ms_fail_errno(path);
		(void)close(from);
		return false;
	}
	done = copy_bytes(from, to);
	(void)close(from);
	(void)close(to);
	return done;
}

bool
ms_file_replace(const char *path, const char *with)
{
	char next[4096];

	if ((size_t)snprintf(next, sizeof(next), "%s.new", path) >=
	    sizeof(next))
		return ms_fail("the path is too long");
	if (!write_file(next, O_CREAT | O_TRUNC, with))
		return false;
	return rename(next, path) == 0 || ms_fail_errno("rename");
}

/* Flips the last byte: the smallest change of the content there is. */
static bool
flip_last(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat stat;
	uint8_t byte;
	bool done;

	if (fd < 0)
		return ms_fail_errno(path);
	done = fstat(fd, &stat) == 0 && stat.st_size > 0 &&
	    pread(fd, &byte, 1, stat.st_size - 1) == 1;
	byte = done ? (uint8_t)~byte : 0;
	done = done && pwrite(fd, &byte, 1, stat.st_size - 1) == 1;
	(void)close(fd);
	return done || ms_fail_errno("overwriting");
}

bool
ms_file_overwrite(const char *path, const char *with)
{
	struct stat old, new;

	if (*with == '\0')
		return flip_last(path);
	if (stat(path, &old) != 0 || stat(with, &new) != 0)
		return ms_fail_errno("stat");
	if (old.st_size != new.st_size)
		return ms_fail("the two files differ in size");
	return write_file(path, 0, with);
}

bool
ms_file_truncate(const char *path, uint64_t bytes)
{
	return truncate(path, (off_t)bytes) == 0 || ms_fail_errno("truncate");
}

/* ---- GGUF: just enough to step over the header --------------------------- */

struct walk {
	FILE *file;
	bool ok;
};

static uint64_t
take(struct walk *walk, size_t bytes)
{
	uint8_t raw[8] = { 0 };
	uint64_t value = 0;
	size_t i;

	if (walk->ok && fread(raw, 1, bytes, walk->file) != bytes)
		walk->ok = false;
	for (i = 0; walk->ok && i < bytes; i++)
		value |= (uint64_t)raw[i] << (8 * i);
	return value;
}

static void
skip(struct walk *walk, uint64_t bytes)
{
	if (bytes > INT64_MAX ||
	    fseeko(walk->file, (off_t)bytes, SEEK_CUR) != 0)
		walk->ok = false;
}

static void
skip_string(struct walk *walk, char *text, size_t room)
{
	uint64_t len = take(walk, 8);
	size_t i;

	if (text == NULL || len >= room) {
		skip(walk, len);
		return;
	}
	for (i = 0; i < len; i++)
		text[i] = (char)take(walk, 1);
	text[len] = '\0';
}

/* Bytes of a value of GGUF type `type`; 0 for strings and arrays. */
static uint64_t
value_bytes(uint64_t type)
{
	static const uint8_t bytes[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8,
		8 };

	return type < sizeof(bytes) ? bytes[type] : 0;
}

static void
skip_array(struct walk *walk)
{
	uint64_t type = take(walk, 4);
	uint64_t count = take(walk, 8);

	if (type != 8) {
		skip(walk, count * value_bytes(type));
		return;
	}
	while (walk->ok && count-- > 0)
		skip_string(walk, NULL, 0);
}

static void
walk_keys(struct walk *walk, uint64_t count, uint64_t *alignment)
{
	char key[64];
	uint64_t type;

	while (walk->ok && count-- > 0) {
		key[0] = '\0';
		skip_string(walk, key, sizeof(key));
		type = take(walk, 4);
		if (strcmp(key, "general.alignment") == 0 && type == 4)
			*alignment = take(walk, 4);
		else if (type == 9)
			skip_array(walk);
		else if (type == 8)
			skip_string(walk, NULL, 0);
		else
			skip(walk, value_bytes(type));
	}
}

bool
ms_gguf_data_offset(int fd, uint64_t *offset)
{
	struct walk walk = { NULL, true };
	uint64_t tensors, keys, alignment = 32, at;

	walk.file = fdopen(dup(fd), "rb");
	if (walk.file == NULL)
		return ms_fail_errno("fdopen");
	if (take(&walk, 4) != 0x46554747) /* "GGUF" */
		walk.ok = false;
	(void)take(&walk, 4);
	tensors = take(&walk, 8);
	keys = take(&walk, 8);
	walk_keys(&walk, keys, &alignment);
	while (walk.ok && tensors-- > 0) {
		skip_string(&walk, NULL, 0);
		skip(&walk, take(&walk, 4) * 8 + 4 + 8);
	}
	at = (uint64_t)ftello(walk.file);
	(void)fclose(walk.file);
	if (!walk.ok || alignment == 0)
		return ms_fail("no GGUF file: where is the tensor data?");
	*offset = (at + alignment - 1) / alignment * alignment;
	return true;
}
