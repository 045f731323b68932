#include <inttypes.h>
#include <string.h>

#include "verdict/page.h"
#include "verdict/parts.h"
#include "verdict/show.h"

/* Longer lists are for the JSON; a person wants the beginning and the count. */
#define MAX_ROWS 8

#define STATE(name) WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_##name

static const char *
state_words(Weightd__V1__DigestState state)
{
	static const struct wd_word words[] = {
		{ STATE(COMPUTED), "computed now" },
		{ STATE(CACHED), "computed before, file unchanged since" },
		{ STATE(KERNEL), "by the kernel (fs-verity)" },
		{ STATE(NAMED), "a claim: only the file's name says so" },
		{ STATE(PENDING), "being computed, ask again" },
	};

	return WD_WORD(words, state, "not computed");
}

static void
show_digest_line(struct wd_page *page, unsigned depth, const char *key,
    const Weightd__V1__Digest *digest)
{
	wd_page_key(page, depth, key);
	wd_page_digest(page, digest);
	wd_page_end(page);
}

static void
show_numbers(
    struct wd_page *page, unsigned depth, const Weightd__V1__Bundle *bundle)
{
	wd_page_key(page, depth, "parameters");
	if (!bundle->parameters_known && bundle->tensor_count == 0) {
		(void)wd_buf_text(page->out, "unknown: no tensor was read");
		wd_page_end(page);
		return;
	}
	if (!bundle->parameters_known)
		(void)wd_buf_text(page->out, "at least ");
	wd_page_number(page, bundle->parameter_count);
	if (!bundle->parameters_known)
		(void)wd_buf_text(
		    page->out, ": some tensors could not be counted");
	if (bundle->stored_element_count != bundle->parameter_count) {
		(void)wd_buf_text(page->out, " (");
		wd_page_number(page, bundle->stored_element_count);
		(void)wd_buf_text(page->out, " elements stored)");
	}
	wd_page_end(page);
	wd_page_key(page, depth, "tensors");
	wd_page_number(page, bundle->tensor_count);
	(void)wd_buf_text(page->out, " in ");
	wd_page_number(page, bundle->tensor_bytes);
	(void)wd_buf_text(page->out, " bytes");
	wd_page_end(page);
}

static void
show_encodings(
    struct wd_page *page, unsigned depth, const Weightd__V1__Bundle *bundle)
{
	size_t i;

	if (bundle->n_encodings == 0)
		return;
	wd_page_key(page, depth, "encodings");
	for (i = 0; i < bundle->n_encodings && i < MAX_ROWS; i++) {
		if (i > 0)
			(void)wd_buf_text(page->out, ", ");
		wd_page_text(page, bundle->encodings[i]->encoding);
		(void)wd_buf_printf(page->out, " x %" PRIu64,
		    bundle->encodings[i]->tensor_count);
	}
	if (i < bundle->n_encodings)
		(void)wd_buf_printf(
		    page->out, ", %zu more", bundle->n_encodings - i);
	wd_page_end(page);
}

/* "attention Q4_K x 12, Q6_K x 4; norm F32 x 9": the recipe as it is. */
static void
show_classes(
    struct wd_page *page, unsigned depth, const Weightd__V1__Bundle *bundle)
{
	const char *before = "";
	size_t i;

	if (bundle->n_classes == 0)
		return;
	wd_page_key(page, depth, "by class");
	for (i = 0; i < bundle->n_classes && i < 4 * MAX_ROWS; i++) {
		const Weightd__V1__ClassCount *row = bundle->classes[i];
		bool same = i > 0 && strcmp(before, row->tensor_class) == 0;

		(void)wd_buf_text(page->out, same ? ", " : i > 0 ? "; " : "");
		if (!same) {
			wd_page_text(page, row->tensor_class);
			(void)wd_buf_byte(page->out, ' ');
		}
		before = row->tensor_class;
		if (row->count == NULL)
			continue;
		wd_page_text(page, row->count->encoding);
		(void)wd_buf_printf(
		    page->out, " x %" PRIu64, row->count->tensor_count);
	}
	if (i < bundle->n_classes)
		(void)wd_buf_printf(
		    page->out, ", %zu more", bundle->n_classes - i);
	wd_page_end(page);
}

static void
show_fingerprint(
    struct wd_page *page, unsigned depth, const Weightd__V1__Bundle *bundle)
{
	wd_page_key(page, depth, "content");
	if (bundle->content_digest != NULL) {
		wd_page_digest(page, bundle->content_digest);
		(void)wd_buf_printf(page->out, " (%s)",
		    state_words(bundle->content_digest_state));
	} else {
		(void)wd_buf_text(
		    page->out, state_words(bundle->content_digest_state));
	}
	wd_page_end(page);
	show_digest_line(page, depth, "encoding", bundle->encoding_digest);
	wd_page_key(page, depth, "settings");
	wd_page_digest(page, bundle->settings_digest);
	(void)wd_buf_printf(page->out, " (%zu keys)", bundle->n_settings);
	wd_page_end(page);
	show_digest_line(page, depth, "tokenizer", bundle->tokenizer_digest);
	wd_page_text_line(page, depth, "recipe", bundle->declared_recipe);
	wd_page_text_line(page, depth, "recipe", bundle->derived_recipe);
}

static void
show_file(
    struct wd_page *page, unsigned depth, const Weightd__V1__BundleFile *file)
{
	wd_page_key(page, depth, "file");
	wd_page_bytes(page, file->name, 200);
	if (!file->present) {
		(void)wd_buf_text(page->out, "  ");
		wd_page_paint(page, WD_YELLOW, "missing");
		wd_page_end(page);
		return;
	}
	(void)wd_buf_text(page->out, "  ");
	wd_page_number(page, file->size_bytes);
	(void)wd_buf_text(page->out, " bytes");
	wd_page_end(page);
	wd_page_key(page, depth, "");
	if (file->sha256 != NULL) {
		wd_page_digest(page, file->sha256);
		(void)wd_buf_printf(
		    page->out, " (%s)", state_words(file->digest_state));
	} else if (file->named_digest != NULL) {
		wd_page_digest(page, file->named_digest);
		(void)wd_buf_printf(
		    page->out, " (%s)", state_words(STATE(NAMED)));
	} else {
		(void)wd_buf_text(page->out, state_words(file->digest_state));
	}
	wd_page_end(page);
}

static void
show_lists(
    struct wd_page *page, unsigned depth, const Weightd__V1__Bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->n_files && i < MAX_ROWS; i++)
		show_file(page, depth, bundle->files[i]);
	if (i < bundle->n_files)
		wd_page_line(
		    page, depth, "", "and %zu more files", bundle->n_files - i);
	for (i = 0; i < bundle->n_notes && i < MAX_ROWS; i++)
		wd_page_text_line(page, depth, "note", bundle->notes[i]->text);
	if (i < bundle->n_notes)
		wd_page_line(
		    page, depth, "", "and %zu more notes", bundle->n_notes - i);
}

void
wd_page_bundle(
    struct wd_page *page, unsigned depth, const Weightd__V1__Bundle *bundle)
{
	show_numbers(page, depth, bundle);
	show_encodings(page, depth, bundle);
	show_classes(page, depth, bundle);
	show_fingerprint(page, depth, bundle);
	show_lists(page, depth, bundle);
}

enum wd_status
wd_show_bundle(
    const Weightd__V1__Bundle *bundle, bool with_colour, struct wd_buf *out)
{
	struct wd_page page = { out, with_colour };

	wd_page_key(&page, 0, "bundle");
	if (bundle->inner_name[0] != '\0')
		wd_page_paint(&page, WD_BOLD, bundle->inner_name);
	else
		(void)wd_buf_text(out, "without a name");
	if (bundle->incomplete) {
		(void)wd_buf_text(out, "  ");
		wd_page_paint(&page, WD_RED, "INCOMPLETE");
	}
	wd_page_end(&page);
	wd_page_key(&page, 1, "format");
	wd_page_enum(&page, &weightd__v1__bundle_format__descriptor,
	    (int)bundle->format, "BUNDLE_FORMAT_");
	if (bundle->format_version != 0)
		(void)wd_buf_printf(out, " v%" PRIu32, bundle->format_version);
	(void)wd_buf_printf(
	    out, "%s, ", bundle->big_endian ? " big-endian" : "");
	wd_page_enum(&page, &weightd__v1__bundle_kind__descriptor,
	    (int)bundle->kind, "BUNDLE_KIND_");
	wd_page_end(&page);
	wd_page_text_line(&page, 1, "architecture", bundle->architecture);
	if (bundle->path.len > 0) {
		wd_page_key(&page, 1, "path");
		wd_page_bytes(&page, bundle->path, 4096);
		wd_page_end(&page);
	}
	wd_page_text_line(&page, 1, "repository", bundle->repository);
	wd_page_bundle(&page, 1, bundle);
	return out->status;
}

/* What leads here now, and what no longer does. */
void
wd_page_names(struct wd_page *page, const Weightd__V1__Candidate *candidate)
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

void
wd_page_others(struct wd_page *page, const Weightd__V1__Candidate *candidate)
{
	size_t i;

	if (candidate->n_also_held_by == 0)
		return;
	wd_page_key(page, 1, "also held by");
	for (i = 0; i < candidate->n_also_held_by && i < MAX_ROWS; i++)
		(void)wd_buf_printf(page->out, "%s%" PRId32,
		    i == 0 ? "process " : ", ", candidate->also_held_by[i]);
	if (i < candidate->n_also_held_by)
		(void)wd_buf_printf(
		    page->out, ", %zu more", candidate->n_also_held_by - i);
	(void)wd_buf_text(page->out, " (outside the group)");
	wd_page_end(page);
}
