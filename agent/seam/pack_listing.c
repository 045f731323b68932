#include "seam/pack_listing.h"

#include <string.h>

#include "base/escape.h"
#include "base/mem.h"

struct packed {
	Weightd__Seam__V1__Listing message; /* first: what the caller sees */
	Weightd__Seam__V1__Listed *items, **list;
};

static ProtobufCBinaryData
borrow(const void *bytes, size_t len)
{
	ProtobufCBinaryData data = { .len = len };

	/* Packing reads it only. */
	memcpy(&data.data, &bytes, sizeof(bytes));
	return data;
}

static void
fill(struct packed *p, const struct wd_listing *listing)
{
	size_t i;

	for (i = 0; i < listing->count; i++) {
		const struct wd_listed *item = &listing->items[i];
		Weightd__Seam__V1__Listed *out = &p->items[i];

		weightd__seam__v1__listed__init(out);
		out->use = item->use;
		out->entry = borrow(item->entry, strlen(item->entry));
		out->key = borrow(item->key, strlen(item->key));
		out->value = borrow(item->value.data, item->value.len);
		p->list[i] = out;
	}
	p->message.items = p->list;
	p->message.n_items = listing->count;
	p->message.entries = listing->entries;
	p->message.complete = listing->complete;
}

enum wd_status
wd_listing_message(const struct wd_listing *listing,
    Weightd__Seam__V1__Listing **message, struct wd_error *err)
{
	struct packed *p = wd_calloc(1, sizeof(*p));

	if (p == NULL)
		return wd_fail(err, WD_NOMEM, "seam: no memory for a list");
	weightd__seam__v1__listing__init(&p->message);
	*message = &p->message;
	p->items = wd_calloc(listing->count, sizeof(*p->items));
	p->list = wd_calloc(listing->count, sizeof(void *));
	if (p->items == NULL || p->list == NULL) {
		wd_listing_message_free(message);
		return wd_fail(err, WD_NOMEM, "seam: no memory for a list");
	}
	fill(p, listing);
	return WD_OK;
}

void
wd_listing_message_free(Weightd__Seam__V1__Listing **message)
{
	struct packed *p = (struct packed *)*message;

	if (p == NULL)
		return;
	wd_free(p->items);
	wd_free(p->list);
	wd_free(p);
	*message = NULL;
}

static bool
is_escaped(ProtobufCBinaryData text)
{
	struct wd_slice rest = { text.data, text.len };
	uint32_t code;
	size_t len;

	while (rest.len > 0) {
		len = wd_utf8_char(rest, &code);
		if (len == 0 || (code != '\\' && !wd_code_point_plain(code)))
			return false;
		rest.data += len;
		rest.len -= len;
	}
	return true;
}

static struct wd_slice
slice_of(ProtobufCBinaryData data)
{
	return (struct wd_slice){ data.data, data.len };
}

static enum wd_status
take_items(const Weightd__Seam__V1__Listing *message,
    struct wd_listing *listing, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < message->n_items && st == WD_OK; i++) {
		const Weightd__Seam__V1__Listed *item = message->items[i];

		if (item->use > WD_LISTED_UPSTREAM ||
		    !is_escaped(item->entry) || !is_escaped(item->key))
			return wd_fail(err, WD_MALFORMED,
			    "the reader gave a list that is none");
		st = wd_listing_put(listing, (enum wd_listed_use)item->use,
		    slice_of(item->entry), slice_of(item->key),
		    slice_of(item->value));
	}
	return st == WD_OK ? st :
			     wd_fail(err, st, "seam: no memory for a list");
}

enum wd_status
wd_listing_of_message(const Weightd__Seam__V1__Listing *message,
    struct wd_listing *listing, struct wd_error *err)
{
	enum wd_status st = wd_listing_init(listing);

	if (st != WD_OK)
		return wd_fail(err, st, "seam: no memory for a list");
	st = take_items(message, listing, err);
	listing->entries = message->entries;
	listing->complete &= message->complete;
	if (st != WD_OK)
		wd_listing_release(listing);
	return st;
}
