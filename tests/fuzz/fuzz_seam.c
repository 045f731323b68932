/* What a process of ours that was taken over can say to another: the first
 * byte chooses a message, the rest are its bytes. Facts and lists that are
 * accepted must come back as they were when they are said again. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/limits.h"
#include "seam/line.h"
#include "seam/pack.h"
#include "seam/pack_listing.h"
#include "weightd/seam/v1/observer.pb-c.h"
#include "wire/build.h"
#include "wire/unpack.h"

#define MEMORY (64U << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(int holds)
{
	if (!holds)
		abort();
}

static struct wd_buf
bytes_of(const ProtobufCMessage *message)
{
	struct wd_buf bytes;

	wd_buf_init(&bytes, MEMORY);
	must(wd_wire_pack(message, &bytes, NULL) == WD_OK);
	return bytes;
}

static void
same_bytes(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
	struct wd_buf left = bytes_of(a), right = bytes_of(b);

	must(wd_slice_equal(wd_buf_slice(&left), wd_buf_slice(&right)));
	wd_buf_release(&left);
	wd_buf_release(&right);
}

static void
run_facts(const Weightd__Seam__V1__Facts *facts)
{
	Weightd__Seam__V1__Facts *said = NULL, *again = NULL;
	struct wd_bundle *bundle = NULL, *second = NULL;

	if (wd_facts_bundle(facts, &bundle, NULL) != WD_OK) {
		must(bundle == NULL);
		return;
	}
	must(wd_facts_of(bundle, &said, NULL) == WD_OK);
	must(wd_facts_bundle(said, &second, NULL) == WD_OK);
	must(wd_facts_of(second, &again, NULL) == WD_OK);
	same_bytes(&said->base, &again->base);
	wd_facts_free(&again);
	wd_bundle_free(&second);
	wd_facts_free(&said);
	wd_bundle_free(&bundle);
}

/* A value that cannot be a path is left out, so only what was taken is said
 * again. */
static void
run_listing(const Weightd__Seam__V1__Listing *message)
{
	Weightd__Seam__V1__Listing *said = NULL, *again = NULL;
	struct wd_listing listing, second;

	if (wd_listing_of_message(message, &listing, NULL) != WD_OK) {
		must(listing.count == 0);
		return;
	}
	must(listing.count <= message->n_items);
	must(wd_listing_message(&listing, &said, NULL) == WD_OK);
	must(wd_listing_of_message(said, &second, NULL) == WD_OK);
	must(wd_listing_message(&second, &again, NULL) == WD_OK);
	same_bytes(&said->base, &again->base);
	wd_listing_message_free(&again);
	wd_listing_release(&second);
	wd_listing_message_free(&said);
	wd_listing_release(&listing);
}

static void
run_done(const Weightd__Seam__V1__Done *done)
{
	struct wd_error err;

	wd_error_init(&err);
	if (wd_line_status(done->failure, &err) != WD_OK)
		must(wd_utf8_valid(wd_slice_text(err.message)));
	if (done->facts != NULL)
		run_facts(done->facts);
	if (done->listing != NULL)
		run_listing(done->listing);
}

static void
run_message(unsigned kind, struct wd_slice bytes)
{
	static const ProtobufCMessageDescriptor *const types[] = {
		&weightd__seam__v1__done__descriptor,
		&weightd__seam__v1__call__descriptor,
		&weightd__seam__v1__ask__descriptor,
		&weightd__seam__v1__give__descriptor,
		&weightd__seam__v1__question__descriptor,
		&weightd__seam__v1__answer__descriptor,
		&weightd__seam__v1__front_settings__descriptor,
		&weightd__seam__v1__front_state__descriptor,
	};
	ProtobufCMessage *message = NULL;

	kind %= sizeof(types) / sizeof(types[0]);
	if (wd_wire_unpack(types[kind], bytes, WD_WIRE_REFUSE_UNKNOWN, MEMORY,
		&message, NULL) != WD_OK)
		return;
	if (kind == 0)
		run_done((const Weightd__Seam__V1__Done *)message);
	wd_message_free(message);
}

/* The bytes as a stream of frames. */
static void
run_frames(struct wd_slice bytes)
{
	struct wd_frame frame;
	int pair[2];

	if (bytes.len > 65536 || wd_frame_pair(pair, NULL) != WD_OK)
		return;
	must(send(pair[0], bytes.data, bytes.len, 0) == (ssize_t)bytes.len);
	(void)close(pair[0]);
	while (
	    wd_frame_receive(pair[1], 1U << 20, NULL, &frame, NULL) == WD_OK) {
		must(frame.fd_count == 0 && frame.len <= 1U << 20);
		wd_frame_release(&frame);
	}
	(void)close(pair[1]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice rest = { data, size };

	if (size == 0)
		return 0;
	rest.data++;
	rest.len--;
	if (data[0] == 0xff)
		run_frames(rest);
	else
		run_message(data[0], rest);
	return 0;
}
