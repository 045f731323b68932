/* Lists of names: the bytes as each kind of list. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "bundle/listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(int right)
{
	if (!right)
		abort();
}

static void
check_item(const struct wd_listed *item, enum wd_listing_kind kind)
{
	check(item->value.len > 0 && item->value.len < WD_MAX_PATH);
	check(memchr(item->value.data, 0, item->value.len) == NULL);
	check(wd_utf8_valid(wd_slice_text(item->entry)));
	check(wd_utf8_valid(wd_slice_text(item->key)));
	/* Both become parts of paths. */
	if (kind == WD_LISTING_REF)
		check(wd_folder_name_allowed(item->value));
	if (kind == WD_LISTING_MANIFEST)
		check(item->value.len == 71 &&
		    memchr(item->value.data, '/', 71) == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice text = { data, size };
	struct wd_source source = wd_source_memory(&text);
	unsigned kind;
	size_t i;

	for (kind = WD_LISTING_REF; kind <= WD_LISTING_PROXY; kind++) {
		struct wd_listing listing;

		if (wd_listing_read(&source, (enum wd_listing_kind)kind,
			&listing, NULL) != WD_OK) {
			check(listing.count == 0 && listing.arena == NULL);
			continue;
		}
		check(listing.count <= WD_MAX_LISTED);
		for (i = 0; i < listing.count; i++)
			check_item(
			    &listing.items[i], (enum wd_listing_kind)kind);
		wd_listing_release(&listing);
	}
	return 0;
}
