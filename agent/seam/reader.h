/*
 * reader.h - the interface along which file parsing is split off.
 *
 * Whoever implements it is given descriptors, never paths, and answers with
 * facts about their bytes. In-process it is a function call; in the service it
 * is another, unprivileged process on a socketpair, so that a hostile file or
 * a hung file system costs that process and nothing else.
 */
#ifndef WD_SEAM_READER_H
#define WD_SEAM_READER_H

#include "base/digest_job.h"
#include "bundle/bundle.h"
#include "bundle/listing.h"

/* The files beside the one that is described, handed out by name: the caller
 * gives the very object that is held where there is one, else what lies in the
 * folder now, and remembers which descriptor it gave, so that a digest is
 * later made of the same object. Names are single components
 * (wd_folder_name_allowed). */
struct wd_siblings {
	/* `*fd` stays the caller's and must live until the call returns.
	 * Errors: as wd_folder.open. */
	enum wd_status (*open)(
	    void *ctx, struct wd_slice name, int *fd, struct wd_error *err);
	enum wd_status (*list)(void *ctx,
	    bool (*each)(void *each_ctx, struct wd_slice name), void *each_ctx,
	    struct wd_error *err);
	void *ctx;
};

struct wd_reader;

struct wd_reader_ops {
	enum wd_status (*sniff)(struct wd_reader *reader, int fd,
	    enum wd_bundle_format *format, struct wd_error *err);
	enum wd_status (*describe)(struct wd_reader *reader, int fd,
	    struct wd_slice name, const struct wd_siblings *siblings,
	    const struct wd_deadline *deadline, struct wd_bundle **bundle,
	    struct wd_error *err);
	enum wd_status (*names)(struct wd_reader *reader, int fd,
	    enum wd_listing_kind kind, struct wd_listing *listing,
	    struct wd_error *err);
	enum wd_status (*digest)(struct wd_reader *reader, int fd,
	    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
	    struct wd_error *err);
	void (*free)(struct wd_reader *reader);
};

struct wd_reader {
	const struct wd_reader_ops *ops;
};

/* What the file's first bytes say it is. Errors: WD_INVALID when it is no
 * regular file; WD_IO. */
enum wd_status wd_reader_sniff(struct wd_reader *reader, int fd,
    enum wd_bundle_format *format, struct wd_error *err) WD_MUST_CHECK;

/* The bundle that the open file belongs to; see wd_bundle_describe. `name` is
 * the last component of the path it is held under. `siblings` may be
 * NULL: the file is then described alone. `deadline` (may be NULL: none) is
 * looked at before each read of a file and before each sibling is opened:
 * nothing is said of a bundle that was not seen to its end. Errors: as
 * wd_bundle_describe; WD_TIMEDOUT. */
enum wd_status wd_reader_describe(struct wd_reader *reader, int fd,
    struct wd_slice name, const struct wd_siblings *siblings,
    const struct wd_deadline *deadline, struct wd_bundle **bundle,
    struct wd_error *err) WD_MUST_CHECK;

/* What the file says that names lead to. Errors: as wd_listing_read; WD_INVALID
 * when it is no regular file. */
enum wd_status wd_reader_names(struct wd_reader *reader, int fd,
    enum wd_listing_kind kind, struct wd_listing *listing,
    struct wd_error *err) WD_MUST_CHECK;

/* The SHA-256 of the file's bytes; promises and errors are those of
 * wd_digest_job. */
enum wd_status wd_reader_digest(struct wd_reader *reader, int fd,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err) WD_MUST_CHECK;

void wd_reader_free(struct wd_reader **reader);

/* The reader in this very process. `manners` is the system's table
 * (host/manners/manners.h) and must outlive the reader; with
 * NULL digests are made without regard for the page cache and idle_class.
 * Errors: WD_NOMEM. */
enum wd_status wd_reader_in_process(const struct wd_io_manners *manners,
    struct wd_reader **reader, struct wd_error *err) WD_MUST_CHECK;

#endif
