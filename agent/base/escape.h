/*
 * escape.h - bytes from outside, made safe for a terminal, a log or a page.
 *
 * Valid UTF-8 text passes, except control characters (C0, DEL, C1),
 * bidirectional and zero-width formatting, blanks other than the plain space,
 * line and paragraph separators and the backslash itself. Those, and bytes
 * that are not UTF-8, are written as \n, \t, \\ or \xHH, so that two different
 * inputs never give the same output. (Letters of two scripts may still look
 * alike.) The output is valid UTF-8 on one line.
 */
#ifndef WD_BASE_ESCAPE_H
#define WD_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

/* Appends the escaped bytes. Errors: those of the buffer. */
enum wd_status wd_escape(struct wd_buf *out, struct wd_slice bytes);

/* Appends the bytes as one word of a shell-like command line: bare when they
 * hold only safe characters, else escaped within double quotes. */
enum wd_status wd_escape_word(struct wd_buf *out, struct wd_slice bytes);

/* Escapes into a fixed array for an error message; cut with "..." when it is
 * too small, never within a character or an escape. Allocates nothing.
 * Returns `out`; "" when `size` is 0. */
const char *wd_escape_short(char *out, size_t size, struct wd_slice bytes);

/* Whether the bytes are valid UTF-8 (RFC 3629: no surrogates, no overlong
 * forms, nothing above U+10FFFF). NUL is valid. */
bool wd_utf8_valid(struct wd_slice bytes);

/* The length of the UTF-8 character at the start of `bytes`, and its code
 * point; 0 when they are empty or begin with no valid character. */
size_t wd_utf8_char(struct wd_slice bytes, uint32_t *code);

/* Whether wd_escape would let the code point pass, the backslash apart. */
bool wd_code_point_plain(uint32_t code);

#endif
