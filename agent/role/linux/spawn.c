/*
 * posix_spawn(3) forks and executes without running any code of ours in
 * between, so that the observer's threads do not matter.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "role/confine.h"

/* The very program that runs, also when its file was replaced meanwhile. */
#define SELF "/proc/self/exe"

static int
set_files(posix_spawn_file_actions_t *files, int socket)
{
	int rc = posix_spawn_file_actions_addopen(
	    files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(
		    files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	/* Also when both numbers are the same: then it is made to stay. */
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(
		    files, socket, WD_CHILD_SOCKET);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(
		    files, WD_CHILD_SOCKET + 1);
	return rc;
}

/* What a terminal or a service manager sends to all processes of the service
 * is for the observer: blocked from the first moment on, later ignored. */
static int
set_signals(posix_spawnattr_t *attributes)
{
	sigset_t blocked, all;
	int rc;

	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGINT);
	(void)sigaddset(&blocked, SIGTERM);
	(void)sigaddset(&blocked, SIGHUP);
	(void)sigfillset(&all);
	rc = posix_spawnattr_setsigmask(attributes, &blocked);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(attributes, &all);
	if (rc == 0)
		rc = posix_spawnattr_setflags(
		    attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return rc;
}

enum wd_status
wd_spawn(char *const arguments[], int socket, pid_t *pid, struct wd_error *err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	char *const nothing[] = { NULL };
	int rc = posix_spawn_file_actions_init(&files);

	if (rc != 0)
		return wd_fail_errno(err, rc, "no child can be started");
	rc = posix_spawnattr_init(&attributes);
	if (rc == 0) {
		rc = set_files(&files, socket);
		if (rc == 0)
			rc = set_signals(&attributes);
		if (rc == 0)
			rc = posix_spawn(
			    pid, SELF, &files, &attributes, arguments, nothing);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return rc == 0 ? WD_OK :
			 wd_fail_errno(err, rc, "no child can be started");
}
