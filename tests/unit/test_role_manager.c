/* What the service manager hears, pauses before a restart, the version of the
 * state folder. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "role/backoff.h"
#include "role/notify.h"
#include "role/state_dir.h"
#include "support/suite.h"
#include "support/tempdir.h"

static char dir[WD_TEMP_BYTES];

/* ---- backoff ------------------------------------------------------------- */

START_TEST(pauses_double_up_to_a_cap)
{
	struct wd_backoff backoff = { 0 };
	uint32_t pause, last = WD_BACKOFF_FIRST_MS;
	int i;

	ck_assert_uint_eq(wd_backoff_after(&backoff, 10), 0);
	ck_assert_uint_eq(wd_backoff_after(&backoff, 10), WD_BACKOFF_FIRST_MS);
	for (i = 0; i < 40; i++) {
		pause = wd_backoff_after(&backoff, 10);
		ck_assert(pause == last * 2 || pause == WD_BACKOFF_MOST_MS);
		last = pause;
	}
	ck_assert_uint_eq(last, WD_BACKOFF_MOST_MS);
}
END_TEST

START_TEST(a_healthy_life_begins_anew)
{
	struct wd_backoff backoff = { 0 };
	int i;

	for (i = 0; i < 20; i++)
		(void)wd_backoff_after(&backoff, 0);
	ck_assert_uint_gt(
	    wd_backoff_after(&backoff, WD_BACKOFF_HEALTHY_MS - 1), 0);
	ck_assert_uint_eq(wd_backoff_after(&backoff, WD_BACKOFF_HEALTHY_MS), 0);
	ck_assert_uint_eq(wd_backoff_after(&backoff, 0), WD_BACKOFF_FIRST_MS);
}
END_TEST

/* ---- notify -------------------------------------------------------------- */

/* A manager's socket; `name` as NOTIFY_SOCKET has it. */
static int
listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	size_t len = strlen(name);

	memcpy(address.sun_path, name, len);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
	    0);
	return fd;
}

static void
expect(int fd, const char *words)
{
	char text[256] = "";
	ssize_t len = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	ck_assert_int_gt(len, 0);
	ck_assert_msg(strncmp(text, words, strlen(words)) == 0, "%s", text);
}

START_TEST(the_manager_is_told_by_path_or_name)
{
	char name[64];
	const char *path;
	int fd;

	wd_temp_make(dir);
	path = wd_temp_path(dir, "notify");
	fd = listen_at(path);
	ck_assert_int_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
	wd_notify_init();
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
	ck_assert_int_eq(wd_notify("READY=1", NULL), WD_OK);
	expect(fd, "READY=1");
	ck_assert_int_eq(wd_notify_reloading(NULL), WD_OK);
	expect(fd, "RELOADING=1\nMONOTONIC_USEC=");
	(void)close(fd);
	ck_assert_int_ne(wd_notify("READY=1", NULL), WD_OK);
	(void)snprintf(name, sizeof(name), "@wd-notify-%d", (int)getpid());
	fd = listen_at(name);
	ck_assert_int_eq(setenv("NOTIFY_SOCKET", name, 1), 0);
	wd_notify_init();
	ck_assert_int_eq(wd_notify("STOPPING=1", NULL), WD_OK);
	expect(fd, "STOPPING=1");
	(void)close(fd);
	wd_temp_remove(dir);
}
END_TEST

/* Longer than an address of a socket can be (unix(7): 108 bytes). */
#define FORTY "/123456789012345678901234567890123456789"
static const char *const no_addresses[] = { "", "x", "relative/path", "@",
	FORTY FORTY FORTY };

START_TEST(an_address_that_is_none_is_said)
{
	struct wd_error err;

	ck_assert_int_eq(setenv("NOTIFY_SOCKET", no_addresses[_i], 1), 0);
	wd_notify_init();
	wd_error_init(&err);
	ck_assert_int_eq(wd_notify("READY=1", &err), WD_INVALID);
	ck_assert_ptr_nonnull(strstr(err.message, "NOTIFY_SOCKET"));
}
END_TEST

START_TEST(nothing_is_said_to_nobody)
{
	(void)unsetenv("NOTIFY_SOCKET");
	wd_notify_init();
	ck_assert_int_eq(wd_notify("READY=1", NULL), WD_OK);
	ck_assert_uint_eq(wd_notify_watchdog_us(), 0);
}
END_TEST

START_TEST(the_watchdog_is_ours_only_by_pid)
{
	char pid[32];

	(void)setenv("WATCHDOG_USEC", "5000000", 1);
	(void)setenv("WATCHDOG_PID", "1", 1);
	wd_notify_init();
	ck_assert_uint_eq(wd_notify_watchdog_us(), 0);
	(void)setenv("WATCHDOG_USEC", "5000000", 1);
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	(void)setenv("WATCHDOG_PID", pid, 1);
	wd_notify_init();
	ck_assert_uint_eq(wd_notify_watchdog_us(), 5000000);
	ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
	(void)setenv("WATCHDOG_USEC", "7", 1);
	wd_notify_init();
	ck_assert_uint_eq(wd_notify_watchdog_us(), 7);
}
END_TEST

/* ---- the state folder ---------------------------------------------------- */

static const struct {
	const char *version;
	enum wd_status status;
} versions[] = {
	{ "1\n", WD_OK },
	{ "1", WD_OK },
	{ "2\n", WD_UNSUPPORTED },
	{ "99999999999\n", WD_UNSUPPORTED },
	{ "0\n", WD_CORRUPT },
	{ "", WD_CORRUPT },
	{ "one\n", WD_CORRUPT },
	{ "1\n2\n", WD_CORRUPT },
};

START_TEST(the_version_decides)
{
	const char *state;

	wd_temp_make(dir);
	state = wd_temp_path(dir, "VERSION");
	wd_temp_write(
	    state, versions[_i].version, strlen(versions[_i].version));
	ck_assert_int_eq(wd_state_dir_open(dir, NULL), versions[_i].status);
	wd_temp_remove(dir);
}
END_TEST

START_TEST(a_new_folder_gets_a_version)
{
	char path[WD_TEMP_BYTES + 16];
	struct stat file;

	wd_temp_make(dir);
	(void)snprintf(path, sizeof(path), "%s/state", dir);
	ck_assert_int_eq(wd_state_dir_open(path, NULL), WD_OK);
	ck_assert_int_eq(stat(path, &file), 0);
	ck_assert_uint_eq(file.st_mode & 0777, 0700);
	ck_assert_int_eq(wd_state_dir_open(path, NULL), WD_OK);
	wd_temp_remove(dir);
}
END_TEST

WD_SUITE_BEGIN("role manager")
WD_TEST(pauses_double_up_to_a_cap);
WD_TEST(a_healthy_life_begins_anew);
WD_TEST(the_manager_is_told_by_path_or_name);
WD_LOOP(an_address_that_is_none_is_said, no_addresses);
WD_TEST(nothing_is_said_to_nobody);
WD_TEST(the_watchdog_is_ours_only_by_pid);
WD_LOOP(the_version_decides, versions);
WD_TEST(a_new_folder_gets_a_version);
WD_SUITE_END
