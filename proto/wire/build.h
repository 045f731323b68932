/*
 * build.h - makes protobuf-c messages piece by piece on the heap.
 *
 * protobuf-c leaves every allocation, the growing of arrays and the contents
 * of strings to its caller. Here that is done once: everything a builder puts
 * into a message belongs to the message and is freed with it
 * (protobuf_c_message_free_unpacked with a NULL allocator, or
 * wd_message_free).
 *
 * A builder remembers its first failure: fill a whole message, then look at
 * `status` once. After a failure every function does nothing, and those that
 * return a message return NULL, which the caller must check before it fills
 * that message. What was built so far stays valid and can be freed.
 *
 * Strings of a message are always valid UTF-8 without a NUL, as proto3 wants
 * it: bytes that are not are replaced by U+FFFD. Text that may be anything
 * belongs in a `bytes` field.
 */
#ifndef WD_WIRE_BUILD_H
#define WD_WIRE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include "base/digest.h"
#include "base/slice.h"
#include "base/status.h"
#include "weightd/v1/bundle.pb-c.h"

struct wd_build {
	enum wd_status status; /* WD_OK, WD_NOMEM or WD_LIMIT */
};

/* A builder without a failure. */
static inline struct wd_build
wd_build_init(void)
{
	return (struct wd_build){ WD_OK };
}

/* A new message with its defaults; NULL on failure. The caller owns it. */
void *wd_build_new(
    struct wd_build *build, const ProtobufCMessageDescriptor *descriptor);

/* Frees a message and all that hangs on it; NULL is allowed. */
void wd_message_free(void *message);

/* Cleanup handler for a variable that points to a message. */
void wd_message_free_scoped(void *pointer_to_message);

/* Sets a string field, replacing what it holds; NULL sets "". For members of
 * a oneof the caller sets the case too. */
void wd_build_text(struct wd_build *build, char **field, const char *text);
void wd_build_slice(struct wd_build *build, char **field, struct wd_slice text);
void wd_build_printf(struct wd_build *build, char **field, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

/* Sets a bytes field, replacing what it holds. */
void wd_build_bytes(
    struct wd_build *build, ProtobufCBinaryData *field, struct wd_slice bytes);

/* Sets a digest field to a SHA-256; NULL clears it. */
void wd_build_digest(struct wd_build *build, Weightd__V1__Digest **field,
    const struct wd_sha256 *digest);

/* Sets a timestamp to nanoseconds of real time since 1970 (may be negative). */
void wd_build_time(struct wd_build *build, Google__Protobuf__Timestamp **field,
    int64_t real_ns);

/* The digest in a message. False when it is absent or no SHA-256. */
bool wd_message_digest(
    const Weightd__V1__Digest *message, struct wd_sha256 *digest);

/* Appends to repeated fields. `WD_BUILD_ADD(&b, parent, field, descriptor)`
 * appends a new message and returns it, NULL on failure; WD_BUILD_PUSH
 * appends a number or an enum value of the field's own type. */
#define WD_BUILD_ADD(build, parent, field, descriptor)                         \
	wd_build_add((build), &(parent)->n_##field,                            \
	    (void ***)&(parent)->field, (descriptor))
#define WD_BUILD_PUSH(build, parent, field, value)                             \
	do {                                                                   \
		if (wd_build_grow((build), (parent)->n_##field,                \
			(void **)&(parent)->field, sizeof *(parent)->field))   \
			(parent)->field[(parent)->n_##field++] = (value);      \
	} while (0)

void *wd_build_add(struct wd_build *build, size_t *count, void ***items,
    const ProtobufCMessageDescriptor *descriptor);

/* Appends a message that the caller has built; it then belongs to the array,
 * also on failure (it is freed). */
void wd_build_adopt(
    struct wd_build *build, size_t *count, void ***items, void *message);

void wd_build_add_text(
    struct wd_build *build, size_t *count, char ***items, const char *text);
void wd_build_add_bytes(struct wd_build *build, size_t *count,
    ProtobufCBinaryData **items, struct wd_slice bytes);

/* Room for one more item behind the `count` that are there. False on
 * failure. */
bool wd_build_grow(
    struct wd_build *build, size_t count, void **items, size_t size);

#endif
