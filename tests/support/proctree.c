#include "support/proctree.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/tempdir.h"

static void
make_parents(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

static void
join(char path[512], const char *dir, const char *name)
{
	(void)snprintf(path, 512, "%s/%s", dir, name);
	make_parents(path);
}

void
wd_tree_bytes(const char *dir, const char *name, const void *bytes, size_t len)
{
	char path[512];

	join(path, dir, name);
	wd_temp_write(path, bytes, len);
}

void
wd_tree_file(const char *dir, const char *name, const char *text)
{
	wd_tree_bytes(dir, name, text, strlen(text));
}

void
wd_tree_link(const char *dir, const char *name, const char *target)
{
	char path[512];

	join(path, dir, name);
	ck_assert_int_eq(symlink(target, path), 0);
}

void
wd_tree_folder(const char *dir, const char *name)
{
	char path[512];

	join(path, dir, name);
	ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
}

void
wd_tree_process(const char *dir, int pid, int parent, const char *comm)
{
	char name[64], text[512];

	(void)snprintf(name, sizeof(name), "%d/stat", pid);
	(void)snprintf(text, sizeof(text),
	    "%d (%s) S %d %d %d 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %d "
	    "1000000 100 18446744073709551615 1 1 140700000000000 0 0 0 0 0 0 "
	    "0 0 0 17 0 0 0 0 0 0 1 1 1 1000 1020 1 1 0\n",
	    pid, comm, parent, pid, pid, 100 + pid);
	wd_tree_file(dir, name, text);
	(void)snprintf(name, sizeof(name), "%d/task/%d/stat", pid, pid);
	wd_tree_file(dir, name, text);
	(void)snprintf(name, sizeof(name), "%d/status", pid);
	wd_tree_file(dir, name,
	    "Name:\tx\nUid:\t1\t1000\t1\t1\nGid:\t1\t1001\t1\t1\n"
	    "VmSize:\t    1000 kB\nRssAnon:\t      10 kB\n");
	(void)snprintf(name, sizeof(name), "%d/cgroup", pid);
	wd_tree_file(dir, name, "0::/system.slice/llama.service\n");
	(void)snprintf(name, sizeof(name), "%d/cmdline", pid);
	wd_tree_bytes(dir, name, "prog\0-m\0/models/a.gguf", 23);
	(void)snprintf(name, sizeof(name), "%d/ns/net", pid);
	wd_tree_link(dir, name, "net:[4000]");
	(void)snprintf(name, sizeof(name), "%d/fd", pid);
	wd_tree_folder(dir, name);
}

void
wd_tree_net(const char *dir, const char *name, const char *rows)
{
	char text[8192];

	(void)snprintf(text, sizeof(text),
	    "  sl  local_address rem_address   st tx_queue rx_queue tr "
	    "tm->when retrnsmt   uid  timeout inode\n%s",
	    rows);
	wd_tree_file(dir, name, text);
}
