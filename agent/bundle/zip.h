/*
 * zip.h - the list of a zip archive's members; nothing is unpacked.
 *
 * PKWARE APPNOTE 6.3.10, sections 4.3.12 (central directory), 4.3.14 to 4.3.16
 * (its ends, zip64). Members are believed by the central directory alone, as
 * PyTorch and Python do. What readers could understand in two ways is
 * refused: two members of one name, or over the same bytes, an end that
 * disagrees with its zip64 twin, an archive in several parts.
 */
#ifndef WD_BUNDLE_ZIP_H
#define WD_BUNDLE_ZIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "bundle/source.h"

struct wd_zip_member {
	struct wd_slice name;  /* bytes, in `directory` */
	uint64_t offset;       /* of its local header */
	uint64_t packed_bytes; /* in the file */
	uint64_t size_bytes;   /* unpacked */
	uint32_t crc32;        /* as the directory says; not checked */
	uint16_t method;       /* 0: stored */
};

struct wd_zip {
	struct wd_zip_member *members; /* by name bytes */
	size_t count;
	struct wd_buf directory;
};

/* Reads the list. Errors: WD_MALFORMED, WD_TRUNCATED (no end of a directory is
 * there: a download that stopped), WD_LIMIT, WD_NOMEM, those of read. On error
 * there is nothing to release. */
enum wd_status wd_zip_read(const struct wd_source *source, struct wd_zip *zip,
    struct wd_error *err) WD_MUST_CHECK;

void wd_zip_release(struct wd_zip *zip);

#endif
