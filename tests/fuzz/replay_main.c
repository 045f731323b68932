/*
 * replay_main.c - runs a fuzz target over files, where there is no libFuzzer.
 *
 *   fuzz_NAME PATH...     each a file, or a folder whose files are all run
 *
 * A folder that is missing or empty fails: a corpus that got lost is not a
 * corpus that passed. Each input is copied to memory of exactly its size, so
 * that a sanitizer sees a read behind its end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
fail(const char *path, const char *why)
{
	fprintf(stderr, "replay: %s: %s\n", path, why);
	return -1;
}

static int
run_bytes(FILE *file, size_t size, const char *path)
{
	uint8_t *data = malloc(size > 0 ? size : 1);

	if (data == NULL)
		return fail(path, "out of memory");
	if (fread(data, 1, size, file) != size) {
		free(data);
		return fail(path, "cannot be read");
	}
	/* So that a crash says on which input. */
	fprintf(stderr, "%s\n", path);
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static int
run_file(const char *path, const struct stat *st)
{
	FILE *file = fopen(path, "rb");
	int status;

	if (file == NULL)
		return fail(path, "cannot be opened");
	status = run_bytes(file, (size_t)st->st_size, path);
	(void)fclose(file);
	return status;
}

static int
run_entry(const char *folder, const char *name, unsigned long *count)
{
	char path[4096];
	struct stat st;

	if (name[0] == '.')
		return 0;
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
	    (int)sizeof(path))
		return fail(name, "its path is too long");
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return fail(path, "is no regular file");
	(*count)++;
	return run_file(path, &st);
}

static int
run_folder(const char *path, unsigned long *count)
{
	const struct dirent *entry;
	unsigned long before = *count;
	int status = 0;
	DIR *dir = opendir(path);

	if (dir == NULL)
		return fail(path, "cannot be listed");
	while (status == 0 && (entry = readdir(dir)) != NULL)
		status = run_entry(path, entry->d_name, count);
	(void)closedir(dir);
	if (status == 0 && *count == before)
		return fail(path, "is empty");
	return status;
}

static int
run_path(const char *path, unsigned long *count)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return fail(path, "is not there");
	if (S_ISDIR(st.st_mode))
		return run_folder(path, count);
	(*count)++;
	return run_file(path, &st);
}

int
main(int argc, char **argv)
{
	unsigned long count = 0;
	int i;

	for (i = 1; i < argc; i++)
		if (run_path(argv[i], &count) != 0)
			return EXIT_FAILURE;
	if (count == 0) {
		fprintf(stderr, "usage: %s FILE-OR-FOLDER...\n", argv[0]);
		return EXIT_FAILURE;
	}
	fprintf(stderr, "%lu inputs\n", count);
	return EXIT_SUCCESS;
}
