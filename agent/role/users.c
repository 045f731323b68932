#include "role/users.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

#define MAX_ID 4294967294u /* -1 is nobody at all */
#define PASSWD_BYTES 16384

static bool
read_id(const char *text, uint32_t *id)
{
	uint64_t number;

	if (!wd_slice_number(wd_slice_text(text), 10, &number) ||
	    number > MAX_ID)
		return false;
	*id = (uint32_t)number;
	return true;
}

/* A number need not be in the system's list; its group then has the same. */
static enum wd_status
find(const char *key, const char *name, struct wd_user *user,
    struct wd_error *err)
{
	char room[PASSWD_BYTES], shown[64];
	struct passwd entry, *found = NULL;
	uint32_t id;
	bool is_number = read_id(name, &id);

	if (is_number)
		(void)getpwuid_r(id, &entry, room, sizeof(room), &found);
	else
		(void)getpwnam_r(name, &entry, room, sizeof(room), &found);
	if (found == NULL && !is_number)
		return wd_fail(err, WD_NOTFOUND,
		    "users.%s: there is no user %s; systemd-sysusers makes "
		    "those of the package, or name another one or a number",
		    key,
		    wd_escape_short(shown, sizeof(shown), wd_slice_text(name)));
	*user = (struct wd_user){ true, found != NULL ? found->pw_uid : id,
		found != NULL ? found->pw_gid : id };
	if (user->uid == 0 || user->gid == 0)
		return wd_fail(err, WD_INVALID,
		    "users.%s is root; it is to be somebody with no rights at "
		    "all",
		    key);
	return WD_OK;
}

static enum wd_status
find_one(const char *key, const char *name, struct wd_user *user,
    struct wd_error *err)
{
	*user = (struct wd_user){ false, 0, 0 };
	if (strcmp(name, "same") != 0)
		return wd_can_change_user() ? find(key, name, user, err) :
					      WD_OK;
	if (geteuid() != 0 || wd_root_is_nobody())
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "users.%s: \"same\" would leave it root; name a user", key);
}

enum wd_status
wd_users_find(const struct wd_config *config, struct wd_users *users,
    struct wd_error *err)
{
	enum wd_status st =
	    find_one("front", config->front_user, &users->front, err);

	if (st == WD_OK)
		st = find_one(
		    "reader", config->reader_user, &users->reader, err);
	if (st != WD_OK)
		return st;
	if (users->front.change && users->reader.change &&
	    users->front.uid == users->reader.uid)
		return wd_fail(err, WD_INVALID,
		    "users.front and users.reader are the same user; each "
		    "could then reach into the other");
	return WD_OK;
}

void
wd_user_arguments(
    const struct wd_user *user, char uid[WD_USER_TEXT], char gid[WD_USER_TEXT])
{
	(void)snprintf(uid, WD_USER_TEXT, user->change ? "%lu" : "-",
	    (unsigned long)user->uid);
	(void)snprintf(gid, WD_USER_TEXT, user->change ? "%lu" : "-",
	    (unsigned long)user->gid);
}

enum wd_status
wd_user_of_arguments(const char *uid, const char *gid, struct wd_user *user,
    struct wd_error *err)
{
	uint32_t numbers[2];

	*user = (struct wd_user){ false, 0, 0 };
	if (strcmp(uid, "-") == 0 && strcmp(gid, "-") == 0)
		return WD_OK;
	if (!read_id(uid, &numbers[0]) || !read_id(gid, &numbers[1]) ||
	    numbers[0] == 0 || numbers[1] == 0)
		return wd_fail(
		    err, WD_INVALID, "no user and group: %s %s", uid, gid);
	*user = (struct wd_user){ true, numbers[0], numbers[1] };
	return WD_OK;
}
