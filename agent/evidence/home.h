/*
 * home.h - the folder of a file that is described, as its holder sees it, and
 * what was handed out of it. Private to this room.
 *
 * A bundle's other files are found by name beside the one at hand. For each
 * name the very object that somebody in the group holds is handed out where
 * there is one, else what lies in the folder now; and it is remembered which it
 * was, so that grades and digests are of the same object.
 */
#ifndef WD_EVIDENCE_HOME_H
#define WD_EVIDENCE_HOME_H

#include "evidence/look.h"

/* A file that was handed to the reader, and which object that was. */
struct wd_given {
	struct wd_bytes name;
	int fd;
	bool owned;
	size_t held; /* or WD_NONE */
	struct wd_file_state state;
};

/* The folder of the file that is being described, as its holder sees it. */
struct wd_home {
	struct wd_look *look;
	struct wd_group *group;
	size_t member; /* who holds or names the file */
	pid_t view;    /* through whose root the path leads there; 0: none */
	struct wd_slice path; /* of the file */
	struct wd_slice folder;
	int folder_fd;  /* for listing; -1: not known */
	uint64_t mount; /* that the file was reached through; 0: not known */
	/* The latest moment at which a link or a folder, on the way to the
	 * folder or to what was handed out of it, can have been exchanged. */
	int64_t changed_ns;
	bool unsure; /* nobody knows when: the path leads elsewhere, or a mount
		      * lies on the way */
	struct wd_given *given;
	size_t given_count, given_capacity;
};

/* The folder and the last component of a path. */
void wd_split_path(
    struct wd_slice path, struct wd_slice *folder, struct wd_slice *name);

/* Looks for the view in which `path` leads to the object itself: the root of
 * process `holder`, or ours (a chroot shows host paths). Without one the
 * holder's view serves for the folder, and the home is unsure. `own`: the path
 * is the kernel's own of what is held, so its folders are those of the load
 * wherever they were moved since. Errors: WD_NOMEM. */
enum wd_status wd_home_find_view(struct wd_home *home, pid_t holder,
    struct wd_slice path, bool own,
    const struct wd_file_state *object) WD_MUST_CHECK;

/* Hands out `fd`, which the home closes at its end when it is `owned`. Errors:
 * WD_NOMEM, WD_LIMIT. */
enum wd_status wd_home_give(struct wd_home *home, struct wd_slice name, int fd,
    bool owned, size_t held, const struct wd_file_state *state) WD_MUST_CHECK;

/* What was handed out under that name, or NULL. */
struct wd_given *wd_home_find_given(struct wd_home *home, struct wd_slice name);

/* Whether somebody holds an object of that name that could not be opened. */
bool wd_home_is_refused(const struct wd_home *home, struct wd_slice name);

/* The home as the reader asks it; the home must outlive it. */
struct wd_siblings wd_home_siblings(struct wd_home *home);

void wd_home_release(struct wd_home *home);

#endif
