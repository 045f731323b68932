/* Facts of processes on the running kernel (field reports, section B). */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "support/livehost.h"
#include "support/suite.h"
#include "support/tempdir.h"

static struct wd_host *host;
static char dir[WD_TEMP_BYTES];

static void
set_up(void)
{
	host = live_open();
	wd_temp_make(dir);
}

static void
tear_down(void)
{
	wd_host_free(&host);
	live_kill_all();
	wd_temp_remove(dir);
}

/* ---- programs ------------------------------------------------------------ */

/* What a child executes: the pipe's end closes with exec, which tells. */
struct program {
	const char *path;
	char **argv, **envp;
};

static pid_t
start(const struct program *program)
{
	int closes[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(closes, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)execve(program->path, program->argv, program->envp);
		(void)!write(closes[1], "x", 1);
		_exit(1);
	}
	(void)close(closes[1]);
	ck_assert_int_eq(read(closes[0], &byte, 1), 0);
	(void)close(closes[0]);
	return pid;
}

static void
stop(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static char *no_environment[] = { NULL };

static void
copy_program(const char *to)
{
	char command[2 * WD_TEMP_BYTES + 32];

	(void)snprintf(command, sizeof(command), "cp /bin/sleep '%s'", to);
	ck_assert_int_eq(system(command), 0);
}

/* ---- the plain case ------------------------------------------------------ */

START_TEST(own_facts)
{
	struct wd_process process = live_process(host, getpid());
	struct wd_host_identity identity;
	char name[64];
	int64_t age;

	ck_assert_int_eq(process.identity.pid, getpid());
	ck_assert(process.identity.generation_known);
	ck_assert_int_eq(process.state, WD_RUNNING);
	ck_assert_int_eq(process.ppid, getppid());
	ck_assert_uint_eq(process.uid, geteuid());
	ck_assert_int_eq(process.exe_status, WD_OK);
	ck_assert_int_eq(process.exe_replaced, WD_NO);
	ck_assert(!process.exe_deleted);
	ck_assert(!process.argv_overwritten);
	ck_assert_int_eq(process.live_tid, getpid());
	ck_assert_uint_gt(process.ancestor_count, 0);
	ck_assert_int_eq(process.ancestors[0].pid, getppid());
	ck_assert_uint_gt(process.rss_anon_bytes, 0);
	ck_assert_int_eq(process.io_status, WD_OK);
	ck_assert_int_eq(prctl(PR_GET_NAME, name), 0);
	ck_assert_str_eq(process.comm, name);
	age = wd_clock_real_ns(&wd_clock_system) - process.start_real_ns;
	ck_assert_int_ge(age, -2 * WD_NS_PER_SECOND);
	ck_assert_int_lt(age, 600 * WD_NS_PER_SECOND);
	ck_assert_int_eq(wd_host_identity(host, &identity, NULL), WD_OK);
	ck_assert_uint_eq(identity.netns, process.netns);
	ck_assert_uint_eq(strlen(identity.boot_id), 36);
	ck_assert_int_eq(identity.tick_ns, 10000000);
	ck_assert_uint_gt(strlen(identity.hostname), 0);
	ck_assert(strncmp(identity.os, "Linux ", 6) == 0);
	wd_process_release(&process);
}
END_TEST

/* ---- argv ---------------------------------------------------------------- */

START_TEST(test_B13_long_argv_is_complete_up_to_the_cap)
{
	static char pad[100001];
	struct rlimit stack;
	char *argv[64] = { "sleep", "600" };
	struct program program = { "/bin/sleep", argv, no_environment };
	struct wd_process process;
	size_t i;
	pid_t pid;

	/* sleep refuses what is no number; "0" many times is one. */
	memset(pad, '0', 8763);
	argv[2] = pad;
	pid = start(&program);
	process = live_process(host, pid);
	ck_assert_int_eq(process.argv_status, WD_OK);
	ck_assert(!process.argv_truncated && !process.argv_overwritten);
	ck_assert_uint_eq(process.argv.len, 10 + 8764);
	wd_process_release(&process);
	stop(pid);
	/* A quarter of the stack is what arguments may take. */
	ck_assert_int_eq(getrlimit(RLIMIT_STACK, &stack), 0);
	if (stack.rlim_max < 32UL << 20)
		LIVE_SKIP("the stack's limit is too low for long arguments");
	stack.rlim_cur = 32UL << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_STACK, &stack), 0);
	memset(pad, '0', 100000);
	for (i = 2; i < 32; i++)
		argv[i] = pad;
	pid = start(&program);
	process = live_process(host, pid);
	ck_assert(process.argv_truncated);
	ck_assert_uint_eq(process.argv.len, WD_MAX_ARGV_BYTES);
	wd_process_release(&process);
	stop(pid);
}
END_TEST

START_TEST(test_B14_bytes_that_are_no_utf8)
{
	char path[WD_TEMP_BYTES + 32], *argv[] = { path, "600", NULL };
	struct program program = { path, argv, no_environment };
	struct wd_process process;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/\xff\xfe sleep", dir);
	copy_program(path);
	pid = start(&program);
	process = live_process(host, pid);
	ck_assert_uint_eq(process.exe_path.len, strlen(path));
	ck_assert_mem_eq(process.exe_path.data, path, strlen(path));
	ck_assert_mem_eq(process.argv.data, path, strlen(path) + 1);
	wd_process_release(&process);
	stop(pid);
}
END_TEST

START_TEST(test_B22_argv0_is_no_identity)
{
	char *argv[] = { "/usr/bin/llama-server", "600", NULL };
	struct program program = { "/bin/sleep", argv, no_environment };
	pid_t pid = start(&program);
	struct wd_process process = live_process(host, pid);

	ck_assert(wd_slice_ends(wd_bytes_slice(&process.exe_path), "/sleep"));
	ck_assert_str_eq(process.comm, "sleep");
	ck_assert_str_eq((char *)process.argv.data, "/usr/bin/llama-server");
	wd_process_release(&process);
	stop(pid);
}
END_TEST

START_TEST(secrets_do_not_leave_the_collector)
{
	char *argv[] = { "sh", "-c", "sleep 600; :", "--api-key", "s3cret",
		NULL };
	char *environment[] = { "HF_TOKEN=hf_verysecret", "PATH=/bin",
		"LLAMA_ARG_MODEL=/m/a.gguf", NULL };
	struct program program = { "/bin/sh", argv, environment };
	pid_t pid = start(&program);
	struct wd_process process = live_process(host, pid);

	ck_assert(process.argv_redacted);
	ck_assert_ptr_null(
	    memmem(process.argv.data, process.argv.len, "s3cret", 6));
	ck_assert(!process.argv_overwritten);
	ck_assert_int_eq(process.env_status, WD_OK);
	ck_assert_uint_eq(process.env_count, 2);
	ck_assert_str_eq(process.env[0].name, "HF_TOKEN");
	ck_assert_str_eq((char *)process.env[0].value.data, "[redacted]");
	ck_assert_str_eq((char *)process.env[1].value.data, "/m/a.gguf");
	wd_process_release(&process);
	stop(pid);
}
END_TEST

/* Writes over the arguments of this program, as setproctitle does. */
struct title {
	const char *text;
	bool pad;
};

static void
write_title(void *argument)
{
	const struct title *title = argument;
	unsigned long start_at = 0, end_at = 0;
	char text[2048], *field;
	FILE *stat = fopen("/proc/self/stat", "re");
	size_t len = strlen(title->text);
	int i;

	if (stat == NULL || fgets(text, sizeof(text), stat) == NULL)
		_exit(1);
	(void)fclose(stat);
	field = strrchr(text, ')') + 1;
	for (i = 3; i <= 49; i++) {
		field = strchr(field, ' ') + 1;
		if (i == 48)
			start_at = strtoul(field, NULL, 10);
		if (i == 49)
			end_at = strtoul(field, NULL, 10);
	}
	if (title->pad)
		memset((void *)start_at, 0, end_at - start_at);
	if (title->pad && len >= end_at - start_at)
		len = end_at - start_at - 1;
	memcpy((void *)start_at, title->text, len);
}

static struct title titles[] = {
	{ "VLLM::E", true },
	{ "x", true },
	{ "", true }, /* B12: only NULs are left */
	{ "llama-server --model /other/x.gguf and more than fits there, all of "
	  "it on into the environment until the end of the words",
	    false },
};

START_TEST(test_B10_B12_an_overwritten_title_is_told)
{
	struct wd_process process =
	    live_process(host, live_spawn(write_title, &titles[_i]));

	ck_assert_int_eq(process.argv_status, WD_OK);
	ck_assert(process.argv_overwritten);
	ck_assert_int_eq(process.exe_replaced, WD_NO);
	wd_process_release(&process);
}
END_TEST

/* ---- states -------------------------------------------------------------- */

START_TEST(test_B12_zombies_and_kernel_threads)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_mappings mappings;
	struct wd_process process;
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	process = live_process(host, pid);
	ck_assert_int_eq(process.state, WD_ZOMBIE);
	ck_assert_uint_eq(process.argv.len, 0);
	ck_assert(!process.argv_overwritten);
	ck_assert_int_ne(process.exe_status, WD_OK);
	ck_assert_uint_gt(strlen(process.comm), 0);
	/* An ended process has no mappings: gone, never an empty list. */
	ck_assert_int_eq(
	    wd_host_mappings(host, &process, &deadline, &mappings, NULL),
	    WD_GONE);
	wd_process_release(&process);
	(void)waitpid(pid, NULL, 0);
	ck_assert_int_eq(wd_host_process(host, pid, &process, NULL), WD_GONE);
	if (wd_host_process(host, 2, &process, NULL) != WD_OK ||
	    strcmp(process.comm, "kthreadd") != 0)
		LIVE_SKIP("no kernel threads are visible here");
	ck_assert_int_eq(process.state, WD_KERNEL_THREAD);
	ck_assert_uint_eq(process.argv.len, 0);
	wd_process_release(&process);
}
END_TEST

/* ---- identity ------------------------------------------------------------ */

static int go[2];

/* A helper waits for the word and then makes its parent exec. */
static void
exec_later(void *argument)
{
	pid_t self = getpid();
	char byte;

	(void)argument;
	if (fork() != 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go[0], &byte, 1) == 1)
		(void)kill(self, SIGUSR1);
	_exit(0);
}

static void
on_signal(int number)
{
	(void)number;
	(void)execl("/bin/sleep", "sleep", "600", (char *)NULL);
	_exit(1);
}

START_TEST(exec_is_another_generation)
{
	struct wd_identity before, same, after;
	pid_t pid;
	int tries;

	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	(void)signal(SIGUSR1, on_signal);
	pid = live_spawn(exec_later, NULL);
	ck_assert_int_eq(
	    wd_host_process_identity(host, pid, &before, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_host_process_identity(host, pid, &same, NULL), WD_OK);
	ck_assert(wd_identity_equal(&before, &same));
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	for (tries = 0; tries < 1000; tries++) {
		ck_assert_int_eq(
		    wd_host_process_identity(host, pid, &after, NULL), WD_OK);
		if (after.exe_inode != before.exe_inode && after.exe_inode != 0)
			break;
		(void)usleep(1000);
	}
	ck_assert_uint_eq(after.start, before.start);
	ck_assert_uint_ne(after.exe_inode, before.exe_inode);
	ck_assert(!wd_identity_equal(&before, &after));
}
END_TEST

/* In a pid namespace of its own the next pid can be chosen. */
static int
reuse_in_namespace(void)
{
	struct wd_identity first, second;
	char text[16];
	pid_t a, b;
	int fd;

	if (chdir("/") != 0)
		return 77;
	wd_host_free(&host);
	host = live_open();
	a = fork();
	if (a == 0)
		for (;;)
			(void)pause();
	if (wd_host_process_identity(host, a, &first, NULL) != WD_OK)
		return 1;
	(void)kill(a, SIGKILL);
	(void)waitpid(a, NULL, 0);
	if (wd_host_process_identity(host, a, &second, NULL) != WD_GONE)
		return 2;
	(void)usleep(30000); /* more than one tick */
	fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	(void)snprintf(text, sizeof(text), "%d", (int)a - 1);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return 77;
	b = fork();
	if (b == 0)
		for (;;)
			(void)pause();
	if (b != a)
		return 77;
	if (wd_host_process_identity(host, b, &second, NULL) != WD_OK)
		return 3;
	(void)kill(b, SIGKILL);
	return wd_identity_equal(&first, &second) ? 4 : 0;
}

static int
exit_status(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 99;
	return WEXITSTATUS(status);
}

/* Twice: the caller of unshare stays outside of the new pid namespace. */
static int
run_in_namespace(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID) != 0)
		return 77;
	pid = fork();
	if (pid != 0)
		return exit_status(pid);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) != 0)
		_exit(77);
	_exit(reuse_in_namespace());
}

START_TEST(test_A16_a_reused_pid_is_another_process)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(run_in_namespace());
	status = exit_status(pid);
	if (status == 77)
		LIVE_SKIP("the next pid cannot be chosen here");
	ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- executables --------------------------------------------------------- */

START_TEST(test_B7_a_deleted_and_a_replaced_executable)
{
	char path[WD_TEMP_BYTES + 32], *argv[] = { path, "600", NULL };
	struct program program = { path, argv, no_environment };
	struct wd_process process;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/server", dir);
	copy_program(path);
	pid = start(&program);
	process = live_process(host, pid);
	ck_assert_str_eq((char *)process.exe_path.data, path);
	ck_assert(!process.exe_deleted);
	ck_assert_int_eq(process.exe_replaced, WD_NO);
	wd_process_release(&process);
	ck_assert_int_eq(unlink(path), 0);
	process = live_process(host, pid);
	ck_assert_str_eq((char *)process.exe_path.data, path);
	ck_assert(process.exe_deleted);
	ck_assert_int_eq(process.exe_replaced, WD_NO);
	wd_process_release(&process);
	copy_program(path);
	process = live_process(host, pid);
	ck_assert(process.exe_deleted);
	ck_assert_int_eq(process.exe_replaced, WD_YES);
	wd_process_release(&process);
	stop(pid);
}
END_TEST

START_TEST(test_B6_a_name_that_ends_like_the_mark)
{
	char path[WD_TEMP_BYTES + 32], *argv[] = { path, "600", NULL };
	struct program program = { path, argv, no_environment };
	struct wd_process process;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/server (deleted)", dir);
	copy_program(path);
	pid = start(&program);
	process = live_process(host, pid);
	ck_assert_str_eq((char *)process.exe_path.data, path);
	ck_assert(!process.exe_deleted);
	wd_process_release(&process);
	stop(pid);
}
END_TEST

/* The executable's path means something only inside the process's root. */
START_TEST(test_B16_an_executable_that_only_the_container_sees)
{
	char command[4 * WD_TEMP_BYTES],
	    *argv[] = { "unshare", "-m", "sh", "-c", command, NULL };
	char *environment[] = { "PATH=/usr/bin:/bin:/usr/sbin:/sbin", NULL };
	struct program program = { "/usr/bin/unshare", argv, environment };
	struct wd_process process;
	int tries;
	pid_t pid;

	if (!live_is_root() || access(program.path, X_OK) != 0)
		LIVE_SKIP("needs root and unshare(1)");
	(void)snprintf(command, sizeof(command),
	    "mount --make-rprivate / && mount -t tmpfs t '%s' && "
	    "cp /bin/sleep '%s/inner' && exec '%s/inner' 600",
	    dir, dir, dir);
	pid = start(&program);
	for (tries = 0; tries < 2000; tries++) {
		process = live_process(host, pid);
		/* In the middle of exec the name is there, the stack not. */
		if (strcmp(process.comm, "inner") == 0 &&
		    process.identity.generation_known)
			break;
		wd_process_release(&process);
		(void)usleep(1000);
	}
	if (tries == 2000) {
		stop(pid);
		LIVE_SKIP("may not mount");
	}
	ck_assert_int_ne(access(wd_temp_path(dir, "inner"), F_OK), 0);
	ck_assert_int_eq(process.exe_status, WD_OK);
	ck_assert(!process.exe_deleted);
	ck_assert_int_eq(process.exe_replaced, WD_NO);
	ck_assert(process.identity.generation_known);
	wd_process_release(&process);
	stop(pid);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("host process");
	TCase *tcase = tcase_create("host process");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_TEST(own_facts);
	WD_TEST(test_B13_long_argv_is_complete_up_to_the_cap);
	WD_TEST(test_B14_bytes_that_are_no_utf8);
	WD_TEST(test_B22_argv0_is_no_identity);
	WD_TEST(secrets_do_not_leave_the_collector);
	WD_LOOP(test_B10_B12_an_overwritten_title_is_told, titles);
	WD_TEST(test_B12_zombies_and_kernel_threads);
	WD_TEST(exec_is_another_generation);
	WD_TEST(test_A16_a_reused_pid_is_another_process);
	WD_TEST(test_B7_a_deleted_and_a_replaced_executable);
	WD_TEST(test_B6_a_name_that_ends_like_the_mark);
	WD_TEST(test_B16_an_executable_that_only_the_container_sees);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
