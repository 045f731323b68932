/*
 * recipe.h - the recipe that a bundle declares inside itself: the files that
 * hold one, and the settings that name it.
 */
#ifndef WD_BUNDLE_RECIPE_H
#define WD_BUNDLE_RECIPE_H

#include "bundle/draft.h"

/* Whether a file beside the weights is one of options->recipe_files. */
bool wd_recipe_file(
    const struct wd_bundle_options *options, struct wd_slice name);

/* Reads such a file into settings, below "bundle." and its name without
 * .json, .yaml or .yml. One that is no JSON or YAML we read (tags, aliases,
 * too large) becomes one setting, its SHA-256, and a note says why: engines do
 * not read these files, so it makes nothing incomplete. Errors: WD_LIMIT (too
 * many settings), WD_NOMEM, those of read. */
enum wd_status wd_recipe_read(struct wd_draft *build,
    const struct wd_source *source, struct wd_slice name,
    struct wd_error *err) WD_MUST_CHECK;

/* Takes the declared recipe from the settings, which are in order. */
void wd_recipe_declare(struct wd_draft *build);

#endif
