/*
 * blind.h - what a group holds and we cannot read as weights: large memory
 * that no file explains, files of unknown content, memory on devices
 * (devices.h). Each is a blind spot, so that "no weights" is never said over
 * it.
 */
#ifndef WD_EVIDENCE_BLIND_H
#define WD_EVIDENCE_BLIND_H

#include "evidence/look.h"

/* Adds the blind spots and sets `group->unexplained` when one of them could
 * hide a model. Errors: WD_NOMEM. */
enum wd_status wd_look_blind(struct wd_look *look, struct wd_group *group,
    struct wd_error *err) WD_MUST_CHECK;

/* Whether an owner or descendant holds something in which a model could be that
 * nobody can account for: memory, a device, a file. To be asked before the
 * models are graded. */
bool wd_group_keeps_secrets(
    const struct wd_look *look, const struct wd_group *group);

/* Whether the process holds so much memory without a file that a language
 * model could be in it. */
bool wd_is_large_memory(const struct wd_process *process);

#endif
