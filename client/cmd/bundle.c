/* weightctl bundle: the fingerprint of a model on this machine's disk, or of
 * the one that serves behind a port of any machine. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cmd/look.h"
#include "cmd/remote.h"
#include "verdict/show.h"
#include "wire/build.h"
#include "wire/json.h"

struct options {
	const char *path;
	bool is_json;
	bool headers_only;
	bool is_remote;
	struct wd_session_options session;
};

/* ---- arguments ------------------------------------------------------------
 */

static int
usage_error(const char *why)
{
	(void)fprintf(stderr,
	    "weightctl bundle: %s\n"
	    "usage: weightctl bundle PATH|HOST:PORT [--format text|json] "
	    "[--headers-only]\n"
	    "           [--ca FILE] [--cert FILE] [--key FILE] [--agent-port N]"
	    "\n"
	    "           [--timeout SECONDS]      (HOST:PORT)\n"
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
parse_arguments(
    int argc, char **argv, struct options *options, struct wd_error *err)
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
		} else if (wd_session_flag(word)) {
			why = wd_session_word(
			    &options->session, argc - i, argv + i, err);
			i++;
		} else {
			return "an option is not known";
		}
	}
	if (why == NULL && (options->path == NULL || options->path[0] == '\0'))
		return "no path is given";
	if (why == NULL &&
	    wd_remote_is(options->path, &options->is_remote, err) != WD_OK)
		return err->message;
	return why;
}

/* ---- output ---------------------------------------------------------------
 */

static enum wd_status
render(const Weightd__V1__Bundle *message, const struct options *options,
    struct wd_buf *out, struct wd_error *err)
{
	enum wd_status st;

	if (options->is_json)
		return wd_message_print_json(
		    &message->base, WD_JSON_INDENTED, out, err);
	st = wd_show_bundle(message, isatty(STDOUT_FILENO) != 0, out);
	return st == WD_OK ? st : wd_fail(err, st, "no memory for the text");
}

static int
print(const Weightd__V1__Bundle *message, const struct options *options)
{
	struct wd_buf out WD_CLEANUP(wd_buf_release);
	struct wd_error err;

	wd_error_init(&err);
	wd_buf_init(&out, WD_MAX_MESSAGE);
	if (render(message, options, &out, &err) != WD_OK)
		return wd_look_report(options->path, WD_IO, err.message);
	if (fwrite(out.data, 1, out.len, stdout) != out.len ||
	    fflush(stdout) != 0)
		return wd_look_report(
		    "standard output", WD_IO, strerror(errno));
	return WD_EXIT_MATCH;
}

static int
print_look(const struct wd_look *look, const struct options *options)
{
	Weightd__V1__Bundle *message WD_CLEANUP(wd_message_free_scoped) = NULL;
	struct wd_error err;

	wd_error_init(&err);
	if (wd_bundle_message(look->bundle, look->digests,
		wd_slice_text(options->path), &message, &err) != WD_OK)
		return wd_look_report(options->path, WD_IO, err.message);
	return print(message, options);
}

/* ---- the two places -------------------------------------------------------
 */

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
	if (look->bundle->incomplete && code != WD_EXIT_MISMATCH)
		code = WD_EXIT_UNVERIFIABLE;
	printed = print_look(look, options);
	return printed == WD_EXIT_MATCH ? code : printed;
}

/* As with a path, everything is hashed unless headers are enough. */
static int
look_far(const struct options *options)
{
	Weightd__V1__Bundle *bundle WD_CLEANUP(wd_message_free_scoped) = NULL;
	int printed;
	int code = wd_remote_bundle(&options->session, options->path,
	    options->headers_only ?
		WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_CACHED :
		WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_WAIT,
	    &bundle);

	if (bundle == NULL)
		return code;
	if (!options->headers_only && bundle->content_digest == NULL)
		code = wd_look_report(options->path, WD_TIMEDOUT,
		    "its content digest is not known yet; ask again, or give "
		    "it more time with --timeout");
	printed = print(bundle, options);
	return printed == WD_EXIT_MATCH ? code : printed;
}

int
wd_cmd_bundle(int argc, char **argv)
{
	struct options options = { .path = NULL };
	struct wd_error err;
	struct wd_look look;
	const char *why;
	int code;

	/* A bundle that is called "diff" is "./diff". */
	if (argc > 1 && strcmp(argv[1], "diff") == 0)
		return wd_cmd_bundle_diff(argc - 1, argv + 1);
	wd_error_init(&err);
	why = parse_arguments(argc, argv, &options, &err);
	if (why != NULL)
		return usage_error(why);
	if (options.is_remote)
		return look_far(&options);
	wd_look_init(&look);
	code = look_at(&look, &options);
	wd_look_release(&look);
	return code;
}
