/*
 * claims.h - how claims are made, followed and filled in, among the files that
 * do it: claims.c (words), claim_names.c (names in caches). Private to this
 * room.
 */
#ifndef WD_EVIDENCE_CLAIMS_H
#define WD_EVIDENCE_CLAIMS_H

#include "evidence/look.h"

/* Names of a folder's entries, sorted; at most WD_MAX_FOLDER_ENTRIES. */
#define WD_MAX_FOLDER_ENTRIES 4096

struct wd_entries {
	struct wd_bytes *items;
	size_t count, capacity;
	bool complete;
	enum wd_status status; /* WD_NOMEM: of the collecting */
};

/* Lists an open folder. Errors: WD_NOMEM, those of the folder. The caller
 * releases `entries` in any case. */
enum wd_status wd_entries_read(
    int fd, struct wd_entries *entries) WD_MUST_CHECK;
void wd_entries_release(struct wd_entries *entries);

/* Sets `claim` to where `path` leads in the eyes of process `pid`, when that
 * is weights: a file, or a folder of one model. `within` (may be empty): of a
 * folder only files whose names contain it, in any letter case. Errors:
 * WD_NOMEM. */
enum wd_status wd_claim_follow(struct wd_look *look, struct wd_group *group,
    struct wd_claim *claim, pid_t pid, struct wd_slice path,
    struct wd_slice within) WD_MUST_CHECK;

/* Adds a claim and follows it. With `keep` false it is dropped when it leads
 * nowhere. Beyond the cap the group's claims count as not checked. Errors:
 * WD_NOMEM. */
enum wd_status wd_claim_add(struct wd_look *look, struct wd_group *group,
    size_t member, Weightd__V1__Claim__Source source, struct wd_slice key,
    enum wd_claim_use use, bool keep, struct wd_slice value) WD_MUST_CHECK;

/* claim_lists.c: what stands in the files that member `member` names. What
 * cannot be read makes the group's claims count as not checked. Errors:
 * WD_NOMEM. */
enum wd_status wd_claim_lists(struct wd_look *look, struct wd_group *group,
    size_t member, struct wd_error *err) WD_MUST_CHECK;

/* claim_names.c: follows what member `member` names by a repository's id or by
 * a tag. Errors: WD_NOMEM. */
enum wd_status wd_claim_names(struct wd_look *look, struct wd_group *group,
    size_t member, struct wd_error *err) WD_MUST_CHECK;

#endif
