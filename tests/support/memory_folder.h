/*
 * memory_folder.h - a folder of files in memory that counts what is done to
 * it, and a source that counts its reads.
 */
#ifndef WD_TESTS_SUPPORT_MEMORY_FOLDER_H
#define WD_TESTS_SUPPORT_MEMORY_FOLDER_H

#include "bundle/bundle.h"

#define MEMORY_FILES 64

struct memory_file {
	char name[256];
	struct wd_buf bytes;
	struct wd_slice slice; /* of `bytes`, while it is open */
	uint64_t size_bytes;   /* what a source says; may be more */
	enum wd_status open_status;
	unsigned opened;
};

/* A folder within: the files whose names begin with its prefix. */
#define MEMORY_INNER 32
struct memory_folder;
struct memory_inner {
	struct memory_folder *folder;
	char prefix[300];
};

struct memory_folder {
	struct memory_inner inner[MEMORY_INNER];
	size_t inner_count;
	struct memory_file files[MEMORY_FILES];
	size_t count;
	size_t open_now;
	size_t strange_names; /* asked for, and not allowed */
	enum wd_status list_status;
};

/* The folder is large: make it static, or on the heap. */
void memory_folder_init(struct memory_folder *folder);
void memory_folder_release(struct memory_folder *folder);
struct wd_folder memory_folder_of(struct memory_folder *folder);

/* Adds a file with these bytes; NULL never. */
struct memory_file *memory_folder_add(
    struct memory_folder *folder, const char *name, struct wd_slice bytes);
struct memory_file *memory_folder_text(
    struct memory_folder *folder, const char *name, const char *text);

void memory_file_rename(struct memory_file *file, const char *name);

/* The file, or NULL. */
struct memory_file *memory_folder_find(
    struct memory_folder *folder, struct wd_slice name);

/* Describes the bundle of a file of the folder, as somebody holds it. */
enum wd_status memory_folder_describe(struct memory_folder *folder,
    const char *name, struct wd_bundle **bundle, struct wd_error *err);

/* Describes bytes alone, without a folder. */
enum wd_status describe_bytes(struct wd_slice bytes, const char *name,
    struct wd_bundle **bundle, struct wd_error *err);

/* The first note of the kind that has `part` in it, or NULL. */
const char *note_with(
    const struct wd_bundle *bundle, enum wd_note_kind kind, const char *part);

/* The setting's value, or NULL. */
const char *setting_of(const struct wd_bundle *bundle, const char *key);

/* Reads through another source. */
struct counting_source {
	struct wd_source inner;
	size_t reads;
	size_t largest;
};
struct wd_source counting_source_of(struct counting_source *counting);

#endif
