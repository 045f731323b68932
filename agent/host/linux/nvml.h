/*
 * nvml.h - the memory that a process has on NVIDIA devices, as the driver's
 * own library accounts for it. The library is loaded when it is first needed;
 * nothing of it is needed to build.
 *
 * Functions and layouts are those of NVIDIA's public nvml.h. One of them is
 * not to be trusted: which of three layouts of a process entry the running-
 * process calls write depends on the driver's version and not on the call's
 * name, so it is found out from what was written (wd_nvml_entry_bytes).
 */
#ifndef WD_HOST_LINUX_NVML_H
#define WD_HOST_LINUX_NVML_H

#include "base/clock.h"
#include "host/host.h"

struct wd_nvml;

/* A library that is not loaded yet; `name` as for dlopen(3), copied. Errors:
 * WD_NOMEM. */
enum wd_status wd_nvml_new(
    const char *name, struct wd_nvml **nvml) WD_MUST_CHECK;
void wd_nvml_free(struct wd_nvml **nvml);

/* Appends "NVIDIA PCI-ADDRESS" for each device on which the library lists
 * process `pid`, a pid of the first pid namespace. Whatever the library
 * cannot tell becomes a use whose bytes are not known, so that at least one is
 * appended always: a process on no list may run under MPS, or be hidden.
 * The driver is initialised for this call only: held open it could not be
 * reset or replaced. Errors: WD_NOMEM, WD_LIMIT, WD_TIMEDOUT (between two
 * devices; the library's own calls cannot be interrupted). */
enum wd_status wd_nvml_uses(struct wd_nvml *nvml, pid_t pid,
    const struct wd_deadline *deadline,
    struct wd_device_uses *uses) WD_MUST_CHECK;

/* Room for one entry: more than the largest layout that we know, so that a
 * larger one shows. */
#define WD_NVML_ENTRY_ROOM 64

/* The byte that an array is filled with before it is handed over. */
#define WD_NVML_FILL 0xA5

/* The size of one entry, from an array of `count` times WD_NVML_ENTRY_ROOM
 * bytes that the library has filled with `count` entries: 16 (pid, bytes), 24
 * (and the two instance ids) or 32 (and protected bytes). 0 when it is none of
 * them. Pure. */
size_t wd_nvml_entry_bytes(const uint8_t *array, size_t count);

#endif
