/*
 * remote.h - the bundle that serves behind a port of another host, as its
 * agent sees it.
 */
#ifndef WD_CMD_REMOTE_H
#define WD_CMD_REMOTE_H

#include "cmd/cmd.h"
#include "cmd/session.h"
#include "weightd/v1/bundle.pb-c.h"

/* Whether the word is HOST:PORT and no path. Errors: WD_INVALID when there is
 * also a file of that name. */
enum wd_status wd_remote_is(
    const char *word, bool *is_remote, struct wd_error *err) WD_MUST_CHECK;

/* Asks for the one model behind HOST:PORT, believed as attest believes
 * (api/trust.h). Says what is wrong on standard error and returns its exit
 * code: 1 nothing listens; 3 no answer; 4 none, or several models. When the
 * model is there and is not proven, the bundle is given and the code is 4.
 * Freed with wd_message_free. */
int wd_remote_bundle(const struct wd_session_options *options, const char *word,
    Weightd__V1__DigestWish digests, Weightd__V1__Bundle **bundle);

#endif
