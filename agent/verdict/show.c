#include "verdict/show.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/size_text.h"
#include "verdict/page.h"
#include "verdict/parts.h"
#include "wire/json.h"

#define MAX_ROWS 16
#define MAX_COMMAND_BYTES 600
#define MAX_PATH_BYTES 4096

#define OWNERS(name) WEIGHTD__V1__OWNERS_STATE__OWNERS_STATE_##name
#define ROLE(name) WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_##name

/* ---- the verdict ----------------------------------------------------------
 */

static enum wd_paint
paint_of(Weightd__V1__VerdictKind kind)
{
	if (kind == WD_VERDICT(MATCH))
		return WD_GREEN;
	if (kind == WD_VERDICT(UNVERIFIABLE) ||
	    kind == WD_VERDICT(UNREACHABLE) || kind == WD_VERDICT(UNSPECIFIED))
		return WD_YELLOW;
	return WD_RED;
}

/* "PROVEN" says more than "MATCH" when nothing was compared. */
static const char *
headline(const Weightd__V1__Verdict *verdict)
{
	const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(
	    &weightd__v1__verdict_kind__descriptor, (int)verdict->kind);

	if (verdict->kind == WD_VERDICT(MATCH) && verdict->without_expectation)
		return "PROVEN";
	if (verdict->kind == WD_VERDICT(UNSPECIFIED) || value == NULL)
		return "NO VERDICT";
	return value->name + strlen("VERDICT_KIND_");
}

static void
show_where(struct wd_page *page, const Weightd__V1__Attestation *all)
{
	if (all == NULL)
		return;
	if (all->question != NULL)
		(void)wd_buf_printf(
		    page->out, "  port %" PRIu32, all->question->port);
	if (all->host != NULL && all->host->hostname[0] != '\0') {
		(void)wd_buf_text(page->out, " on ");
		wd_page_text(page, all->host->hostname);
	}
}

static void
show_difference(struct wd_page *page, const Weightd__V1__Difference *row)
{
	wd_page_key(page, 0, "differs");
	wd_page_text(page, row->field);
	wd_page_end(page);
	wd_page_key(page, 1, "expected");
	wd_page_text(page, row->expected);
	wd_page_end(page);
	wd_page_key(page, 1, "observed");
	wd_page_text(page, row->observed);
	wd_page_end(page);
}

static void
show_part(struct wd_page *page, const Weightd__V1__PartVerdict *part)
{
	wd_page_key(page, 0, "candidate");
	wd_page_enum(page, &weightd__v1__verdict_kind__descriptor,
	    (int)part->kind, "VERDICT_KIND_");
	(void)wd_buf_text(page->out, ": ");
	wd_page_text(page, part->reason);
	wd_page_end(page);
}

static void
show_verdict(
    struct wd_page *page, const Weightd__V1__AttestPortResponse *answer)
{
	const Weightd__V1__Verdict *verdict = answer->verdict;
	size_t i;

	if (verdict == NULL) {
		wd_page_paint(page, WD_YELLOW, "NO VERDICT");
		show_where(page, answer->attestation);
		wd_page_end(page);
		return;
	}
	wd_page_paint(page, paint_of(verdict->kind), headline(verdict));
	show_where(page, answer->attestation);
	wd_page_end(page);
	wd_page_key(page, 0, "because");
	wd_page_text(page, verdict->reason);
	wd_page_end(page);
	for (i = 0; i < verdict->n_parts; i++)
		show_part(page, verdict->parts[i]);
	for (i = 0; i < verdict->n_differences; i++)
		show_difference(page, verdict->differences[i]);
}

/* ---- listeners ------------------------------------------------------------
 */

static const char *
owners_words(Weightd__V1__OwnersState state)
{
	static const struct wd_word words[] = {
		{ OWNERS(NONE), "none that can be seen" },
		{ OWNERS(HIDDEN),
		    "hidden: a process we may not look into could hold it" },
		{ OWNERS(VANISHED), "vanished while we looked" },
		{ OWNERS(PARTLY), "others may be hidden" },
	};

	return WD_WORD(words, state, "not looked for");
}

static void
show_owners(struct wd_page *page, const Weightd__V1__Listener *listener)
{
	size_t i;

	wd_page_key(page, 1, "owner");
	for (i = 0; i < listener->n_owners && i < MAX_ROWS; i++) {
		const Weightd__V1__Owner *owner = listener->owners[i];

		(void)wd_buf_printf(page->out, "%spid %" PRId32 " fd %" PRId32,
		    i == 0 ? "" : ", ", owner->pid, owner->fd);
		if (owner->tid != 0 && owner->tid != owner->pid)
			(void)wd_buf_printf(
			    page->out, " (thread %" PRId32 ")", owner->tid);
	}
	if (i < listener->n_owners)
		(void)wd_buf_printf(
		    page->out, ", %zu more", listener->n_owners - i);
	if (listener->owners_state != OWNERS(FOUND) || i == 0)
		(void)wd_buf_printf(page->out, "%s%s", i == 0 ? "" : "; ",
		    owners_words(listener->owners_state));
	wd_page_end(page);
}

static void
show_listener(struct wd_page *page, const Weightd__V1__Listener *listener)
{
	bool is_inet6 = listener->family == WEIGHTD__V1__FAMILY__FAMILY_INET6;

	wd_page_key(page, 0, "listener");
	(void)wd_buf_text(page->out, is_inet6 ? "[" : "");
	wd_page_text(page, listener->address);
	(void)wd_buf_printf(
	    page->out, "%s:%" PRIu32, is_inet6 ? "]" : "", listener->port);
	if (listener->dual_stack == WD_SEEN(YES))
		(void)wd_buf_text(page->out, ", answers IPv4 too");
	if (listener->mptcp)
		(void)wd_buf_text(page->out, ", MPTCP");
	if (listener->netns != 0)
		(void)wd_buf_printf(
		    page->out, ", netns %" PRIu64, listener->netns);
	wd_page_end(page);
	show_owners(page, listener);
}

/* ---- processes ------------------------------------------------------------
 */

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
show_text_line(struct wd_page *page, const char *key, const char *text)
{
	if (text[0] == '\0')
		return;
	wd_page_key(page, 1, key);
	wd_page_text(page, text);
	wd_page_end(page);
}

static void
show_flags_line(struct wd_page *page, unsigned depth,
    const Weightd__V1__Flag *flags, size_t count)
{
	if (count == 0)
		return;
	wd_page_key(page, depth, "flags");
	wd_page_flags(page, flags, count);
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

static void
show_process(struct wd_page *page, const Weightd__V1__Process *process,
    bool by_connection)
{
	show_identity(page, process, by_connection);
	show_program(page, process);
	show_command(page, process);
	show_text_line(page, "unit", process->unit);
	show_text_line(page, "container", process->container);
	show_devices(page, process);
	show_other_ports(page, process);
	show_ties(page, process);
	show_flags_line(page, 1, process->flags, process->n_flags);
}

/* ---- models ---------------------------------------------------------------
 */

static void
show_evidence(struct wd_page *page, const Weightd__V1__FileEvidence *file)
{
	wd_page_key(page, 1, "held");
	wd_page_bytes(page, file->path, MAX_PATH_BYTES);
	(void)wd_buf_text(page->out, "  ");
	wd_page_enum(
	    page, &weightd__v1__grade__descriptor, (int)file->grade, "GRADE_");
	(void)wd_buf_printf(page->out,
	    ", %" PRIu64 " of %" PRIu64 " tensors mapped", file->tensors_mapped,
	    file->tensor_count);
	if (file->n_flags > 0)
		(void)wd_buf_text(page->out, ", ");
	wd_page_flags(page, file->flags, file->n_flags);
	wd_page_end(page);
	if (file->reason[0] != '\0')
		show_text_line(page, "", file->reason);
	if (file->path_sha256 != NULL) {
		wd_page_key(page, 1, "path now");
		wd_page_digest(page, file->path_sha256);
		wd_page_end(page);
	}
}

static void
show_claim(
    struct wd_page *page, unsigned depth, const Weightd__V1__Claim *claim)
{
	wd_page_key(page, depth, "claim");
	if (claim->key[0] != '\0') {
		wd_page_text(page, claim->key);
		(void)wd_buf_byte(page->out, ' ');
	}
	wd_page_bytes(page, claim->value, MAX_PATH_BYTES);
	if (claim->pid != 0)
		(void)wd_buf_printf(
		    page->out, " (pid %" PRId32 ")", claim->pid);
	if (claim->agrees == WD_SEEN(NO))
		(void)wd_buf_text(page->out, ", not what is held");
	if (claim->folded > 0)
		(void)wd_buf_printf(
		    page->out, " and %" PRIu32 " more like it", claim->folded);
	wd_page_end(page);
}

static void
show_pids(struct wd_page *page, const int32_t *pids, size_t count)
{
	size_t i;

	for (i = 0; i < count && i < MAX_ROWS; i++)
		(void)wd_buf_printf(page->out, "%s %" PRId32,
		    i == 0 ? " in pid" : ",", pids[i]);
	if (i < count)
		(void)wd_buf_printf(page->out, ", %zu more", count - i);
}

static void
show_model_line(struct wd_page *page, const Weightd__V1__Candidate *candidate)
{
	const Weightd__V1__Bundle *bundle = candidate->bundle;
	char label[WD_LABEL_BYTES];

	wd_page_key(page, 0,
	    wd_is_companion(candidate) ? wd_kind_word(bundle->kind) : "model");
	wd_page_paint(page, WD_BOLD, wd_candidate_label(candidate, label));
	if (bundle != NULL) {
		(void)wd_buf_text(page->out, " (");
		wd_page_enum(page, &weightd__v1__bundle_format__descriptor,
		    (int)bundle->format, "BUNDLE_FORMAT_");
		(void)wd_buf_text(
		    page->out, bundle->architecture[0] != '\0' ? ", " : "");
		wd_page_text(page, bundle->architecture);
		(void)wd_buf_text(page->out, ")");
	}
	show_pids(page, candidate->pids, candidate->n_pids);
	wd_page_end(page);
}

/* What leads here now, and what no longer does. */
static void
show_kept_names(struct wd_page *page, const Weightd__V1__Candidate *candidate)
{
	size_t i;

	for (i = 0; i < candidate->n_kept_names && i < MAX_ROWS; i++) {
		wd_page_key(page, 1, "kept as");
		wd_page_text(page, candidate->kept_names[i]);
		wd_page_end(page);
	}
	for (i = 0; i < candidate->n_moved_names && i < MAX_ROWS; i++) {
		const Weightd__V1__MovedName *moved = candidate->moved_names[i];

		wd_page_key(page, 1, "moved");
		wd_page_text(page, moved->name);
		(void)wd_buf_text(page->out,
		    moved->leads_to[0] != '\0' ? ", leads to " : " is gone");
		wd_page_text(page, moved->leads_to);
		(void)wd_buf_text(
		    page->out, moved->leads_to[0] != '\0' ? " now" : "");
		wd_page_end(page);
	}
}

static const char *
in_use_words(const Weightd__V1__Candidate *candidate)
{
	if (candidate->in_use == WD_SEEN(YES))
		return "yes: it is mapped";
	if (candidate->in_use == WD_SEEN(NO))
		return "no: its engine maps it when it is used, and it is not";
	return "not known: a named or opened file is no proof of use";
}

static void
show_candidate(struct wd_page *page, const Weightd__V1__Candidate *candidate)
{
	size_t i;

	show_model_line(page, candidate);
	if (candidate->bundle != NULL)
		wd_page_bundle(page, 1, candidate->bundle);
	for (i = 0; i < candidate->n_files && i < MAX_ROWS; i++)
		show_evidence(page, candidate->files[i]);
	if (i < candidate->n_files)
		wd_page_line(
		    page, 1, "", "and %zu more files", candidate->n_files - i);
	wd_page_key(page, 1, "grade");
	wd_page_enum(page, &weightd__v1__grade__descriptor,
	    (int)candidate->grade, "GRADE_");
	wd_page_end(page);
	show_flags_line(page, 1, candidate->flags, candidate->n_flags);
	show_kept_names(page, candidate);
	if (wd_is_companion(candidate))
		show_text_line(page, "in use", in_use_words(candidate));
	for (i = 0; i < candidate->n_notes && i < MAX_ROWS; i++)
		show_text_line(page, "note", candidate->notes[i]);
	for (i = 0; i < candidate->n_claims && i < MAX_ROWS; i++)
		show_claim(page, 1, candidate->claims[i]);
}

/* Where it leads, and what was proven there. */
static void
show_hop(struct wd_page *page, const Weightd__V1__Attestation *all,
    const Weightd__V1__Hop *hop)
{
	const Weightd__V1__Group *behind = NULL;
	char label[WD_LABEL_BYTES];
	size_t i;

	if (hop->group_presence_case ==
		WEIGHTD__V1__HOP__GROUP_PRESENCE_GROUP &&
	    hop->group < all->n_behind)
		behind = all->behind[hop->group];
	wd_page_key(page, 0, "passes on to");
	(void)wd_buf_text(page->out, wd_hop_label(hop, label));
	if (hop->container[0] != '\0') {
		(void)wd_buf_text(page->out, ", container ");
		wd_page_text(page, hop->container);
	}
	for (i = 0; behind != NULL && i < behind->n_candidates; i++) {
		(void)wd_buf_printf(page->out, "%s%s ", i == 0 ? ": " : ", ",
		    wd_candidate_label(behind->candidates[i], label));
		wd_page_enum(page, &weightd__v1__grade__descriptor,
		    (int)behind->candidates[i]->grade, "GRADE_");
	}
	wd_page_end(page);
}

static void
show_group(struct wd_page *page, const Weightd__V1__Attestation *all,
    const Weightd__V1__Group *group, const char *nothing)
{
	size_t i;

	if (group->n_candidates == 0) {
		wd_page_key(page, 0, "model");
		(void)wd_buf_text(page->out, nothing);
		(void)wd_buf_text(page->out, "  grade ");
		wd_page_enum(page, &weightd__v1__grade__descriptor,
		    (int)group->grade, "GRADE_");
		wd_page_end(page);
	}
	for (i = 0; i < group->n_candidates; i++)
		show_candidate(page, group->candidates[i]);
	for (i = 0; i < group->n_hops && i < MAX_ROWS; i++)
		show_hop(page, all, group->hops[i]);
	show_flags_line(page, 0, group->flags, group->n_flags);
	for (i = 0; i < group->n_claims && i < MAX_ROWS; i++)
		show_claim(page, 0, group->claims[i]);
}

/* ---- what was not pinned, and what was not seen ---------------------------
 */

static void
show_not_pinned(struct wd_page *page, const Weightd__V1__Verdict *verdict)
{
	size_t i;

	for (i = 0; verdict != NULL && i < verdict->n_not_pinned; i++) {
		wd_page_key(page, 0, "not pinned");
		wd_page_text(page, verdict->not_pinned[i]);
		wd_page_end(page);
	}
}

static void
show_blind_spot(struct wd_page *page, const Weightd__V1__BlindSpot *spot)
{
	wd_page_key(page, 0, "not seen");
	if (spot->pid != 0)
		(void)wd_buf_printf(page->out, "pid %" PRId32 ": ", spot->pid);
	wd_page_text(page, spot->what);
	(void)wd_buf_text(page->out, ": ");
	wd_page_text(page, spot->reason);
	wd_page_end(page);
	if (spot->remedy[0] == '\0')
		return;
	wd_page_key(page, 1, "remedy");
	wd_page_text(page, spot->remedy);
	wd_page_end(page);
}

static void
show_moved(struct wd_page *page, const Weightd__V1__Attestation *all)
{
	size_t i;

	if (all->n_moved == 0)
		return;
	wd_page_key(page, 0, "moved");
	for (i = 0; i < all->n_moved; i++) {
		(void)wd_buf_text(page->out, i == 0 ? "" : ", ");
		wd_page_enum(page, &weightd__v1__moved__descriptor,
		    (int)all->moved[i], "MOVED_");
	}
	wd_page_end(page);
}

static void
show_observation(struct wd_page *page, const Weightd__V1__Attestation *all)
{
	size_t i;

	wd_page_connection(page, all);
	if (all->n_listeners == 0)
		wd_page_line(page, 0, "listener", "%s",
		    all->listeners_complete ? "none" : "none was seen");
	for (i = 0; i < all->n_listeners; i++)
		show_listener(page, all->listeners[i]);
	for (i = 0; i < all->n_processes && i < MAX_ROWS; i++)
		show_process(
		    page, all->processes[i], wd_is_about_connection(all));
	if (i < all->n_processes)
		wd_page_line(
		    page, 0, "process", "and %zu more", all->n_processes - i);
	for (i = 0; i < all->n_groups; i++)
		show_group(page, all, all->groups[i], "none");
	for (i = 0; i < all->n_orphans; i++) {
		wd_page_line(page, 0, "orphans",
		    "weights held by processes whose server is gone");
		show_group(page, all, all->orphans[i], "none");
	}
	show_flags_line(page, 0, all->flags, all->n_flags);
	show_moved(page, all);
}

enum wd_status
wd_show_answer(const Weightd__V1__AttestPortResponse *answer, bool with_colour,
    struct wd_buf *out)
{
	struct wd_page page = { out, with_colour };
	const Weightd__V1__Attestation *all = answer->attestation;
	size_t i;

	show_verdict(&page, answer);
	if (all != NULL)
		show_observation(&page, all);
	show_not_pinned(&page, answer->verdict);
	for (i = 0; all != NULL && i < all->n_blind_spots; i++)
		show_blind_spot(&page, all->blind_spots[i]);
	return out->status;
}
