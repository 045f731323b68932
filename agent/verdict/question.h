/*
 * question.h - flags of the command line that say what is asked, the same for
 * weightd and weightctl.
 */
#ifndef WD_VERDICT_QUESTION_H
#define WD_VERDICT_QUESTION_H

#include "base/error.h"
#include "weightd/v1/attestation.pb-c.h"

/* The caller's own end of a connection, from "127.0.0.1:40000" or
 * "[::1]:40000"; `*connection` is freed with wd_message_free. Errors:
 * WD_INVALID with the flag, the reason and the right form; WD_NOMEM. */
enum wd_status wd_connection_parse(const char *flag, const char *value,
    Weightd__V1__Connection **connection, struct wd_error *err) WD_MUST_CHECK;

#endif
