/* weightctl bundle diff: what is different between two models on this
 * machine's disk, from their headers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cmd/look.h"
#include "verdict/bundle_diff.h"
#include "wire/build.h"
#include "wire/json.h"
#include "wire/tensor_diff.h"

/* A person reads a few; all of them are in the JSON. */
#define NAMES_IN_TEXT 200

#define RESULT(name) WEIGHTD__V1__BUNDLE_DIFF__RESULT__RESULT_##name

struct options {
	const char *paths[2];
	unsigned path_count;
	bool is_json;
	bool names;
	bool digests;
	bool headers_only;
};

static int
usage_error(const char *why)
{
	(void)fprintf(stderr,
	    "weightctl bundle diff: %s\n"
	    "usage: weightctl bundle diff A B [--names] [--digests | "
	    "--headers-only] [--format text|json]\n",
	    why);
	return WD_EXIT_USAGE;
}

static const char *
parse_format(const char *value, struct options *options)
{
	if (value == NULL ||
	    (strcmp(value, "text") != 0 && strcmp(value, "json") != 0))
		return "--format takes text or json";
	options->is_json = strcmp(value, "json") == 0;
	return NULL;
}

static const char *
parse_path(const char *word, struct options *options)
{
	if (options->path_count == 2)
		return "more than two paths are given";
	if (word[0] == '\0')
		return "a path is empty";
	options->paths[options->path_count++] = word;
	return NULL;
}

/* Of an option that is one word. */
static const char *
parse_word(const char *word, struct options *options)
{
	static const char format_is[] = "--format=";

	if (strcmp(word, "--names") == 0)
		options->names = true;
	else if (strcmp(word, "--digests") == 0)
		options->digests = true;
	else if (strcmp(word, "--headers-only") == 0)
		options->headers_only = true;
	else if (strncmp(word, format_is, strlen(format_is)) == 0)
		return parse_format(word + strlen(format_is), options);
	else
		return "an option is not known";
	return NULL;
}

/* Returns what is wrong, or NULL. */
static const char *
parse_arguments(int argc, char **argv, struct options *options)
{
	const char *why = NULL;
	bool only_paths = false;
	int i;

	for (i = 1; i < argc && why == NULL; i++) {
		const char *word = argv[i];

		if (only_paths || word[0] != '-')
			why = parse_path(word, options);
		else if (strcmp(word, "--") == 0)
			only_paths = true;
		else if (strcmp(word, "--format") == 0)
			why = parse_format(
			    i + 1 < argc ? argv[++i] : NULL, options);
		else
			why = parse_word(word, options);
	}
	if (why == NULL && options->path_count < 2)
		return "two paths are needed";
	if (why == NULL && options->digests && options->headers_only)
		return "--digests and --headers-only exclude each other";
	return why;
}

static enum wd_status
compare(const struct wd_look looks[2], const struct options *options,
    Weightd__V1__BundleDiff **diff, struct wd_error *err)
{
	Weightd__V1__Bundle *a WD_CLEANUP(wd_message_free_scoped) = NULL;
	Weightd__V1__Bundle *b WD_CLEANUP(wd_message_free_scoped) = NULL;
	enum wd_status st;

	st = wd_bundle_message(looks[0].bundle, looks[0].digests,
	    wd_slice_text(options->paths[0]), &a, err);
	if (st == WD_OK)
		st = wd_bundle_message(looks[1].bundle, looks[1].digests,
		    wd_slice_text(options->paths[1]), &b, err);
	if (st == WD_OK)
		st = wd_bundle_diff(a, b, diff, err);
	if (st == WD_OK && options->names)
		st = wd_tensor_diff(looks[0].bundle, looks[1].bundle,
		    options->is_json ? SIZE_MAX : NAMES_IN_TEXT, *diff, err);
	return st;
}

static int
print(const Weightd__V1__BundleDiff *diff, const struct options *options)
{
	struct wd_buf out WD_CLEANUP(wd_buf_release);
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	wd_buf_init(&out, WD_MAX_MESSAGE);
	if (options->is_json)
		st = wd_message_print_json(
		    &diff->base, WD_JSON_INDENTED, &out, &err);
	else
		st =
		    wd_show_bundle_diff(diff, isatty(STDOUT_FILENO) != 0, &out);
	if (st != WD_OK)
		return wd_look_report(
		    "the differences", st, wd_status_name(st));
	if (fwrite(out.data, 1, out.len, stdout) != out.len ||
	    fflush(stdout) != 0)
		return wd_look_report(
		    "standard output", WD_IO, strerror(errno));
	return WD_EXIT_MATCH;
}

static int
exit_code(const Weightd__V1__BundleDiff *diff, const struct options *options)
{
	switch (diff->result) {
	case RESULT(EQUAL):
		return WD_EXIT_MATCH;
	case RESULT(DIFFERENT):
		return WD_EXIT_MISMATCH;
	case RESULT(HEADERS_EQUAL):
		return options->headers_only ? WD_EXIT_MATCH :
					       WD_EXIT_UNVERIFIABLE;
	case RESULT(UNSPECIFIED):
	case RESULT(INCOMPLETE):
	case _WEIGHTD__V1__BUNDLE_DIFF__RESULT_IS_INT_SIZE:
		break;
	}
	return WD_EXIT_UNVERIFIABLE;
}

static int
look_at(struct wd_look *look, const char *path, bool with_digests)
{
	int code = wd_look_describe(look, path);

	if (code == WD_EXIT_MATCH && with_digests)
		code = wd_look_hash(look);
	return code;
}

static int
diff_looks(struct wd_look looks[2], const struct options *options)
{
	Weightd__V1__BundleDiff *diff WD_CLEANUP(wd_message_free_scoped) = NULL;
	struct wd_error err;
	enum wd_status st;
	int code = WD_EXIT_MATCH, i;

	for (i = 0; i < 2 && code == WD_EXIT_MATCH; i++)
		code = look_at(&looks[i], options->paths[i], options->digests);
	for (i = 0; i < 2 && code == WD_EXIT_MATCH; i++)
		code = wd_look_check_unchanged(&looks[i]);
	if (code != WD_EXIT_MATCH)
		return code;
	wd_error_init(&err);
	st = compare(looks, options, &diff, &err);
	if (st != WD_OK)
		return wd_look_report("the differences", st, err.message);
	code = print(diff, options);
	return code == WD_EXIT_MATCH ? exit_code(diff, options) : code;
}

int
wd_cmd_bundle_diff(int argc, char **argv)
{
	struct options options = { .path_count = 0 };
	const char *why = parse_arguments(argc, argv, &options);
	struct wd_look looks[2];
	int code;

	if (why != NULL)
		return usage_error(why);
	wd_look_init(&looks[0]);
	wd_look_init(&looks[1]);
	code = diff_looks(looks, &options);
	wd_look_release(&looks[0]);
	wd_look_release(&looks[1]);
	return code;
}
