/*
 * desk_scene.h - the observer's desk before the host of a scene (scene.h), for
 * tests of agent/observer.
 *
 * Every thread of the desk has a host of its own, made from the document as it
 * is when desk_open is called, and a reader whose calls a test can hold up. A
 * desk reads the scene's real time and the system's boot time.
 */
#ifndef WD_TESTS_SUPPORT_DESK_SCENE_H
#define WD_TESTS_SUPPORT_DESK_SCENE_H

#include <stdatomic.h>

#include "observer/desk.h"
#include "support/scene.h"

/* What became of one question. */
struct desk_answer {
	wd_ticket ticket;
	unsigned calls; /* of done */
	enum wd_status status;
	struct wd_buf bytes;
	struct wd_error err;
};

struct desk_scene {
	struct scene scene;
	struct wd_clock clock;
	struct wd_desk_options options; /* tests may change them first */
	struct wd_desk *desk;
	struct wd_observer *observer;
	/* Readers. */
	atomic_bool shut;               /* describing waits until it is false */
	atomic_bool hash_shut;          /* and so does hashing */
	atomic_int describing, hashing; /* that wait just now */
	atomic_int describes, hashes;   /* calls so far */
	atomic_int readers;             /* made so far */
	atomic_int ends; /* so many calls from now on say WD_GONE */
};

void desk_begin(struct desk_scene *d);
void desk_open(struct desk_scene *d);
void desk_end(struct desk_scene *d);

/* Asks; frees nothing. Returns what wd_observer_ask did. */
enum wd_status desk_ask(struct desk_scene *d, enum wd_call call,
    const ProtobufCMessage *request, int64_t wait_ms,
    struct desk_answer *answer);

/* Asks about a port. */
enum wd_status desk_ask_port(struct desk_scene *d, uint32_t port,
    Weightd__V1__DigestWish digests, int64_t wait_ms,
    struct desk_answer *answer);

/* Delivers until the question has its answer. */
void desk_wait(struct desk_scene *d, const struct desk_answer *answer);

/* Delivers what is there now. */
void desk_deliver(struct desk_scene *d);

/* The response message, which must have come; the caller frees it. */
void *desk_message(
    const struct desk_answer *answer, const ProtobufCMessageDescriptor *type);

void desk_answer_release(struct desk_answer *answer);

/* Waits until `*what` is at least `value`; the test ends after a minute. */
void desk_until(atomic_int *what, int value);

#endif
