#include "support/zip_make.h"

#include <stdio.h>
#include <string.h>

#define MOST_BYTES (1UL << 20)

void
make_little(struct wd_buf *buf, uint64_t value, unsigned len)
{
	for (; len > 0; len--, value >>= 8)
		(void)wd_buf_byte(buf, (uint8_t)value);
}

void
make_zip_init(struct make_zip *zip)
{
	memset(zip, 0, sizeof(*zip));
	wd_buf_init(&zip->file, MOST_BYTES);
	wd_buf_init(&zip->directory, MOST_BYTES);
}

void
make_zip_release(struct make_zip *zip)
{
	wd_buf_release(&zip->file);
	wd_buf_release(&zip->directory);
}

void
make_zip_add(
    struct make_zip *zip, const char *name, struct wd_slice bytes, uint32_t crc)
{
	uint64_t offset = zip->file.len;
	unsigned len = (unsigned)strlen(name);
	struct wd_buf *d = &zip->directory;

	(void)wd_buf_append(&zip->file, "PK\3\4", 4);
	make_little(&zip->file, 45, 2);
	make_little(&zip->file, 0, 8); /* flags, method, time, date */
	make_little(&zip->file, crc, 4);
	make_little(&zip->file, bytes.len, 4);
	make_little(&zip->file, bytes.len, 4);
	make_little(&zip->file, len, 2);
	make_little(&zip->file, 0, 2);
	(void)wd_buf_append(&zip->file, name, len);
	(void)wd_buf_append(&zip->file, bytes.data, bytes.len);
	(void)wd_buf_append(d, "PK\1\2", 4);
	make_little(d, 45, 2);
	make_little(d, 45, 2);
	make_little(d, 0, 8);
	make_little(d, crc, 4);
	make_little(d, zip->wide ? 0xffffffff : bytes.len, 4);
	make_little(d, zip->wide ? 0xffffffff : bytes.len, 4);
	make_little(d, len, 2);
	make_little(d, zip->wide ? 4 + 2 + 28 : 0, 2);
	make_little(d, 0, 8); /* comment, disk, attributes */
	make_little(d, 0, 2);
	make_little(d, zip->wide ? 0xffffffff : offset, 4);
	(void)wd_buf_append(d, name, len);
	zip->members++;
	if (!zip->wide)
		return;
	make_little(d, 0x9999, 2); /* another extra field, passed over */
	make_little(d, 2, 2);
	make_little(d, 0, 2);
	make_little(d, 1, 2);
	make_little(d, 24, 2);
	make_little(d, bytes.len, 8);
	make_little(d, bytes.len, 8);
	make_little(d, offset, 8);
}

static void
finish_wide(struct make_zip *zip, uint64_t start)
{
	uint64_t at = zip->file.len;
	struct wd_buf *f = &zip->file;

	(void)wd_buf_append(f, "PK\6\6", 4);
	make_little(f, 44, 8);
	make_little(f, 45, 2);
	make_little(f, 45, 2);
	make_little(f, 0, 8);
	make_little(f, zip->members, 8);
	make_little(f, zip->members, 8);
	make_little(f, zip->directory.len, 8);
	make_little(f, start, 8);
	(void)wd_buf_append(f, "PK\6\7", 4);
	make_little(f, 0, 4);
	make_little(f, at, 8);
	make_little(f, 1, 4);
}

void
make_zip_finish(struct make_zip *zip)
{
	uint64_t start = zip->file.len;
	struct wd_buf *f = &zip->file;

	(void)wd_buf_append(f, zip->directory.data, zip->directory.len);
	if (zip->wide)
		finish_wide(zip, start);
	(void)wd_buf_append(f, "PK\5\6", 4);
	make_little(f, 0, 4);
	make_little(f, zip->wide ? 0xffff : zip->members, 2);
	make_little(f, zip->wide ? 0xffff : zip->members, 2);
	make_little(f, zip->wide ? 0xffffffff : zip->directory.len, 4);
	make_little(f, zip->wide ? 0xffffffff : start, 4);
	make_little(f, 0, 2);
}

void
make_zip_checkpoint(struct make_zip *zip, const char *folder)
{
	static const char *const members[][2] = { { "data.pkl", "\x80\x02}." },
		{ "byteorder", "little" }, { "data/0", "0123456789abcdef" },
		{ "data/1", "abcd" }, { "version", "3\n" } };
	char name[128];
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		(void)snprintf(
		    name, sizeof(name), "%s/%s", folder, members[i][0]);
		make_zip_add(zip, name, wd_slice_text(members[i][1]),
		    (uint32_t)(0x1000 + i));
	}
	make_zip_finish(zip);
}
