/*
 * attestation_make.h - attestations and expectations for tests.
 *
 * make_attestation gives the best answer there is: one listener, one owner,
 * one group that holds one GGUF file wholly mapped, unchanged and hashed for
 * this answer, every check made. A test spoils exactly what it is about. All
 * functions end the test program when there is no memory.
 */
#ifndef WD_TESTS_SUPPORT_ATTESTATION_MAKE_H
#define WD_TESTS_SUPPORT_ATTESTATION_MAKE_H

#include "weightd/v1/service.pb-c.h"

#define GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name
#define FLAG(name) WEIGHTD__V1__FLAG__FLAG_##name
#define CHECK(name) WEIGHTD__V1__CHECK__CHECK_##name
#define VERDICT(name) WEIGHTD__V1__VERDICT_KIND__VERDICT_KIND_##name
#define KIND(name) WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_##name
#define STATE(name) WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_##name
#define ROLE(name) WEIGHTD__V1__EXPECTED_ROLE__EXPECTED_ROLE_##name
#define OWNERS(name) WEIGHTD__V1__OWNERS_STATE__OWNERS_STATE_##name
#define SEEN(name) WEIGHTD__V1__TRISTATE__TRISTATE_##name
#define SCOPE(name) WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_##name
#define MOVED(name) WEIGHTD__V1__MOVED__MOVED_##name

/* What the good model is. */
#define MAKE_PORT 8081
#define MAKE_PID 4711
#define MAKE_BOOT "5b1c0f0e-8d3c-4f43-9d0e-5f0a3c1b7e21"
#define MAKE_PARAMETERS 7615616512
#define MAKE_NAME "Qwen2.5 7B Instruct"
#define MAKE_DERIVED "derived:q4_k-f32-0123456789abcdef"
#define MAKE_DECLARED "mixed-8-4"

Weightd__V1__Attestation *make_attestation(void);
Weightd__V1__Listener *make_listener(
    Weightd__V1__Attestation *all, const char *address, uint32_t group);
Weightd__V1__Group *make_group(Weightd__V1__Attestation *all);
Weightd__V1__Candidate *make_candidate(
    Weightd__V1__Group *group, Weightd__V1__BundleKind kind, const char *name);
Weightd__V1__BlindSpot *make_blind_spot(
    Weightd__V1__Attestation *all, Weightd__V1__BlindSpot__Scope scope);
Weightd__V1__Process *make_process(
    Weightd__V1__Attestation *all, int32_t pid, const char *comm);
/* The question names a connection, and the first group's owner holds it. */
Weightd__V1__AcceptedConnection *make_connection(Weightd__V1__Attestation *all);
Weightd__V1__Hop *make_hop(
    Weightd__V1__Group *group, const char *address, uint32_t port);
void make_flag(
    Weightd__V1__Flag **flags, size_t *count, Weightd__V1__Flag flag);
void make_moved(Weightd__V1__Attestation *all, Weightd__V1__Moved moved);
void make_setting(Weightd__V1__Setting ***settings, size_t *count,
    const char *key, const char *value);

/* Takes a check away wherever it is listed. */
void drop_check(Weightd__V1__Attestation *all, Weightd__V1__Check check);

/* The first group, its first candidate, that one's first file. */
Weightd__V1__Group *group_in(Weightd__V1__Attestation *all);
Weightd__V1__Candidate *model_in(Weightd__V1__Attestation *all);
Weightd__V1__FileEvidence *file_in(Weightd__V1__Attestation *all);

/* A SHA-256 whose bytes are all `fill`; the good model's content is 0xc0, its
 * file's 0xf0, its encodings' 0xe0. */
void make_digest(Weightd__V1__Digest **field, uint8_t fill);

/* An expectation without anything; then what it pins. */
Weightd__V1__Expectation *make_expectation(void);
void pin_model(Weightd__V1__Expectation *e, const char *name);
void pin_parameters(Weightd__V1__Expectation *e, uint64_t count);
void pin_recipe(Weightd__V1__Expectation *e, const char *recipe);
Weightd__V1__ExpectedCompanion *pin_companion(
    Weightd__V1__Expectation *e, Weightd__V1__BundleKind kind, int fill);
void pin_setting(
    Weightd__V1__Expectation *e, const char *key, const char *value);
void pin_route(Weightd__V1__Expectation *e, const char *name, uint32_t port);

/* Sets a string field. */
void make_text(char **field, const char *text);
void make_bytes(ProtobufCBinaryData *field, const void *bytes, size_t len);

/* A device on which the process has that much, or why it is not known. */
void make_device_use(Weightd__V1__Process *process, const char *device,
    uint64_t bytes, const char *reason);

void make_note(Weightd__V1__Candidate *candidate, const char *text);

#endif
