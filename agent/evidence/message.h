/*
 * message.h - the parts of a look as parts of the message. Private to this
 * room; nothing is decided here. Failures stay in the builder.
 */
#ifndef WD_EVIDENCE_MESSAGE_H
#define WD_EVIDENCE_MESSAGE_H

#include "evidence/look.h"
#include "wire/build.h"

Weightd__V1__Tristate wd_say_tristate(enum wd_tristate value);

/* Who the machine is; NULL when the builder has failed. */
Weightd__V1__HostIdentity *wd_say_host(
    struct wd_build *b, const struct wd_host_identity *host);

void wd_say_blind(struct wd_build *b, const struct wd_blind *blind,
    Weightd__V1__BlindSpot__Scope scope, Weightd__V1__BlindSpot *out);

/* One way in which a process has a socket. */
void wd_say_owner(const struct wd_holder *holder, Weightd__V1__Owner *out);

/* message_connection.c: the question's connection, and what was found at its
 * other end; nothing when no connection was asked about. */
void wd_say_connection(struct wd_build *b, const struct wd_look *look,
    Weightd__V1__Attestation *out);

/* message_process.c */
void wd_say_process(struct wd_build *b, const struct wd_look *look,
    const struct wd_member *member, Weightd__V1__Process *out);

/* message_model.c: the bundle with what is known of its files' bytes; the
 * message is the caller's. */
void wd_say_bundle(struct wd_build *b, const struct wd_model *model,
    Weightd__V1__Bundle **out);

/* message_model.c */
void wd_say_candidate(struct wd_build *b, const struct wd_look *look,
    const struct wd_group *group, const struct wd_model *model,
    Weightd__V1__Candidate *out);

/* Adds a pid that is not there yet. */
void wd_say_pid(struct wd_build *b, size_t *count, int32_t **pids, pid_t pid);

/* message_group.c */
void wd_say_group(struct wd_build *b, const struct wd_look *look,
    struct wd_group *group, Weightd__V1__Group *out);

#endif
