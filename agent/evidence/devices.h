/*
 * devices.h - memory on devices that compute, as evidence.
 *
 * What is on a device has no name and no file: it can be read by nobody, only
 * its size is accounted for, by the driver. THE RULE:
 *
 * 1. A process that holds a device that computes, by a descriptor or only by a
 *    mapping, is a blind spot unless every handle is accounted for: the host
 *    lists at least one use, each with its bytes, and every descriptor was
 *    seen. "Not accounted for" is never 0 bytes, and over it a group without
 *    models is BLIND, never NONE.
 * 2. Accounted for and less than WD_DEVICE_CONTEXT_BYTES in all: that is what a
 *    driver needs for itself (a desktop on /dev/dri, a library that only lists
 *    devices). No blind spot.
 * 3. Accounted for and more: a model can be there. Of a group that holds no
 *    model it is a blind spot, so the group is BLIND. Beside models that are
 *    held (INFERRED or better) it is one when it is more than their tensors:
 *    the rest may be the engine's caches or other weights. It is shown and
 *    does not change their grade, as large memory of the host does not: a
 *    mapping stays what it is, proof that this process loaded that file.
 * 4. Bytes on devices are "memory held" in the grades: a file that is named,
 *    not younger than the process, and no larger than what one process has on
 *    devices is INFERRED, no more. They are not added to its memory in RAM,
 *    where drivers keep a part of what they count.
 * 5. A mapping proves what was loaded, and not what computes: an engine with
 *    memory on a device computes from the copy there. So where the verdict
 *    forgives something because the pages that are mapped now were hashed
 *    (a file that changed since the load), or because weights that are
 *    RESIDENT cannot have been updated without a file, it does so only when
 *    Candidate.device_memory is a NO: rules 1 and 2 hold for every member.
 */
#ifndef WD_EVIDENCE_DEVICES_H
#define WD_EVIDENCE_DEVICES_H

#include "evidence/look.h"

/* Contexts, rings and page tables of DRM drivers take a few MiB; NVIDIA's
 * context of a process that computes takes 100 MiB and more, so that it stays a
 * blind spot. The smallest language models in use have 80 MiB. */
#define WD_DEVICE_CONTEXT_BYTES (32ULL << 20)

/* What the member has on devices, from its mappings and descriptors. Errors:
 * WD_NOMEM; everything else leaves it not accounted for. */
enum wd_status wd_look_devices(
    struct wd_look *look, struct wd_member *member) WD_MUST_CHECK;

/* The first device that computes of which it has a descriptor or a mapping, by
 * path; NULL: none was seen. */
const struct wd_bytes *wd_member_device(const struct wd_member *member);

/* What is known of all its devices together. */
uint64_t wd_member_device_bytes(const struct wd_member *member);

/* Whether it holds no device, or all of them are accounted for (rule 1), and
 * everything that it holds was seen. */
bool wd_member_devices_known(const struct wd_member *member);

/* Whether a model can be in its memory on devices: NO by rule 2, or when it
 * holds no device and everything it holds was seen; YES by rule 3. */
enum wd_tristate wd_member_on_device(const struct wd_member *member);

/* The same of all candidates of the group. */
enum wd_tristate wd_group_on_device(
    const struct wd_look *look, const struct wd_group *group);

/* Whether a member that had nothing on devices may have by now; `now` are its
 * descriptors of this moment. Errors: WD_NOMEM. */
enum wd_status wd_look_devices_again(struct wd_look *look,
    const struct wd_member *member, const struct wd_descriptors *now,
    bool *came) WD_MUST_CHECK;

/* Adds the blind spots of one member; `explained` are the bytes of models that
 * the group holds. Errors: WD_NOMEM. */
enum wd_status wd_look_blind_devices(struct wd_look *look,
    struct wd_group *group, const struct wd_member *member,
    uint64_t explained) WD_MUST_CHECK;

#endif
