/* A child really has nothing: /proc tells. This very program is the child,
 * for wd_spawn starts the program that runs. */
#include "role/confine.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "role/users.h"
#include "seam/frame.h"
#include "support/suite.h"

#define FRONT_ID 64801
#define READER_ID 64802

/* ---- the child ----------------------------------------------------------- */

/* Exit codes that the parent looks at. */
enum { FINE = 40, NOT_CONFINED, CORE_FILES, WRITES, FORKS };

static int
try_limits(enum wd_part part, bool other_user)
{
	struct rlimit core, size, processes;

	if (getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0)
		return CORE_FILES;
	if (part == WD_PART_READER &&
	    (getrlimit(RLIMIT_FSIZE, &size) != 0 || size.rlim_max != 0))
		return WRITES;
	if (part == WD_PART_FRONT && other_user &&
	    (getrlimit(RLIMIT_NPROC, &processes) != 0 ||
		processes.rlim_max > 1))
		return FORKS;
	return FINE;
}

static void
be_child(char **argv)
{
	struct wd_confinement how = { .hide = strcmp(argv[4], "hide") == 0 };
	enum wd_part part = strcmp(argv[1], "--role=reader") == 0 ?
	    WD_PART_READER :
	    WD_PART_FRONT;
	int code;
	char byte;

	if (wd_user_of_arguments(argv[2], argv[3], &how.user, NULL) != WD_OK ||
	    wd_confine_child(part, &how, NULL) != WD_OK)
		_exit(NOT_CONFINED);
	code = try_limits(part, how.user.change);
	(void)!write(WD_CHILD_SOCKET, "", 1);
	(void)!read(WD_CHILD_SOCKET, &byte, 1);
	_exit(code);
}

/* Before main, so that Check does not see it. */
__attribute__((constructor)) static void
maybe_child(int argc, char **argv)
{
	if (argc == 5 && strncmp(argv[1], "--role=", 7) == 0)
		be_child(argv);
}

/* ---- the parent ---------------------------------------------------------- */

static int line;
static pid_t child;

static void
start_on(int pair[2], enum wd_part part, const struct wd_user *user)
{
	char program[] = "x", role[32], uid[WD_USER_TEXT], gid[WD_USER_TEXT];
	char hide[] = "hide";
	char *arguments[] = { program, role, uid, gid, hide, NULL };
	char byte;

	(void)snprintf(role, sizeof(role), "--role=%s", wd_part_name(part));
	wd_user_arguments(user, uid, gid);
	ck_assert_int_eq(wd_spawn(arguments, pair[1], &child, NULL), WD_OK);
	(void)close(pair[1]);
	line = pair[0];
	ck_assert_int_eq(read(line, &byte, 1), 1);
}

static void
start(enum wd_part part, const struct wd_user *user)
{
	int pair[2];

	ck_assert_int_eq(wd_frame_pair(pair, NULL), WD_OK);
	start_on(pair, part, user);
}

static void
end(int code)
{
	int status;

	(void)close(line);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), code);
}

static void
read_status(char *text, size_t size)
{
	char path[64];
	FILE *file;
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)child);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	(void)fclose(file);
}

static const char *const lines_of_status[] = { "CapInh:\t0000000000000000\n",
	"CapPrm:\t0000000000000000\n", "CapEff:\t0000000000000000\n",
	"CapAmb:\t0000000000000000\n", "NoNewPrivs:\t1\n" };

/* The groups that root may have are not the child's. */
static void
join_a_group(void)
{
	gid_t group = 64899;

	if (wd_can_change_user())
		ck_assert_int_eq(setgroups(1, &group), 0);
}

static struct wd_user
user_of(enum wd_part part)
{
	unsigned id = part == WD_PART_FRONT ? FRONT_ID : READER_ID;

	if (!wd_can_change_user())
		return (struct wd_user){ false, 0, 0 };
	return (struct wd_user){ true, id, id };
}

static void
expect_line(const char *status, const char *wanted)
{
	ck_assert_msg(
	    strstr(status, wanted) != NULL, "no %s in %s", wanted, status);
}

static const enum wd_part parts[] = { WD_PART_FRONT, WD_PART_READER };

START_TEST(a_child_has_no_rights)
{
	enum wd_part part = parts[_i];
	struct wd_user user = user_of(part);
	char status[8192], wanted[128];
	size_t i;

	join_a_group();
	start(part, &user);
	read_status(status, sizeof(status));
	for (i = 0; i < WD_COUNT(lines_of_status); i++)
		expect_line(status, lines_of_status[i]);
	if (user.change) {
		(void)snprintf(wanted, sizeof(wanted), "Uid:\t%u\t%u\t%u\t%u\n",
		    (unsigned)user.uid, (unsigned)user.uid, (unsigned)user.uid,
		    (unsigned)user.uid);
		expect_line(status, wanted);
		(void)snprintf(wanted, sizeof(wanted), "Gid:\t%u\t%u\t%u\t%u\n",
		    (unsigned)user.gid, (unsigned)user.gid, (unsigned)user.gid,
		    (unsigned)user.gid);
		expect_line(status, wanted);
		expect_line(status, "Groups:\t \n");
		expect_line(status, "CapBnd:\t0000000000000000\n");
	}
	end(FINE);
}
END_TEST

START_TEST(a_child_of_the_same_user_has_no_capability)
{
	struct wd_user user = { false, 0, 0 };
	char status[8192];
	size_t i;

	start(WD_PART_FRONT, &user);
	read_status(status, sizeof(status));
	for (i = 0; i < WD_COUNT(lines_of_status); i++)
		expect_line(status, lines_of_status[i]);
	end(FINE);
}
END_TEST

START_TEST(a_child_has_no_other_descriptor)
{
	struct wd_user user = user_of(WD_PART_FRONT);
	char path[64];
	struct dirent *entry;
	unsigned seen = 0;
	int leaky = dup(2); /* without close-on-exec */
	DIR *folder;

	start(WD_PART_FRONT, &user);
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)child);
	folder = opendir(path);
	ck_assert_ptr_nonnull(folder);
	while ((entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		ck_assert_msg(
		    entry->d_name[1] == '\0' && entry->d_name[0] <= '3',
		    "descriptor %s", entry->d_name);
		seen++;
	}
	(void)closedir(folder);
	ck_assert_uint_eq(seen, 4);
	(void)close(leaky);
	end(FINE);
}
END_TEST

/* The kernel gives the folders of a process that hides to root (proc(5)). */
START_TEST(a_child_hides_from_its_own_user)
{
	struct wd_user user = user_of(WD_PART_READER);
	char path[64];
	struct stat folder;

	start(WD_PART_READER, &user);
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)child);
	ck_assert_int_eq(stat(path, &folder), 0);
	ck_assert_uint_eq(folder.st_uid, 0);
	end(FINE);
}
END_TEST

START_TEST(a_child_has_no_environment)
{
	struct wd_user user = user_of(WD_PART_FRONT);
	char path[64], byte;
	int fd;

	(void)setenv("WD_SECRET", "x", 1);
	start(WD_PART_FRONT, &user);
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)child);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, &byte, 1), 0);
	(void)close(fd);
	end(FINE);
}
END_TEST

/* The thread that started it ends: so does the child. */
START_TEST(a_child_ends_with_its_parent)
{
	struct wd_user user = user_of(WD_PART_FRONT);
	int ends[2], pair[2], status;
	pid_t between, grandchild = 0;
	char path[64];

	ck_assert_int_eq(pipe(ends), 0);
	/* Open here too, so that it is not the line's end that it hears. */
	ck_assert_int_eq(wd_frame_pair(pair, NULL), WD_OK);
	between = fork();
	if (between == 0) {
		start_on(pair, WD_PART_FRONT, &user);
		(void)!write(ends[1], &child, sizeof(child));
		(void)pause();
	}
	ck_assert_int_eq(
	    read(ends[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	(void)kill(between, SIGKILL);
	ck_assert_int_eq(waitpid(between, &status, 0), between);
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/3", (int)grandchild);
	while (access(path, F_OK) == 0)
		(void)usleep(1000);
	(void)close(ends[0]);
	(void)close(ends[1]);
	(void)close(pair[0]);
	(void)close(pair[1]);
}
END_TEST

/* ---- who they become ----------------------------------------------------- */

static const struct {
	const char *front, *reader;
	enum wd_status status; /* for who can take other users */
} pairs[] = {
	{ "64801", "64802", WD_OK },
	{ "64801", "64801", WD_INVALID },
	{ "0", "64801", WD_INVALID },
	{ "64801", "0", WD_INVALID },
	{ "root", "64801", WD_INVALID },
	{ "64801", "no-such-user-here", WD_NOTFOUND },
	{ "4294967295", "64801", WD_NOTFOUND },
};

START_TEST(users_are_found_or_refused)
{
	char front[64], reader[64];
	struct wd_config config = { .version = 1 };
	struct wd_users users;

	(void)snprintf(front, sizeof(front), "%s", pairs[_i].front);
	(void)snprintf(reader, sizeof(reader), "%s", pairs[_i].reader);
	config.front_user = front;
	config.reader_user = reader;
	if (!wd_can_change_user()) {
		ck_assert_int_eq(wd_users_find(&config, &users, NULL), WD_OK);
		ck_assert(!users.front.change);
		return;
	}
	ck_assert_int_eq(
	    wd_users_find(&config, &users, NULL), pairs[_i].status);
	if (pairs[_i].status == WD_OK) {
		ck_assert_uint_eq(users.front.uid, 64801);
		ck_assert_uint_eq(users.reader.gid, 64802);
	}
}
END_TEST

START_TEST(root_does_not_stay_root)
{
	char same[] = "same", other[] = "64801";
	struct wd_config config = { .front_user = same, .reader_user = other };
	struct wd_users users;
	bool is_root = geteuid() == 0 && !wd_root_is_nobody();

	ck_assert_int_eq(
	    wd_users_find(&config, &users, NULL), is_root ? WD_INVALID : WD_OK);
}
END_TEST

START_TEST(arguments_of_a_child_are_checked)
{
	struct wd_user user;

	ck_assert_int_eq(wd_user_of_arguments("-", "-", &user, NULL), WD_OK);
	ck_assert(!user.change);
	ck_assert_int_eq(wd_user_of_arguments("5", "6", &user, NULL), WD_OK);
	ck_assert(user.change && user.uid == 5 && user.gid == 6);
	ck_assert_int_eq(
	    wd_user_of_arguments("0", "6", &user, NULL), WD_INVALID);
	ck_assert_int_eq(
	    wd_user_of_arguments("5", "0", &user, NULL), WD_INVALID);
	ck_assert_int_eq(
	    wd_user_of_arguments("5", "-", &user, NULL), WD_INVALID);
	ck_assert_int_eq(
	    wd_user_of_arguments("4294967295", "5", &user, NULL), WD_INVALID);
}
END_TEST

WD_SUITE_BEGIN("role confine")
WD_LOOP(a_child_has_no_rights, parts);
WD_TEST(a_child_of_the_same_user_has_no_capability);
WD_TEST(a_child_has_no_other_descriptor);
WD_TEST(a_child_hides_from_its_own_user);
WD_TEST(a_child_has_no_environment);
WD_TEST(a_child_ends_with_its_parent);
WD_LOOP(users_are_found_or_refused, pairs);
WD_TEST(root_does_not_stay_root);
WD_TEST(arguments_of_a_child_are_checked);
WD_SUITE_END
