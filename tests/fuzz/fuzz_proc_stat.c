/*
 * /proc/PID/stat and the other small texts. What is checked: nothing is read
 * beyond the input (the sanitizers see to that), and what was parsed keeps
 * its own rules.
 */
#include <stdlib.h>
#include <string.h>

#include "host/linux/argv.h"
#include "host/linux/names.h"
#include "host/linux/procfs.h"
#include "host/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool right)
{
	if (!right)
		abort();
}

static void
check_within(struct wd_slice part, struct wd_slice whole)
{
	check(part.len == 0 ||
	    (part.data >= whole.data &&
		part.data + part.len <= whole.data + whole.len));
}

static void
check_lines(struct wd_slice text)
{
	struct wd_cgroup_line group;
	struct wd_mount_line mount;
	struct wd_slice line;

	while (wd_slice_cut(&text, '\n', &line)) {
		if (wd_parse_cgroup_line(line, &group))
			check_within(group.path, line);
		if (wd_parse_mount_line(line, &mount))
			check_within(mount.super_options, line);
	}
}

static size_t
count_nuls(const struct wd_bytes *bytes)
{
	size_t i, count = 0;

	for (i = 0; i < bytes->len; i++)
		count += bytes->data[i] == '\0';
	return count;
}

/* Arguments stay as many as they were. */
static void
check_argv(struct wd_slice text)
{
	struct wd_argv_facts facts = { text.len, 2, true, false };
	struct wd_bytes argv = { NULL, 0 };
	bool redacted;
	size_t before;

	(void)wd_argv_overwritten(text, &facts);
	if (wd_bytes_set(&argv, text) != WD_OK)
		return;
	before = count_nuls(&argv);
	check(wd_redact_argv(&argv, &redacted) == WD_OK);
	check(count_nuls(&argv) == before);
	check(redacted || wd_slice_equal(wd_bytes_slice(&argv), text));
	wd_bytes_release(&argv);
}

static void
check_environment(struct wd_slice text)
{
	struct wd_process process;
	size_t i;

	memset(&process, 0, sizeof(process));
	check(wd_environment_take(text, &process) == WD_OK);
	for (i = 0; i < process.env_count; i++)
		check(wd_env_name_chosen(wd_slice_text(process.env[i].name)));
	wd_process_release(&process);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice text = { data, size }, path;
	struct wd_status_file status;
	struct wd_stat stat;
	uint64_t number;

	if (wd_parse_stat(text, &stat) == WD_OK)
		check(stat.pid >= 0 && stat.ppid >= 0 &&
		    memchr(stat.comm, '\0', sizeof(stat.comm)) != NULL);
	wd_parse_status(text, &status);
	(void)!wd_parse_key(text, "rchar", 10, &number);
	(void)!wd_parse_inode_link(text, "socket", &number);
	(void)!wd_parse_boot_time(text, &number);
	path = wd_cgroup_choose(text);
	check_within(path, text);
	check_within(wd_cgroup_unit(path), path);
	check_within(wd_cgroup_container(path), path);
	check_lines(text);
	check_argv(text);
	check_environment(text);
	return 0;
}
