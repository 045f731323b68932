/*
 * show.h - answers as text for people: the verdict first, then what it rests
 * on, then everything that could not be seen.
 *
 * Nothing that a peer, a process or a file says reaches the output unescaped,
 * whether or not the sender has escaped it. Colours are used only when asked
 * for. Numbers of bytes and parameters are written out and, where that helps
 * the eye, also rounded.
 */
#ifndef WD_VERDICT_SHOW_H
#define WD_VERDICT_SHOW_H

#include <stdbool.h>

#include "base/buf.h"
#include "weightd/v1/service.pb-c.h"

/* Appends the answer about a port. Errors: those of the buffer. */
enum wd_status wd_show_answer(const Weightd__V1__AttestPortResponse *answer,
    bool with_colour, struct wd_buf *out) WD_MUST_CHECK;

/* Appends one bundle's fingerprint. Errors: those of the buffer. */
enum wd_status wd_show_bundle(const Weightd__V1__Bundle *bundle,
    bool with_colour, struct wd_buf *out) WD_MUST_CHECK;

#endif
