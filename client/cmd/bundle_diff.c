/* weightctl bundle diff: what is different between two models, each on this
 * machine's disk or behind a port of any machine, from their headers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cmd/look.h"
#include "cmd/remote.h"
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
	bool is_remote[2];
	struct wd_session_options session;
};

/* One of the two. */
struct side {
	struct wd_look look;
	Weightd__V1__Bundle *message;
	bool is_unproven; /* behind a port, and shown all the same */
};

static int
usage_error(const char *why)
{
	(void)fprintf(stderr,
	    "weightctl bundle diff: %s\n"
	    "usage: weightctl bundle diff A B [--names] [--digests | "
	    "--headers-only] [--format text|json]\n"
	    "A and B: a path, or HOST:PORT, with [--ca FILE] [--cert FILE]\n"
	    "    [--key FILE] [--agent-port N] [--timeout SECONDS]\n",
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

/* What may not be together. */
static const char *
check(struct options *options, struct wd_error *err)
{
	unsigned i;

	if (options->path_count < 2)
		return "two paths are needed";
	if (options->digests && options->headers_only)
		return "--digests and --headers-only exclude each other";
	for (i = 0; i < 2; i++) {
		if (wd_remote_is(options->paths[i], &options->is_remote[i],
			err) != WD_OK)
			return err->message;
		if (options->is_remote[i] && options->names)
			return "--names needs both on this machine: agents do "
			       "not tell every tensor";
	}
	return NULL;
}

/* Returns what is wrong, or NULL. */
static const char *
parse_arguments(
    int argc, char **argv, struct options *options, struct wd_error *err)
{
	const char *why = NULL;
	bool only_paths = false;
	int i;

	for (i = 1; i < argc && why == NULL; i++) {
		const char *word = argv[i];

		if (only_paths || word[0] != '-') {
			why = parse_path(word, options);
		} else if (strcmp(word, "--") == 0) {
			only_paths = true;
		} else if (strcmp(word, "--format") == 0) {
			why = parse_format(
			    i + 1 < argc ? argv[++i] : NULL, options);
		} else if (wd_session_flag(word)) {
			why = wd_session_word(
			    &options->session, argc - i, argv + i, err);
			i++;
		} else {
			why = parse_word(word, options);
		}
	}
	return why == NULL ? check(options, err) : why;
}

static enum wd_status
compare(const struct side sides[2], const struct options *options,
    Weightd__V1__BundleDiff **diff, struct wd_error *err)
{
	enum wd_status st =
	    wd_bundle_diff(sides[0].message, sides[1].message, diff, err);

	if (st == WD_OK && options->names)
		st = wd_tensor_diff(sides[0].look.bundle, sides[1].look.bundle,
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
look_here(struct side *side, const char *path, bool with_digests)
{
	int code = wd_look_describe(&side->look, path);

	if (code == WD_EXIT_MATCH && with_digests)
		code = wd_look_hash(&side->look);
	return code;
}

/* The same path on two hosts must not look like one file. */
static int
name_host(Weightd__V1__Bundle *bundle, const char *target)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf path = { .data = NULL };
	struct wd_build b = wd_build_init();

	wd_buf_init(&path, WD_MAX_MESSAGE);
	(void)wd_buf_printf(&path, "%s:", target);
	(void)wd_buf_append(&path, bundle->path.data, bundle->path.len);
	if (path.status == WD_OK)
		wd_build_bytes(&b, &bundle->path, wd_buf_slice(&path));
	return path.status == WD_OK && b.status == WD_OK ?
	    WD_EXIT_MATCH :
	    wd_look_report(target, WD_NOMEM, "no memory for its path");
}

static int
look_far(struct side *side, const char *path, const struct options *options)
{
	int code = wd_remote_bundle(&options->session, path,
	    options->digests ? WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_WAIT :
			       WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_CACHED,
	    &side->message);

	if (side->message == NULL)
		return code;
	side->is_unproven = code != WD_EXIT_MATCH;
	return name_host(side->message, path);
}

/* Nothing is told of a bundle that moved while it was read. */
static int
finish_here(struct side *side, const char *path)
{
	struct wd_error err;
	int code = wd_look_check_unchanged(&side->look);

	wd_error_init(&err);
	if (code == WD_EXIT_MATCH &&
	    wd_bundle_message(side->look.bundle, side->look.digests,
		wd_slice_text(path), &side->message, &err) != WD_OK)
		code = wd_look_report(path, WD_IO, err.message);
	return code;
}

static int
look_at(struct side sides[2], const struct options *options)
{
	int code = WD_EXIT_MATCH, i;

	for (i = 0; i < 2 && code == WD_EXIT_MATCH; i++)
		code = options->is_remote[i] ?
		    look_far(&sides[i], options->paths[i], options) :
		    look_here(&sides[i], options->paths[i], options->digests);
	for (i = 0; i < 2 && code == WD_EXIT_MATCH; i++)
		if (!options->is_remote[i])
			code = finish_here(&sides[i], options->paths[i]);
	return code;
}

static int
diff_sides(struct side sides[2], const struct options *options)
{
	Weightd__V1__BundleDiff *diff WD_CLEANUP(wd_message_free_scoped) = NULL;
	struct wd_error err;
	enum wd_status st;
	int code = look_at(sides, options);

	if (code != WD_EXIT_MATCH)
		return code;
	wd_error_init(&err);
	st = compare(sides, options, &diff, &err);
	if (st != WD_OK)
		return wd_look_report("the differences", st, err.message);
	code = print(diff, options);
	if (code == WD_EXIT_MATCH)
		code = exit_code(diff, options);
	/* What is not proven is neither equal nor different. */
	return sides[0].is_unproven || sides[1].is_unproven ?
	    WD_EXIT_UNVERIFIABLE :
	    code;
}

int
wd_cmd_bundle_diff(int argc, char **argv)
{
	struct options options = { .path_count = 0 };
	struct side sides[2] = { { .message = NULL }, { .message = NULL } };
	struct wd_error err;
	const char *why;
	int code, i;

	wd_error_init(&err);
	why = parse_arguments(argc, argv, &options, &err);
	if (why != NULL)
		return usage_error(why);
	for (i = 0; i < 2; i++)
		wd_look_init(&sides[i].look);
	code = diff_sides(sides, &options);
	for (i = 0; i < 2; i++) {
		wd_message_free(sides[i].message);
		wd_look_release(&sides[i].look);
	}
	return code;
}
