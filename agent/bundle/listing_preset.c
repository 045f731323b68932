/*
 * llama-server's presets: sections, `key = value`, comments after ';' or '#'
 * at the start of a line (llama.cpp, common/preset.cpp).
 */
#include "bundle/listing_parts.h"

struct section {
	struct wd_slice name;
	bool named_model;
};

static struct wd_slice
trimmed(struct wd_slice text)
{
	while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
		text.data++;
		text.len--;
	}
	while (text.len > 0 &&
	    (text.data[text.len - 1] == ' ' ||
		text.data[text.len - 1] == '\t' ||
		text.data[text.len - 1] == '\r'))
		text.len--;
	return text;
}

/* Settings of all models stand in [*], or before the first section. */
static bool
is_for_all(struct wd_slice name)
{
	return name.len == 0 || wd_slice_equal(name, wd_slice_text("*"));
}

/* A section that names no model is named like one: a repository of the hub, or
 * a file of the models' folder. */
static enum wd_status
end_section(struct wd_listing *listing, const struct section *section)
{
	if (is_for_all(section->name) || section->named_model)
		return WD_OK;
	return wd_listing_add(listing, WD_LISTED_MODEL, section->name,
	    (struct wd_slice){ NULL, 0 }, section->name);
}

static enum wd_status
take_pair(
    struct wd_listing *listing, struct section *section, struct wd_slice line)
{
	enum wd_listed_use use;
	struct wd_slice key;

	(void)wd_slice_cut(&line, '=', &key);
	key = trimmed(key);
	if (!wd_listing_option(key, &use))
		return WD_OK;
	section->named_model |= use == WD_LISTED_MODEL;
	return wd_listing_add(listing, use, section->name, key, trimmed(line));
}

enum wd_status
wd_listing_preset(
    struct wd_slice text, struct wd_listing *listing, struct wd_error *err)
{
	struct section section = { { NULL, 0 }, false };
	struct wd_slice line;
	enum wd_status st = WD_OK;
	unsigned number = 0;

	while (st == WD_OK && wd_slice_cut(&text, '\n', &line)) {
		number++;
		line = trimmed(line);
		if (line.len == 0 || line.data[0] == ';' || line.data[0] == '#')
			continue;
		if (line.data[0] != '[') {
			st = take_pair(listing, &section, line);
			continue;
		}
		if (!wd_slice_ends(line, "]"))
			return wd_fail(err, WD_MALFORMED,
			    "line %u: a section without its bracket", number);
		st = end_section(listing, &section);
		section.name =
		    trimmed((struct wd_slice){ line.data + 1, line.len - 2 });
		section.named_model = false;
		listing->entries += !is_for_all(section.name);
	}
	return st == WD_OK ? end_section(listing, &section) : st;
}
