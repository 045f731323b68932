#include "bundle/zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/limits.h"
#include "base/mem.h"

#define END_BYTES 22
#define END64_BYTES 56
#define LOCATOR_BYTES 20
#define MOST_COMMENT 65535
#define ENTRY_BYTES 46
#define LOCAL_BYTES 30
#define FULL16 0xffffU
#define FULL32 0xffffffffU

/* The directory's place, as its end says. */
struct place {
	uint64_t end_at; /* of the record in front of which it must end */
	uint64_t count;
	uint64_t size_bytes;
	uint64_t offset;
};

static uint64_t
little(const uint8_t *bytes, unsigned len)
{
	uint64_t value = 0;

	while (len-- > 0)
		value = value << 8 | bytes[len];
	return value;
}

static bool
signed_as(const uint8_t *bytes, const char signature[4])
{
	return memcmp(bytes, signature, 4) == 0;
}

/* The end record is the last whose comment fills the rest of the file. */
static const uint8_t *
find_end(const struct wd_buf *tail)
{
	size_t at;

	for (at = tail->len < END_BYTES ? 0 : tail->len - END_BYTES + 1;
	     at-- > 0;)
		if (signed_as(tail->data + at, "PK\5\6") &&
		    little(tail->data + at + 20, 2) ==
			tail->len - at - END_BYTES)
			return tail->data + at;
	return NULL;
}

/* A field of the end record, which is full when the wide one holds it. */
static bool
agree(uint64_t narrow, uint64_t full, uint64_t wide)
{
	return narrow == full || narrow == wide;
}

/* 4.3.14: the wide end, where its locator says that it stands. */
static enum wd_status
read_end64(const struct wd_source *source, const uint8_t *locator,
    struct place *place, struct wd_error *err)
{
	uint8_t end[END64_BYTES];
	uint64_t at = little(locator + 8, 8);
	enum wd_status st;

	if (at > place->end_at - LOCATOR_BYTES ||
	    place->end_at - LOCATOR_BYTES - at < END64_BYTES)
		return wd_fail_at(err, WD_MALFORMED,
		    place->end_at - LOCATOR_BYTES,
		    "the archive's zip64 end lies behind its locator");
	st = wd_source_exact(source, at, end, sizeof(end), err);
	if (st != WD_OK)
		return st;
	if (!signed_as(end, "PK\6\6") || little(end + 16, 4) != 0 ||
	    little(end + 20, 4) != 0 ||
	    little(end + 24, 8) != little(end + 32, 8))
		return wd_fail_at(err, WD_MALFORMED, at,
		    "the archive's zip64 end is none, or one of several parts");
	if (!agree(place->count, FULL16, little(end + 32, 8)) ||
	    !agree(place->size_bytes, FULL32, little(end + 40, 8)) ||
	    !agree(place->offset, FULL32, little(end + 48, 8)))
		return wd_fail_at(err, WD_MALFORMED, at,
		    "the archive's two ends disagree about its directory");
	*place = (struct place){ at, little(end + 32, 8), little(end + 40, 8),
		little(end + 48, 8) };
	return WD_OK;
}

/* 4.3.16, and 4.3.15 in front of it. */
static enum wd_status
read_end(const struct wd_source *source, const struct wd_buf *tail,
    struct place *place, struct wd_error *err)
{
	const uint8_t *end = find_end(tail);
	size_t at;

	if (end == NULL)
		return wd_fail_at(err, WD_TRUNCATED, source->size_bytes,
		    "the archive has no end: the file is cut, or is none");
	at = (size_t)(end - tail->data);
	*place = (struct place){ source->size_bytes - tail->len + at,
		little(end + 10, 2), little(end + 12, 4), little(end + 16, 4) };
	if (at >= LOCATOR_BYTES && signed_as(end - LOCATOR_BYTES, "PK\6\7"))
		return read_end64(source, end - LOCATOR_BYTES, place, err);
	if (little(end + 4, 2) != 0 || little(end + 6, 2) != 0 ||
	    little(end + 8, 2) != place->count)
		return wd_fail_at(err, WD_MALFORMED, place->end_at,
		    "the archive is one of several parts");
	return WD_OK;
}

static enum wd_status
check_place(const struct place *place, struct wd_error *err)
{
	if (place->size_bytes > WD_MAX_ZIP_DIRECTORY ||
	    place->count > WD_MAX_ZIP_MEMBERS)
		return wd_fail_at(err, WD_LIMIT, place->end_at,
		    "the archive has more members than any checkpoint");
	if (place->offset > place->end_at ||
	    place->size_bytes > place->end_at - place->offset)
		return wd_fail_at(err, WD_MALFORMED, place->end_at,
		    "the archive's directory lies behind its end");
	if (place->count * ENTRY_BYTES > place->size_bytes)
		return wd_fail_at(err, WD_MALFORMED, place->end_at,
		    "the archive's directory is too short for its members");
	return WD_OK;
}

/* 4.5.3: what does not fit in 32 bits, in this order; only what is full in the
 * entry itself is there. */
static bool
read_wide(struct wd_slice extra, struct wd_zip_member *member)
{
	uint64_t *const fields[] = { &member->size_bytes, &member->packed_bytes,
		&member->offset };
	size_t at = 4, i, end;

	while (extra.len >= 4 && little(extra.data, 2) != 1) {
		size_t skip = 4 + (size_t)little(extra.data + 2, 2);

		if (skip > extra.len)
			return false;
		extra.data += skip;
		extra.len -= skip;
	}
	end = extra.len < 4 ? 0 : 4 + (size_t)little(extra.data + 2, 2);
	if (end > extra.len)
		return false;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (*fields[i] != FULL32)
			continue;
		if (end < at + 8)
			return false;
		*fields[i] = little(extra.data + at, 8);
		at += 8;
	}
	return true;
}

/* What of the file the member takes up at least. */
static bool
end_of(const struct wd_zip_member *member, uint64_t *end)
{
	return wd_add_u64(
		   member->offset, LOCAL_BYTES + member->name.len, end) &&
	    wd_add_u64(*end, member->packed_bytes, end);
}

static enum wd_status
read_entry(const struct place *place, struct wd_slice *rest,
    struct wd_zip_member *member, struct wd_error *err)
{
	const uint8_t *entry = rest->data;
	uint64_t at = place->offset + place->size_bytes - rest->len, end;
	size_t name_len, extra_len, len;

	if (rest->len < ENTRY_BYTES || !signed_as(entry, "PK\1\2"))
		return wd_fail_at(err, WD_MALFORMED, at,
		    "a member of the archive's directory is none");
	name_len = (size_t)little(entry + 28, 2);
	extra_len = (size_t)little(entry + 30, 2);
	len =
	    ENTRY_BYTES + name_len + extra_len + (size_t)little(entry + 32, 2);
	if (len > rest->len || name_len == 0 || name_len > WD_MAX_ZIP_NAME)
		return wd_fail_at(err, WD_MALFORMED, at,
		    "a member's name is empty, too long or cut");
	*member = (struct wd_zip_member){
		.name = { entry + ENTRY_BYTES, name_len },
		.offset = little(entry + 42, 4),
		.packed_bytes = little(entry + 20, 4),
		.size_bytes = little(entry + 24, 4),
		.crc32 = (uint32_t)little(entry + 16, 4),
		.method = (uint16_t)little(entry + 10, 2),
	};
	if (!read_wide(
		(struct wd_slice){ entry + ENTRY_BYTES + name_len, extra_len },
		member) ||
	    !end_of(member, &end) || end > place->offset ||
	    (member->method == 0 && member->packed_bytes != member->size_bytes))
		return wd_fail_at(err, WD_MALFORMED, at,
		    "a member's bytes do not lie in the archive");
	rest->data += len;
	rest->len -= len;
	return WD_OK;
}

static int
compare_places(const void *a, const void *b)
{
	const struct wd_zip_member *left = a, *right = b;

	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static int
compare_names(const void *a, const void *b)
{
	const struct wd_zip_member *left = a, *right = b;

	return wd_slice_compare(left->name, right->name);
}

/* Leaves the members in the order of their names. */
static enum wd_status
check_members(struct wd_zip *zip, struct wd_error *err)
{
	struct wd_zip_member *members = zip->members;
	uint64_t end = 0;
	size_t i;

	if (zip->count == 0)
		return WD_OK;
	qsort(members, zip->count, sizeof(*members), compare_places);
	for (i = 0; i < zip->count; i++) {
		if (members[i].offset < end)
			return wd_fail_at(err, WD_MALFORMED, members[i].offset,
			    "two members of the archive share bytes");
		(void)end_of(&members[i], &end);
	}
	qsort(members, zip->count, sizeof(*members), compare_names);
	for (i = 1; i < zip->count; i++)
		if (wd_slice_equal(members[i].name, members[i - 1].name))
			return wd_fail_at(err, WD_MALFORMED, members[i].offset,
			    "two members of the archive have one name; readers "
			    "differ on which one counts");
	return WD_OK;
}

static enum wd_status
read_directory(const struct wd_source *source, const struct place *place,
    struct wd_zip *zip, struct wd_error *err)
{
	struct wd_slice rest;
	uint8_t *space;
	enum wd_status st;

	zip->members =
	    wd_calloc((size_t)place->count, sizeof(struct wd_zip_member));
	if (zip->members == NULL ||
	    wd_buf_reserve(
		&zip->directory, (size_t)place->size_bytes, &space) != WD_OK)
		return wd_fail(err, WD_NOMEM, "no memory for the directory");
	st = wd_source_exact(
	    source, place->offset, space, (size_t)place->size_bytes, err);
	if (st != WD_OK)
		return st;
	wd_buf_advance(&zip->directory, (size_t)place->size_bytes);
	rest = wd_buf_slice(&zip->directory);
	while (zip->count < place->count && st == WD_OK)
		st = read_entry(place, &rest, &zip->members[zip->count++], err);
	return st == WD_OK ? check_members(zip, err) : st;
}

static enum wd_status
read_tail(
    const struct wd_source *source, struct wd_buf *tail, struct wd_error *err)
{
	uint64_t most = LOCATOR_BYTES + END_BYTES + MOST_COMMENT;
	size_t len =
	    (size_t)(source->size_bytes < most ? source->size_bytes : most);
	enum wd_status st;
	uint8_t *space;

	if (wd_buf_reserve(tail, len, &space) != WD_OK)
		return wd_fail(err, WD_NOMEM, "no memory for the archive");
	st = wd_source_exact(source, source->size_bytes - len, space, len, err);
	if (st == WD_OK)
		wd_buf_advance(tail, len);
	return st;
}

enum wd_status
wd_zip_read(
    const struct wd_source *source, struct wd_zip *zip, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf tail;
	struct place place;
	enum wd_status st;

	memset(zip, 0, sizeof(*zip));
	wd_buf_init(&zip->directory, WD_MAX_ZIP_DIRECTORY);
	wd_buf_init(&tail, LOCATOR_BYTES + END_BYTES + MOST_COMMENT);
	st = read_tail(source, &tail, err);
	if (st == WD_OK)
		st = read_end(source, &tail, &place, err);
	if (st == WD_OK)
		st = check_place(&place, err);
	if (st == WD_OK)
		st = read_directory(source, &place, zip, err);
	if (st != WD_OK)
		wd_zip_release(zip);
	return st;
}

void
wd_zip_release(struct wd_zip *zip)
{
	wd_free(zip->members);
	wd_buf_release(&zip->directory);
	memset(zip, 0, sizeof(*zip));
}
