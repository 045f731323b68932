/*
 * tempdir.h - a folder of its own for each test, gone afterwards.
 */
#ifndef WD_TESTS_SUPPORT_TEMPDIR_H
#define WD_TESTS_SUPPORT_TEMPDIR_H

#include <stddef.h>

#define WD_TEMP_BYTES 256

/* Makes a new folder (mode 0700) below $TMPDIR or /tmp and writes its path
 * without symbolic links. Ends the test when it cannot. */
void wd_temp_make(char dir[WD_TEMP_BYTES]);

/* Removes the folder and all that is in it; does not cross mounts. */
void wd_temp_remove(const char *dir);

/* For main: all folders of this program lie in one, which goes at the end even
 * when a test failed, mounted over its folder or gave up its rights. */
void wd_temp_begin(void);
void wd_temp_end(void);

/* "DIR/NAME" in one of four static buffers, in turn. */
const char *wd_temp_path(const char *dir, const char *name);

/* Writes a file with these bytes. Ends the test when it cannot. */
void wd_temp_write(const char *path, const void *bytes, size_t len);

#endif
