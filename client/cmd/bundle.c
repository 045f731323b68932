/* weightctl bundle: the fingerprint of a model on this machine's disk. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cmd/look.h"
#include "verdict/show.h"
#include "wire/build.h"
#include "wire/json.h"

struct options {
	const char *path;
	bool is_json;
	bool headers_only;
};

/* ---- arguments ------------------------------------------------------------
 */

static int
usage_error(const char *why)
{
	(void)fprintf(stderr,
	    "weightctl bundle: %s\n"
	    "usage: weightctl bundle PATH [--format text|json] "
	    "[--headers-only]\n"
	    "       weightctl bundle diff A B ...\n",
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

/* Returns what is wrong, or NULL. */
static const char *
parse_arguments(int argc, char **argv, struct options *options)
{
	static const char format_is[] = "--format=";
	const char *why = NULL;
	bool only_paths = false;
	int i;

	for (i = 1; i < argc && why == NULL; i++) {
		const char *word = argv[i];

		if (only_paths || word[0] != '-') {
			if (options->path != NULL)
				return "more than one path is given";
			options->path = word;
		} else if (strcmp(word, "--") == 0) {
			only_paths = true;
		} else if (strcmp(word, "--headers-only") == 0) {
			options->headers_only = true;
		} else if (strcmp(word, "--format") == 0) {
			why = parse_format(
			    i + 1 < argc ? argv[++i] : NULL, options);
		} else if (strncmp(word, format_is, strlen(format_is)) == 0) {
			why = parse_format(word + strlen(format_is), options);
		} else {
			return "an option is not known";
		}
	}
	if (why == NULL && (options->path == NULL || options->path[0] == '\0'))
		return "no path is given";
	return why;
}

/* ---- output ---------------------------------------------------------------
 */

static enum wd_status
render(const struct wd_look *look, const struct options *options,
    struct wd_buf *out, struct wd_error *err)
{
	Weightd__V1__Bundle *message WD_CLEANUP(wd_message_free_scoped) = NULL;
	enum wd_status st = wd_bundle_message(look->bundle, look->digests,
	    wd_slice_text(options->path), &message, err);

	if (st != WD_OK)
		return st;
	if (options->is_json)
		return wd_message_print_json(
		    &message->base, WD_JSON_INDENTED, out, err);
	st = wd_show_bundle(message, isatty(STDOUT_FILENO) != 0, out);
	return st == WD_OK ? st : wd_fail(err, st, "no memory for the text");
}

static int
print_look(const struct wd_look *look, const struct options *options)
{
	struct wd_buf out WD_CLEANUP(wd_buf_release);
	struct wd_error err;

	wd_error_init(&err);
	wd_buf_init(&out, WD_MAX_MESSAGE);
	if (render(look, options, &out, &err) != WD_OK)
		return wd_look_report(options->path, WD_IO, err.message);
	if (fwrite(out.data, 1, out.len, stdout) != out.len ||
	    fflush(stdout) != 0)
		return wd_look_report(
		    "standard output", WD_IO, strerror(errno));
	return WD_EXIT_MATCH;
}

static int
look_at(struct wd_look *look, const struct options *options)
{
	int code = wd_look_describe(look, options->path), printed;

	if (code != WD_EXIT_MATCH)
		return code;
	if (!options->headers_only)
		code = wd_look_hash(look);
	if (wd_look_check_unchanged(look) != WD_EXIT_MATCH)
		return WD_EXIT_UNVERIFIABLE;
	if (look->bundle->incomplete)
		code = WD_EXIT_UNVERIFIABLE;
	printed = print_look(look, options);
	return printed == WD_EXIT_MATCH ? code : printed;
}

int
wd_cmd_bundle(int argc, char **argv)
{
	struct options options = { .path = NULL };
	struct wd_look look;
	const char *why;
	int code;

	/* A bundle that is called "diff" is "./diff". */
	if (argc > 1 && strcmp(argv[1], "diff") == 0)
		return wd_cmd_bundle_diff(argc - 1, argv + 1);
	why = parse_arguments(argc, argv, &options);
	if (why != NULL)
		return usage_error(why);
	wd_look_init(&look);
	code = look_at(&look, &options);
	wd_look_release(&look);
	return code;
}
