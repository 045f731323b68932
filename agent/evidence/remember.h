/*
 * remember.h - whether a digest may be remembered or believed later (design
 * rule 5). Private to this room.
 */
#ifndef WD_EVIDENCE_REMEMBER_H
#define WD_EVIDENCE_REMEMBER_H

#include "host/host.h"
#include "store/store.h"

struct wd_digest_key wd_digest_key_of(const struct wd_file_state *state);
bool wd_digest_key_same(
    const struct wd_digest_key *a, const struct wd_digest_key *b);

/* Whether the object is still in that state. */
bool wd_file_is_unchanged(
    struct wd_host *host, int fd, const struct wd_file_state *state);

/* Whether somebody could be writing it; not known where the file system has
 * no leases. */
enum wd_tristate wd_file_is_written(
    struct wd_host *host, int fd, const struct wd_file_state *state);

/* Whether a digest of the object in this state may be kept for another day:
 * its times can be trusted, are not too young to tell, and nobody writes. */
bool wd_digest_may_keep(struct wd_host *host, int fd,
    const struct wd_file_state *state, int64_t now_real_ns);

#endif
