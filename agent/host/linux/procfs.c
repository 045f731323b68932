#include "host/linux/procfs.h"

#include <limits.h>
#include <string.h>

/* ---- stat ---------------------------------------------------------------- */

/* Numbers behind the state, by their place in proc(5) (pid is 1). */
enum stat_field {
	FIELD_PPID = 4,
	FIELD_PGRP = 5,
	FIELD_SESSION = 6,
	FIELD_FLAGS = 9,
	FIELD_THREADS = 20,
	FIELD_START = 22,
	FIELD_STACK = 28,
	FIELD_ARG_START = 48,
	FIELD_ARG_END = 49,
	FIELD_LAST = 49,
};

/* A number that may be negative (priorities, tty groups, some ppids); those
 * we use never are, so a negative one counts as 0. */
static bool
stat_number(struct wd_slice word, uint64_t *number)
{
	uint64_t size;

	if (word.len > 1 && word.data[0] == '-') {
		word.data++;
		word.len--;
		*number = 0;
		return wd_slice_number(word, 10, &size);
	}
	return wd_slice_number(word, 10, number);
}

static bool
stat_pid(uint64_t number, pid_t *pid)
{
	if (number > INT_MAX)
		return false;
	*pid = (pid_t)number;
	return true;
}

static bool
stat_numbers(struct wd_slice rest, uint64_t fields[FIELD_LAST + 1])
{
	struct wd_slice word;
	int i;

	for (i = FIELD_PPID; i <= FIELD_LAST; i++) {
		if (!wd_slice_cut(&rest, ' ', &word))
			return i > FIELD_START;
		while (word.len > 0 && word.data[word.len - 1] == '\n')
			word.len--;
		if (!stat_number(word, &fields[i]))
			return false;
	}
	return true;
}

static void
stat_comm(struct wd_slice name, struct wd_stat *stat)
{
	size_t len = name.len;

	if (len >= sizeof(stat->comm))
		len = sizeof(stat->comm) - 1;
	if (len > 0)
		memcpy(stat->comm, name.data, len);
}

enum wd_status
wd_parse_stat(struct wd_slice text, struct wd_stat *stat)
{
	uint64_t fields[FIELD_LAST + 1] = { 0 }, pid;
	struct wd_stat parsed = { 0 };
	struct wd_slice rest = text, head;
	const uint8_t *open, *close;

	if (text.len == 0)
		return WD_MALFORMED;
	open = memchr(text.data, '(', text.len);
	close = memrchr(text.data, ')', text.len);
	if (open == NULL || close == NULL || close < open)
		return WD_MALFORMED;
	if (!wd_slice_cut(&rest, ' ', &head) ||
	    !wd_slice_number(head, 10, &pid) || !stat_pid(pid, &parsed.pid))
		return WD_MALFORMED;
	stat_comm(
	    (struct wd_slice){ open + 1, (size_t)(close - open) - 1 }, &parsed);
	rest = (struct wd_slice){ close + 1,
		text.len - (size_t)(close - text.data) - 1 };
	if (rest.len < 4 || rest.data[0] != ' ' || rest.data[2] != ' ')
		return WD_MALFORMED;
	parsed.state = (char)rest.data[1];
	rest = (struct wd_slice){ rest.data + 3, rest.len - 3 };
	if (!stat_numbers(rest, fields) ||
	    !stat_pid(fields[FIELD_PPID], &parsed.ppid) ||
	    !stat_pid(fields[FIELD_PGRP], &parsed.pgid) ||
	    !stat_pid(fields[FIELD_SESSION], &parsed.sid))
		return WD_MALFORMED;
	parsed.flags = fields[FIELD_FLAGS];
	parsed.threads = fields[FIELD_THREADS];
	parsed.start_ticks = fields[FIELD_START];
	parsed.stack_start = fields[FIELD_STACK];
	parsed.arg_start = fields[FIELD_ARG_START];
	parsed.arg_end = fields[FIELD_ARG_END];
	*stat = parsed;
	return WD_OK;
}

/* ---- key: value files ---------------------------------------------------- */

/* The first word of `text` from `*at`, blanks skipped. */
static struct wd_slice
next_word(struct wd_slice text, size_t *at)
{
	size_t start;

	while (
	    *at < text.len && (text.data[*at] == ' ' || text.data[*at] == '\t'))
		(*at)++;
	start = *at;
	while (*at < text.len && text.data[*at] != ' ' &&
	    text.data[*at] != '\t' && text.data[*at] != '\n')
		(*at)++;
	return (struct wd_slice){ text.data + start, *at - start };
}

/* The value text of a "KEY:VALUE" line. */
static bool
key_value(struct wd_slice line, const char *key, struct wd_slice *value)
{
	size_t len = strlen(key);

	if (!wd_slice_starts(line, key) || line.len <= len ||
	    line.data[len] != ':')
		return false;
	*value = (struct wd_slice){ line.data + len + 1, line.len - len - 1 };
	return true;
}

bool
wd_parse_key(
    struct wd_slice text, const char *key, unsigned base, uint64_t *number)
{
	struct wd_slice line, value;
	size_t at = 0;

	while (wd_slice_cut(&text, '\n', &line))
		if (key_value(line, key, &value))
			return wd_slice_number(
			    next_word(value, &at), base, number);
	return false;
}

static bool
effective_id(struct wd_slice value, uint32_t *id)
{
	uint64_t number;
	size_t at = 0;

	(void)next_word(value, &at);
	if (!wd_slice_number(next_word(value, &at), 10, &number) ||
	    number > UINT32_MAX)
		return false;
	*id = (uint32_t)number;
	return true;
}

static void
kilobytes(struct wd_slice value, uint64_t *bytes)
{
	uint64_t number;
	size_t at = 0;

	if (wd_slice_number(next_word(value, &at), 10, &number) &&
	    number <= UINT64_MAX / 1024)
		*bytes = number * 1024;
}

void
wd_parse_status(struct wd_slice text, struct wd_status_file *status)
{
	struct wd_status_file parsed = { 0 };
	const struct {
		const char *key;
		uint64_t *bytes;
	} sizes[] = {
		{ "VmSize", &parsed.vm_bytes },
		{ "RssAnon", &parsed.rss_anon_bytes },
		{ "RssFile", &parsed.rss_file_bytes },
		{ "RssShmem", &parsed.rss_shmem_bytes },
		{ "VmLck", &parsed.locked_bytes },
		{ "VmSwap", &parsed.swap_bytes },
		{ "HugetlbPages", &parsed.hugetlb_bytes },
	};
	struct wd_slice line, value;
	size_t i, at;

	while (wd_slice_cut(&text, '\n', &line)) {
		if (key_value(line, "Uid", &value))
			parsed.uid_known = effective_id(value, &parsed.uid);
		else if (key_value(line, "Gid", &value))
			parsed.gid_known = effective_id(value, &parsed.gid);
		else if (key_value(line, "CapEff", &value)) {
			at = 0;
			if (!wd_slice_number(next_word(value, &at), 16,
				&parsed.cap_effective))
				parsed.cap_effective = 0;
		}
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			if (key_value(line, sizes[i].key, &value))
				kilobytes(value, sizes[i].bytes);
	}
	*status = parsed;
}

bool
wd_parse_inode_link(struct wd_slice text, const char *kind, uint64_t *inode)
{
	size_t len = strlen(kind);

	if (!wd_slice_starts(text, kind) || text.len < len + 4 ||
	    memcmp(text.data + len, ":[", 2) != 0 ||
	    text.data[text.len - 1] != ']')
		return false;
	return wd_slice_number(
	    (struct wd_slice){ text.data + len + 2, text.len - len - 3 }, 10,
	    inode);
}

bool
wd_parse_boot_time(struct wd_slice text, uint64_t *seconds)
{
	struct wd_slice line, key;

	while (wd_slice_cut(&text, '\n', &line))
		if (wd_slice_cut(&line, ' ', &key) &&
		    wd_slice_equal(key, wd_slice_text("btime")))
			return wd_slice_number(line, 10, seconds);
	return false;
}

/* ---- cgroup and mountinfo ------------------------------------------------ */

bool
wd_parse_cgroup_line(struct wd_slice line, struct wd_cgroup_line *parsed)
{
	struct wd_slice id;

	if (!wd_slice_cut(&line, ':', &id) ||
	    !wd_slice_number(id, 10, &parsed->hierarchy) ||
	    !wd_slice_cut(&line, ':', &parsed->controllers))
		return false;
	parsed->path = line;
	return line.len > 0 && line.data[0] == '/';
}

/* "36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw": six fixed
 * fields, optional ones up to "-", then type, source, super options. */
bool
wd_parse_mount_line(struct wd_slice line, struct wd_mount_line *parsed)
{
	struct wd_mount_line found = { 0 };
	struct wd_slice word;
	int i;

	for (i = 0; i < 6; i++) {
		if (!wd_slice_cut(&line, ' ', &word))
			return false;
		if (i == 3)
			found.root = word;
		if (i == 4)
			found.mount_point = word;
	}
	do {
		if (!wd_slice_cut(&line, ' ', &word))
			return false;
	} while (!wd_slice_equal(word, wd_slice_text("-")));
	if (!wd_slice_cut(&line, ' ', &found.fs_type) ||
	    !wd_slice_cut(&line, ' ', &word))
		return false;
	found.super_options = line;
	*parsed = found;
	return true;
}

enum wd_status
wd_unescape_mount(struct wd_buf *out, struct wd_slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		struct wd_slice digits = { text.data + i + 1, 3 };
		uint64_t byte;

		if (text.data[i] == '\\' && text.len - i > 3 &&
		    wd_slice_number(digits, 8, &byte) && byte <= UINT8_MAX) {
			wd_buf_byte(out, (uint8_t)byte);
			i += 3;
		} else {
			wd_buf_byte(out, text.data[i]);
		}
	}
	return out->status;
}
