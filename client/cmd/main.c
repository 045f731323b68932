#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

static const char help[] =
    "usage: weightctl VERB [ARGUMENTS]\n"
    "\n"
    "  weightctl attest HOST:PORT [expectation] [--connect] ...\n"
    "      what serves behind HOST's PORT, as HOST's agent proves it\n"
    "  weightctl servers HOST... [--format text|json]\n"
    "      every listener there that serves weights, or fronts one\n"
    "  weightctl bundle PATH|HOST:PORT [--format text|json] [--headers-only]\n"
    "      the fingerprint of the model that lies at PATH: a GGUF file, any\n"
    "      of its shards, a safetensors file or a directory; or of the one\n"
    "      that serves behind HOST's PORT\n"
    "  weightctl bundle diff A B [--names] [--digests | --headers-only]\n"
    "      [--format text|json]\n"
    "      what is different between two of them; tensor data are compared\n"
    "      only with --digests\n"
    "  weightctl pki init | request NAME | sign REQUEST.csr | issue NAME |\n"
    "      revoke NAME | show FILE...\n"
    "      keys and certificates for agents and those who ask them\n"
    "  weightctl --version\n"
    "  weightctl --help\n"
    "\n"
    "exit codes: 0 all match, 1 mismatch or missing, 2 usage, 3 a host could\n"
    "not be reached, 4 unverifiable\n";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "attest", wd_cmd_attest },
	{ "bundle", wd_cmd_bundle },
	{ "pki", wd_cmd_pki },
	{ "servers", wd_cmd_servers },
};

static int
usage_error(const char *what)
{
	if (what == NULL)
		(void)fputs("weightctl: no verb is given\n", stderr);
	else
		(void)fputs("weightctl: this verb is not known\n", stderr);
	(void)fputs("try: weightctl --help\n", stderr);
	return WD_EXIT_USAGE;
}

int
main(int argc, char **argv)
{
	size_t i;

	if (argc < 2)
		return usage_error(NULL);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return fputs(help, stdout) < 0 || fflush(stdout) != 0 ?
		    WD_EXIT_UNVERIFIABLE :
		    WD_EXIT_MATCH;
	if (strcmp(argv[1], "--version") == 0)
		return printf("weightctl %s\n", WD_VERSION) < 0 ||
			fflush(stdout) != 0 ?
		    WD_EXIT_UNVERIFIABLE :
		    WD_EXIT_MATCH;
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	return usage_error(argv[1]);
}
