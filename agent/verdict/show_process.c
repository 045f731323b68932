/*
 * A process as lines of text.
 */
#include <inttypes.h>

#include "base/escape.h"
#include "base/size_text.h"
#include "verdict/page.h"
#include "verdict/parts.h"
#include "wire/json.h"

#define MAX_ROWS 16
#define MAX_COMMAND_BYTES 600
#define MAX_PATH_BYTES 4096

#define ROLE(name) WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_##name

static const char *
role_words(Weightd__V1__ProcessRole role)
{
	static const struct wd_word words[] = {
		{ ROLE(OWNER), "owns the listener" },
		{ ROLE(DESCENDANT), "descendant of an owner" },
		{ ROLE(ACTIVATOR),
		    "opened the socket for others; no candidate" },
		{ ROLE(ORPHAN_HOLDER),
		    "seems to have only inherited the listener" },
		{ ROLE(ORPHAN_WEIGHTS),
		    "holds weights; whoever started it is gone" },
		{ ROLE(TIED), "tied to a member" },
	};

	return WD_WORD(words, role, "role not known");
}

/* The command line as one line of words, cut where it gets too long. */
static void
show_command(struct wd_page *page, const Weightd__V1__Process *process)
{
	size_t start, i, count = process->n_argv;

	/* A title is padded with zeros to the length of what it covers. */
	while (process->argv_overwritten && count > 1 &&
	    process->argv[count - 1].len == 0)
		count--;
	if (count == 0)
		return;
	wd_page_key(page, 1, "command");
	start = page->out->len;
	for (i = 0; i < count; i++) {
		const ProtobufCBinaryData *word = &process->argv[i];
		size_t used = page->out->len - start;

		if (used + word->len > MAX_COMMAND_BYTES)
			break;
		if (i > 0)
			(void)wd_buf_byte(page->out, ' ');
		(void)wd_escape_word(
		    page->out, (struct wd_slice){ word->data, word->len });
	}
	if (i < count)
		(void)wd_buf_printf(
		    page->out, " ... (%zu more arguments)", count - i);
	if (process->argv_truncated)
		(void)wd_buf_text(page->out, " (cut)");
	if (process->argv_overwritten)
		(void)wd_buf_text(page->out, " (a title, no command line)");
	if (process->argv_redacted)
		(void)wd_buf_text(page->out, " (secrets replaced)");
	wd_page_end(page);
}

static void
show_program(struct wd_page *page, const Weightd__V1__Process *process)
{
	const Weightd__V1__Executable *program = process->executable;

	if (program == NULL || program->path.len == 0)
		return;
	wd_page_key(page, 1, "program");
	wd_page_bytes(page, program->path, MAX_PATH_BYTES);
	if (program->deleted)
		(void)wd_buf_text(page->out, " (deleted)");
	if (program->replaced == WD_SEEN(YES))
		(void)wd_buf_text(page->out, " (replaced since it started)");
	wd_page_end(page);
}

static void
show_other_ports(struct wd_page *page, const Weightd__V1__Process *process)
{
	size_t i;

	if (process->n_other_ports == 0)
		return;
	wd_page_key(page, 1, "other ports");
	for (i = 0; i < process->n_other_ports && i < MAX_ROWS; i++)
		(void)wd_buf_printf(page->out, "%s%" PRIu32, i == 0 ? "" : ", ",
		    process->other_ports[i]);
	if (i < process->n_other_ports)
		(void)wd_buf_printf(
		    page->out, ", %zu more", process->n_other_ports - i);
	(void)wd_buf_text(page->out, " (same process, not judged)");
	wd_page_end(page);
}

static void
show_devices(struct wd_page *page, const Weightd__V1__Process *process)
{
	char size[WD_SIZE_TEXT_BYTES];
	size_t i;

	for (i = 0; i < process->n_device_uses && i < MAX_ROWS; i++) {
		const Weightd__V1__DeviceUse *use = process->device_uses[i];
		bool known = use->bytes_presence_case ==
		    WEIGHTD__V1__DEVICE_USE__BYTES_PRESENCE_BYTES;

		wd_page_key(page, 1, "on device");
		(void)wd_buf_printf(page->out, "%s, ",
		    known ? wd_size_text(use->bytes, size) : "not known");
		wd_page_text(page, use->device);
		if (!known) {
			(void)wd_buf_text(page->out, ": ");
			wd_page_text(page, use->reason);
		}
		wd_page_end(page);
	}
	if (i < process->n_device_uses)
		wd_page_line(page, 1, "", "and %zu more devices",
		    process->n_device_uses - i);
}

static void
show_identity(struct wd_page *page, const Weightd__V1__Process *process,
    bool by_connection)
{
	const Weightd__V1__ProcessIdentity *identity = process->identity;

	wd_page_key(page, 0, "process");
	if (identity != NULL)
		(void)wd_buf_printf(page->out, "%" PRId32 " ", identity->pid);
	wd_page_bytes(page, process->comm, 64);
	(void)wd_buf_printf(page->out, " (%s)",
	    by_connection && process->role == ROLE(OWNER) ?
		"holds the connection" :
		role_words(process->role));
	if (process->user != NULL)
		(void)wd_buf_printf(
		    page->out, ", uid %" PRIu32, process->user->uid);
	if (identity != NULL && identity->started_at != NULL) {
		(void)wd_buf_text(page->out, ", started ");
		if (wd_message_print_time(
			identity->started_at, page->out, NULL) == WD_INVALID)
			(void)wd_buf_text(page->out, "at no valid time");
	}
	wd_page_end(page);
}

static void
show_ties(struct wd_page *page, const Weightd__V1__Process *process)
{
	static const struct wd_word words[] = {
		{ WEIGHTD__V1__TIE__KIND__KIND_PIPE, "a pipe" },
		{ WEIGHTD__V1__TIE__KIND__KIND_UNIX_SOCKET, "a unix socket" },
		{ WEIGHTD__V1__TIE__KIND__KIND_SHARED_MEMORY, "shared memory" },
	};
	size_t i;

	if (process->n_ties == 0)
		return;
	wd_page_key(page, 1, "tied");
	for (i = 0; i < process->n_ties && i < MAX_ROWS; i++)
		(void)wd_buf_printf(page->out, "%sby %s to %" PRId32,
		    i == 0 ? "" : ", ",
		    WD_WORD(words, process->ties[i]->kind, "something"),
		    process->ties[i]->pid);
	if (i < process->n_ties)
		(void)wd_buf_printf(
		    page->out, ", %zu more", process->n_ties - i);
	wd_page_end(page);
}

void
wd_page_process(struct wd_page *page, const Weightd__V1__Process *process,
    bool by_connection)
{
	show_identity(page, process, by_connection);
	show_program(page, process);
	show_command(page, process);
	wd_page_text_line(page, 1, "unit", process->unit);
	wd_page_text_line(page, 1, "container", process->container);
	show_devices(page, process);
	show_other_ports(page, process);
	show_ties(page, process);
	wd_page_flags_line(page, 1, process->flags, process->n_flags);
}
