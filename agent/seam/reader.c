#include "seam/reader.h"

#include <string.h>

#include "base/mem.h"
#include "seam/timed.h"

enum wd_status
wd_reader_sniff(struct wd_reader *reader, int fd, enum wd_bundle_format *format,
    struct wd_error *err)
{
	return reader->ops->sniff(reader, fd, format, err);
}

enum wd_status
wd_reader_describe(struct wd_reader *reader, int fd, struct wd_slice name,
    const struct wd_siblings *siblings, const struct wd_deadline *deadline,
    struct wd_bundle **bundle, struct wd_error *err)
{
	return reader->ops->describe(
	    reader, fd, name, siblings, deadline, bundle, err);
}

enum wd_status
wd_reader_names(struct wd_reader *reader, int fd, enum wd_listing_kind kind,
    struct wd_listing *listing, struct wd_error *err)
{
	return reader->ops->names(reader, fd, kind, listing, err);
}

enum wd_status
wd_reader_digest(struct wd_reader *reader, int fd,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err)
{
	return reader->ops->digest(reader, fd, manner, sha256, err);
}

void
wd_reader_free(struct wd_reader **reader)
{
	if (*reader == NULL)
		return;
	(*reader)->ops->free(*reader);
	*reader = NULL;
}

/* ---- in this process ----------------------------------------------------- */

struct local_reader {
	struct wd_reader reader;
	const struct wd_io_manners *manners;
};

static enum wd_status
local_sniff(struct wd_reader *reader, int fd, enum wd_bundle_format *format,
    struct wd_error *err)
{
	struct wd_source source;
	enum wd_status st = wd_source_fd(fd, &source, err);

	(void)reader;
	return st == WD_OK ? wd_bundle_sniff(&source, format, err) : st;
}

/* Siblings as the folder that bundle/ reads from. */
static enum wd_status
sibling_open(void *ctx, struct wd_slice name, struct wd_source *source,
    struct wd_error *err)
{
	const struct wd_siblings *siblings = ctx;
	enum wd_status st;
	int fd = -1;

	if (!wd_folder_name_allowed(name))
		return wd_fail(
		    err, WD_INVALID, "no name of a file in a folder");
	st = siblings->open(siblings->ctx, name, &fd, err);
	return st == WD_OK ? wd_source_fd(fd, source, err) : st;
}

/* The descriptor stays the caller's. */
static void
sibling_close(void *ctx, struct wd_source *source)
{
	(void)ctx;
	source->ctx = NULL;
}

static enum wd_status
sibling_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	const struct wd_siblings *siblings = ctx;

	return siblings->list(siblings->ctx, each, each_ctx, err);
}

/* Time that ran out overrules whatever came of it: the files that were not
 * read any more look like files that are broken. */
static enum wd_status
describe_timed(struct wd_timed *timed, const struct wd_source *source,
    struct wd_slice name, struct wd_bundle **bundle, struct wd_error *err)
{
	struct wd_bundle *found WD_CLEANUP(wd_bundle_free) = NULL;
	struct wd_folder folder = wd_timed_folder(timed);
	enum wd_status st = wd_bundle_describe(source, name,
	    timed->folder != NULL ? &folder : NULL, NULL, &found, err);

	if (timed->passed && st != WD_NOMEM)
		return wd_timed_check(timed, err);
	if (st == WD_OK)
		*bundle = wd_steal(&found);
	return st;
}

static enum wd_status
local_describe(struct wd_reader *reader, int fd, struct wd_slice name,
    const struct wd_siblings *siblings, const struct wd_deadline *deadline,
    struct wd_bundle **bundle, struct wd_error *err)
{
	struct wd_siblings copy;
	struct wd_folder folder = { sibling_open, sibling_close, sibling_list,
		&copy, NULL };
	struct wd_timed timed = { .deadline = deadline };
	struct wd_timed_source given = { .timed = &timed };
	struct wd_source source;
	enum wd_status st = wd_source_fd(fd, &given.inner, err);

	(void)reader;
	if (st != WD_OK)
		return st;
	source = wd_timed_source(&given);
	if (siblings != NULL) {
		copy = *siblings;
		timed.folder = &folder;
	}
	return describe_timed(&timed, &source, name, bundle, err);
}

static enum wd_status
local_names(struct wd_reader *reader, int fd, enum wd_listing_kind kind,
    struct wd_listing *listing, struct wd_error *err)
{
	struct wd_source source;
	enum wd_status st = wd_source_fd(fd, &source, err);

	(void)reader;
	memset(listing, 0, sizeof(*listing));
	return st == WD_OK ? wd_listing_read(&source, kind, listing, err) : st;
}

static enum wd_status
local_digest(struct wd_reader *reader, int fd,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err)
{
	const struct local_reader *local = (const struct local_reader *)reader;

	return wd_digest_job(fd, local->manners, manner, sha256, err);
}

static void
local_free(struct wd_reader *reader)
{
	wd_free(reader);
}

enum wd_status
wd_reader_in_process(const struct wd_io_manners *manners,
    struct wd_reader **reader, struct wd_error *err)
{
	static const struct wd_reader_ops ops = { local_sniff, local_describe,
		local_names, local_digest, local_free };
	struct local_reader *local = wd_calloc(1, sizeof(*local));

	if (local == NULL)
		return wd_fail(err, WD_NOMEM, "reader: out of memory");
	local->reader.ops = &ops;
	local->manners = manners;
	*reader = &local->reader;
	return WD_OK;
}
