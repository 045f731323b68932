/* weightctl pki: keys and certificates for fleets without a CA of their own;
 * the verbs and their options. */
#include "cmd/pki.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"

#define DEFAULT_FOLDER "weightd-ca"

static const char usage[] =
    "usage: weightctl pki init [--dir DIR] [--name NAME] [--days N]\n"
    "           makes a CA in DIR (" DEFAULT_FOLDER ")\n"
    "       weightctl pki request NAME [--san DNS|IP]... [--role host|client]\n"
    "           [--out DIR]\n"
    "           on the host: NAME.key, which never leaves it, and NAME.csr\n"
    "       weightctl pki sign REQUEST.csr [--role host|client] [--days N]\n"
    "           [--san DNS|IP]... [--dir DIR] [--out DIR]\n"
    "           at the CA: NAME.crt; --san says which names must be asked "
    "for\n"
    "       weightctl pki issue NAME [--san DNS|IP]... [--role host|client]\n"
    "           [--days N] [--dir DIR] [--out DIR]\n"
    "           key and certificate at once\n"
    "       weightctl pki revoke NAME|SERIAL [--dir DIR]\n"
    "           writes DIR/ca.crl, which agents are given\n"
    "       weightctl pki show FILE...\n"
    "           who, what for, until when\n";

static const struct {
	const char *name;
	unsigned least_words;
	unsigned most_words;
	const char *options; /* each between spaces */
	int (*run)(const struct wd_pki_options *options);
} verbs[] = {
	{ "init", 0, 0, " --dir --name --days ", wd_pki_init },
	{ "request", 1, 1, " --san --role --out ", wd_pki_request },
	{ "sign", 1, 1, " --san --role --days --dir --out ",
	    wd_pki_sign_request },
	{ "issue", 1, 1, " --san --role --days --dir --out ", wd_pki_issue },
	{ "revoke", 1, 1, " --dir ", wd_pki_revoke_one },
	{ "show", 1, WD_PKI_MAX_WORDS, " ", wd_pki_show },
};
#define VERB_COUNT (sizeof(verbs) / sizeof(verbs[0]))

int
wd_pki_complain(
    const struct wd_pki_options *options, const struct wd_error *err)
{
	(void)fprintf(
	    stderr, "weightctl pki %s: %s\n", options->verb, err->message);
	if (err->status == WD_IO || err->status == WD_NOMEM ||
	    err->status == WD_DENIED || err->status == WD_CORRUPT)
		return WD_EXIT_UNVERIFIABLE;
	return WD_EXIT_USAGE;
}

/* ---- options ------------------------------------------------------------- */

static enum wd_status
set_days(
    struct wd_pki_options *options, const char *value, struct wd_error *err)
{
	uint64_t days = 0;
	char shown[32];

	if (!wd_slice_number(wd_slice_text(value), 10, &days) || days == 0 ||
	    days > WD_PKI_MAX_DAYS)
		return wd_fail(err, WD_INVALID,
		    "--days \"%s\" is no number from 1 to %d",
		    wd_escape_short(shown, sizeof(shown), wd_slice_text(value)),
		    WD_PKI_MAX_DAYS);
	options->days = (unsigned)days;
	return WD_OK;
}

static enum wd_status
set(struct wd_pki_options *options, const char *flag, const char *value,
    struct wd_error *err)
{
	if (strcmp(flag, "--san") == 0)
		return wd_pki_names_add(&options->names, value, err);
	if (strcmp(flag, "--role") == 0)
		return wd_pki_role_parse(value, &options->role, err);
	if (strcmp(flag, "--days") == 0)
		return set_days(options, value, err);
	if (strcmp(flag, "--dir") == 0)
		options->folder = value;
	else if (strcmp(flag, "--out") == 0)
		options->out = value;
	else
		options->name = value;
	return WD_OK;
}

/* Whether the verb takes the option. */
static bool
takes(size_t verb, const char *flag)
{
	char padded[32];
	int len = snprintf(padded, sizeof(padded), " %s ", flag);

	return len > 0 && (size_t)len < sizeof(padded) &&
	    strstr(verbs[verb].options, padded) != NULL;
}

static enum wd_status
parse_word(size_t verb, struct wd_pki_options *options, const char *word,
    struct wd_error *err)
{
	if (word[0] == '\0')
		return wd_fail(err, WD_INVALID, "a name is empty");
	if (options->word_count == verbs[verb].most_words)
		return wd_fail(err, WD_INVALID, "too many names are given");
	options->words[options->word_count++] = word;
	return WD_OK;
}

static enum wd_status
parse(size_t verb, int argc, char **argv, struct wd_pki_options *options,
    struct wd_error *err)
{
	enum wd_status st = WD_OK;
	char shown[64];
	int i;

	for (i = 1; i < argc && st == WD_OK; i++) {
		if (argv[i][0] != '-') {
			st = parse_word(verb, options, argv[i], err);
			continue;
		}
		wd_escape_short(shown, sizeof(shown), wd_slice_text(argv[i]));
		if (!takes(verb, argv[i]))
			return wd_fail(err, WD_INVALID,
			    "%s is no option of pki %s", shown,
			    verbs[verb].name);
		if (i + 1 == argc || argv[i + 1][0] == '\0')
			return wd_fail(err, WD_INVALID,
			    "%s needs a value that is not empty", shown);
		st = set(options, argv[i], argv[i + 1], err);
		i++;
	}
	if (st == WD_OK && options->word_count < verbs[verb].least_words)
		return wd_fail(err, WD_INVALID, "nothing is named");
	return st;
}

static int
usage_error(void)
{
	(void)fputs(usage, stderr);
	return WD_EXIT_USAGE;
}

int
wd_cmd_pki(int argc, char **argv)
{
	struct wd_pki_options options = { .folder = DEFAULT_FOLDER,
		.out = "." };
	struct wd_error err;
	size_t verb = 0;

	if (argc < 2)
		return usage_error();
	while (verb < VERB_COUNT && strcmp(argv[1], verbs[verb].name) != 0)
		verb++;
	if (verb == VERB_COUNT) {
		(void)fputs("weightctl pki: this verb is not known\n", stderr);
		return usage_error();
	}
	wd_error_init(&err);
	options.verb = verbs[verb].name;
	if (parse(verb, argc - 1, argv + 1, &options, &err) != WD_OK) {
		(void)wd_pki_complain(&options, &err);
		return usage_error();
	}
	return verbs[verb].run(&options);
}

/* ---- the CA's files ------------------------------------------------------ */

static char *
join(const char *folder, const char *name)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf path = { .data = NULL };

	wd_buf_init(&path, 65536);
	(void)wd_buf_printf(&path, "%s/%s", folder, name);
	return wd_buf_detach(&path);
}

void
wd_pki_home_release(struct wd_pki_home *home)
{
	wd_pki_folder_close(&home->folder);
	wd_buf_release(&home->certificate);
	wd_pki_forget(&home->key);
	wd_free(home->certificate_path);
	wd_free(home->key_path);
}

enum wd_status
wd_pki_home_open(
    const char *path, struct wd_pki_home *home, struct wd_error *err)
{
	enum wd_status st;

	*home = (struct wd_pki_home){ .folder = { -1, path } };
	wd_buf_init(&home->certificate, WD_PKI_PEM_BYTES);
	wd_buf_init(&home->key, WD_PKI_PEM_BYTES);
	st = wd_pki_folder_open(path, false, true, &home->folder, err);
	if (st == WD_GONE)
		return wd_fail(err, WD_GONE,
		    "%s; make a CA with `weightctl pki init`, or say where it "
		    "is with --dir",
		    err->message);
	if (st == WD_OK)
		st = wd_pki_read(
		    &home->folder, "ca.crt", false, &home->certificate, err);
	if (st == WD_OK)
		st =
		    wd_pki_read(&home->folder, "ca.key", true, &home->key, err);
	if (st != WD_OK)
		return st;
	home->certificate_path = join(path, "ca.crt");
	home->key_path = join(path, "ca.key");
	if (home->certificate_path == NULL || home->key_path == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for names");
	home->ca = (struct wd_pki_ca){
		{ home->certificate_path, wd_buf_slice(&home->certificate) },
		{ home->key_path, wd_buf_slice(&home->key) },
	};
	return WD_OK;
}
