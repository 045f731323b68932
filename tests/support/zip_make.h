/*
 * zip_make.h - writes small zip archives, right and wrong, after APPNOTE 6.3.10
 * and apart from agent/bundle.
 */
#ifndef WD_TESTS_SUPPORT_ZIP_MAKE_H
#define WD_TESTS_SUPPORT_ZIP_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct make_zip {
	struct wd_buf file;
	struct wd_buf directory;
	uint64_t members;
	bool wide; /* zip64 fields and a zip64 end */
};

void make_zip_init(struct make_zip *zip);
void make_zip_release(struct make_zip *zip);

/* A stored member; its checksum is `crc`, whatever the bytes. */
void make_zip_add(struct make_zip *zip, const char *name, struct wd_slice bytes,
    uint32_t crc);

/* The directory and its end; the file is then whole. */
void make_zip_finish(struct make_zip *zip);

/* A checkpoint as torch.save writes it: `folder`/data.pkl, data/0, version. */
void make_zip_checkpoint(struct make_zip *zip, const char *folder);

void make_little(struct wd_buf *buf, uint64_t value, unsigned len);

#endif
