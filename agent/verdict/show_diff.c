#include <inttypes.h>
#include <string.h>

#include "verdict/bundle_diff.h"
#include "verdict/page.h"

#define RESULT(name) WEIGHTD__V1__BUNDLE_DIFF__RESULT__RESULT_##name

/* Longer values are for the JSON. */
#define VALUE_BYTES 200

static void
show_value(struct wd_page *page, bool is_there, const char *value)
{
	char start[VALUE_BYTES + 1];
	size_t len = VALUE_BYTES;

	if (!is_there || strlen(value) <= VALUE_BYTES) {
		wd_page_text(page, is_there ? value : "(none)");
		return;
	}
	/* Not within a character. */
	while (len > 0 && ((uint8_t)value[len] & 0xc0) == 0x80)
		len--;
	memcpy(start, value, len);
	start[len] = '\0';
	wd_page_text(page, start);
	(void)wd_buf_text(page->out, "...");
}

static void
show_fact(struct wd_page *page, const char *field, bool has_a, const char *a,
    bool has_b, const char *b)
{
	(void)wd_buf_text(page->out, "  ");
	wd_page_text(page, field);
	(void)wd_buf_text(page->out, ": ");
	show_value(page, has_a, a);
	(void)wd_buf_text(page->out, " -> ");
	show_value(page, has_b, b);
	wd_page_end(page);
}

static void
show_facts(struct wd_page *page, const char *title,
    Weightd__V1__FactDifference *const *rows, size_t count)
{
	size_t i;

	if (count == 0)
		return;
	wd_page_line(page, 0, title, "%zu differ", count);
	for (i = 0; i < count; i++)
		show_fact(page, rows[i]->field,
		    rows[i]->a_presence_case ==
			WEIGHTD__V1__FACT_DIFFERENCE__A_PRESENCE_A,
		    rows[i]->a,
		    rows[i]->b_presence_case ==
			WEIGHTD__V1__FACT_DIFFERENCE__B_PRESENCE_B,
		    rows[i]->b);
}

static void
show_classes(struct wd_page *page, const Weightd__V1__BundleDiff *diff)
{
	size_t i;

	if (diff->n_classes == 0)
		return;
	wd_page_line(page, 0, "encodings", "tensors of each class");
	for (i = 0; i < diff->n_classes; i++) {
		const Weightd__V1__ClassDifference *row = diff->classes[i];

		(void)wd_buf_text(page->out, "  ");
		wd_page_text(page, row->tensor_class);
		(void)wd_buf_text(page->out, " ");
		wd_page_text(page, row->encoding);
		(void)wd_buf_printf(page->out, ": %" PRIu64 " -> %" PRIu64,
		    row->a_tensor_count, row->b_tensor_count);
		(void)wd_buf_text(page->out, " (parameters ");
		wd_page_number(page, row->a_parameter_count);
		(void)wd_buf_text(page->out, " -> ");
		wd_page_number(page, row->b_parameter_count);
		(void)wd_buf_text(page->out, ")");
		wd_page_end(page);
	}
}

static void
show_tensors(struct wd_page *page, const Weightd__V1__BundleDiff *diff)
{
	size_t i;

	if (diff->tensor_difference_count == 0)
		return;
	wd_page_line(page, 0, "tensors", "%" PRIu64 " differ",
	    diff->tensor_difference_count);
	for (i = 0; i < diff->n_tensors; i++) {
		const Weightd__V1__TensorDifference *row = diff->tensors[i];

		show_fact(page, row->name,
		    row->a_presence_case ==
			WEIGHTD__V1__TENSOR_DIFFERENCE__A_PRESENCE_A,
		    row->a,
		    row->b_presence_case ==
			WEIGHTD__V1__TENSOR_DIFFERENCE__B_PRESENCE_B,
		    row->b);
	}
	if (diff->n_tensors < diff->tensor_difference_count)
		wd_page_line(page, 1, "", "and %" PRIu64 " more",
		    diff->tensor_difference_count - diff->n_tensors);
}

static void
show_result(struct wd_page *page, const Weightd__V1__BundleDiff *diff)
{
	static const struct {
		enum wd_paint paint;
		const char *text;
	} words[] = {
		[RESULT(UNSPECIFIED)] = { WD_YELLOW, "not known" },
		[RESULT(EQUAL)] = { WD_GREEN, "equal" },
		[RESULT(DIFFERENT)] = { WD_RED, "different" },
		[RESULT(HEADERS_EQUAL)] = { WD_YELLOW,
		    "headers equal; tensor data not compared (--digests does "
		    "it)" },
		[RESULT(INCOMPLETE)] = { WD_YELLOW,
		    "no difference seen, but a bundle is incomplete" },
	};
	size_t at = (size_t)diff->result;

	if (at >= sizeof(words) / sizeof(words[0]))
		at = 0;
	wd_page_key(page, 0, "result");
	wd_page_paint(page, words[at].paint, words[at].text);
	wd_page_end(page);
}

static void
show_path(struct wd_page *page, const char *key, ProtobufCBinaryData path,
    bool incomplete)
{
	wd_page_key(page, 0, key);
	wd_page_bytes(page, path, 4096);
	if (incomplete) {
		(void)wd_buf_text(page->out, "  ");
		wd_page_paint(page, WD_RED, "INCOMPLETE");
	}
	wd_page_end(page);
}

enum wd_status
wd_show_bundle_diff(
    const Weightd__V1__BundleDiff *diff, bool with_colour, struct wd_buf *out)
{
	struct wd_page page = { out, with_colour };

	show_result(&page, diff);
	show_path(&page, "a", diff->a_path, diff->a_incomplete);
	show_path(&page, "b", diff->b_path, diff->b_incomplete);
	show_facts(&page, "bundle", diff->facts, diff->n_facts);
	show_classes(&page, diff);
	show_facts(&page, "settings", diff->settings, diff->n_settings);
	show_facts(&page, "files", diff->files, diff->n_files);
	show_tensors(&page, diff);
	return out->status;
}
