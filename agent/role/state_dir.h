/*
 * state_dir.h - the folder that the agent may write to, and its version.
 */
#ifndef WD_ROLE_STATE_DIR_H
#define WD_ROLE_STATE_DIR_H

#include "base/error.h"

#define WD_STATE_VERSION 1

/* Makes the folder (mode 0700) when it is missing, and a file VERSION in it.
 * Errors: WD_UNSUPPORTED when a newer weightd made it; WD_CORRUPT when VERSION
 * holds no number; what the system says. */
enum wd_status wd_state_dir_open(
    const char *path, struct wd_error *err) WD_MUST_CHECK;

#endif
