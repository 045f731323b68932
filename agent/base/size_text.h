/*
 * size_text.h - a number of bytes for people: "4.6 GiB". For texts only;
 * messages carry the number itself.
 */
#ifndef WD_BASE_SIZE_TEXT_H
#define WD_BASE_SIZE_TEXT_H

#include <stdint.h>

/* Room for the longest, "1023.9 MiB", and more. */
#define WD_SIZE_TEXT_BYTES 32

/* In the largest binary unit of which there is one, with one decimal, cut and
 * not rounded: "0 bytes", "1023 bytes", "1.0 KiB", "15.9 EiB". Returns
 * `text`. */
const char *wd_size_text(uint64_t bytes, char text[WD_SIZE_TEXT_BYTES]);

#endif
