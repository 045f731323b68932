#include "verdict/show.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "verdict/page.h"
#include "verdict/parts.h"
#include "wire/json.h"

#define MAX_ROWS 16
#define MAX_PATH_BYTES 4096

#define OWNERS(name) WEIGHTD__V1__OWNERS_STATE__OWNERS_STATE_##name

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
		wd_page_text_line(page, 1, "", file->reason);
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
	wd_page_flags_line(page, 1, candidate->flags, candidate->n_flags);
	wd_page_names(page, candidate);
	wd_page_others(page, candidate);
	if (wd_is_companion(candidate))
		wd_page_text_line(page, 1, "in use", in_use_words(candidate));
	for (i = 0; i < candidate->n_notes && i < MAX_ROWS; i++)
		wd_page_text_line(page, 1, "note", candidate->notes[i]);
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
	wd_page_flags_line(page, 0, group->flags, group->n_flags);
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
		wd_page_process(
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
	wd_page_flags_line(page, 0, all->flags, all->n_flags);
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
