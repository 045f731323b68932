/*
 * material.h - certificate, key, CA and CRL as bytes. The observer only reads
 * them: what is in them is for the front to parse.
 */
#ifndef WD_ROLE_MATERIAL_H
#define WD_ROLE_MATERIAL_H

#include <sys/stat.h>

#include "base/buf.h"
#include "role/config.h"

enum { WD_CERTIFICATE, WD_KEY, WD_CA, WD_CRL, WD_MATERIALS };

struct wd_material {
	struct wd_buf texts[WD_MATERIALS]; /* without a CRL: empty */
	struct stat marks[WD_MATERIALS];   /* of the files that were read */
	bool key_is_open;                  /* others may read the key */
};

/* The path of one of them; NULL: the configuration names none. */
const char *wd_material_path(const struct wd_config *config, unsigned which);

/* Reads all of them. Errors: what opening and reading says, with the path;
 * WD_INVALID for no regular file; WD_LIMIT; WD_NOMEM. `material` is to be
 * released in any case. */
enum wd_status wd_material_read(const struct wd_config *config,
    struct wd_material *material, struct wd_error *err) WD_MUST_CHECK;

/* Forgets the key's bytes. A valid WD_CLEANUP handler; also of a zeroed
 * struct. */
void wd_material_release(struct wd_material *material);

/* Whether one of the files is another one, or was written, since `marks`. A
 * file that is not there just now has not changed: somebody is replacing
 * it. */
bool wd_material_changed(
    const struct wd_config *config, const struct stat marks[WD_MATERIALS]);

#endif
