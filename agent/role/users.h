/*
 * users.h - who front and reader become.
 */
#ifndef WD_ROLE_USERS_H
#define WD_ROLE_USERS_H

#include "role/config.h"
#include "role/confine.h"

struct wd_users {
	struct wd_user front, reader;
};

/* Finds the users of the configuration, when this process can take other
 * users at all. Errors: WD_NOTFOUND for a name that the system does not know;
 * WD_INVALID when one is root, both are the same, or "same" would leave the
 * child root. */
enum wd_status wd_users_find(const struct wd_config *config,
    struct wd_users *users, struct wd_error *err) WD_MUST_CHECK;

/* The two numbers as arguments of a child, and back: "991 991", "- -". */
#define WD_USER_TEXT 16
void wd_user_arguments(
    const struct wd_user *user, char uid[WD_USER_TEXT], char gid[WD_USER_TEXT]);
enum wd_status wd_user_of_arguments(const char *uid, const char *gid,
    struct wd_user *user, struct wd_error *err) WD_MUST_CHECK;

#endif
