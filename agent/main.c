/*
 * weightd - answers which process owns a port and which weights it loaded.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "once.h"
#include "role/parts.h"
#include "role/service.h"

static const char usage[] =
    "weightd --config FILE                         serve, see weightd.yaml(5)\n"
    "weightd --check-config [--config FILE]        say what is wrong with it\n"
    "weightd --once PORT [options] [expectation]   answer once, on stdout\n"
    "weightd --version | --help\n"
    "\n"
    "options of --once\n"
    "  --format text|json     json is the proto3 JSON of AttestPortResponse\n"
    "  --address ADDR         only listeners that answer on this address\n"
    "  --connection ADDR:PORT only the process that accepted the connection\n"
    "                         whose caller's end this is ([ADDR]:PORT for "
    "IPv6)\n"
    "  --netns ID|all         another network namespace, or every one\n"
    "  --timeout SECONDS      stop looking and hashing after this time\n"
    "  --headers-only         hash nothing that is not in the cache\n"
    "  --fresh                hash also what is in the cache\n"
    "  --state-dir DIR        where digests are remembered\n"
    "  --pid-namespace-is-all every process that can own the port is in the\n"
    "                         agent's own pid namespace (a container)\n"
    "\n"
    "expectation\n"
    "  --model NAME           inner name, repository, file or directory name\n"
    "  --params N             exact number of parameters\n"
    "  --recipe ID            declared id, or derived:ID\n"
    "  --digest sha256:HEX    content digest, or SHA-256 of a single file\n"
    "  --encoding sha256:HEX  encoding digest\n"
    "  --setting KEY=VALUE    one setting of the bundle; may be repeated\n"
    "  --with KIND=sha256:HEX|any   an adapter, draft or projector\n"
    "  --min-grade GRADE      RESIDENT, WITNESSED (default) or INFERRED\n"
    "  --allow-name-only      a name alone may match\n"
    "\n"
    "exit codes: 0 match, or proven when nothing is expected; 1 mismatch, or\n"
    "nothing listens; 2 usage; 4 unverifiable\n";

/* --check-config and --config FILE, in any order. */
static bool
parse_service(int argc, char **argv, bool *check, const char **path)
{
	int i;

	*check = false;
	*path = NULL;
	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--check-config") == 0)
			*check = true;
		else if (strcmp(argv[i], "--config") == 0 && i + 1 < argc &&
		    argv[i + 1][0] != '\0' && *path == NULL)
			*path = argv[++i];
		else
			return false;
	}
	if (*path == NULL && *check)
		*path = WD_CONFIG_PATH;
	return *path != NULL;
}

int
main(int argc, char **argv)
{
	const char *path;
	bool check;

	wd_log_init("weightd", WD_LOG_WARNING);
	if (argc >= 2 && strncmp(argv[1], "--role=", 7) == 0)
		return wd_part_main(argc - 1, argv + 1);
	if (parse_service(argc, argv, &check, &path))
		return check ? wd_service_check(path) : wd_service_run(path);
	if (argc >= 2 && strcmp(argv[1], "--once") == 0)
		return wd_once(argc - 2, argv + 2);
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return printf("weightd %s\n", WD_VERSION) < 0 ? 4 : 0;
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return fputs(usage, stdout) == EOF ? 4 : 0;
	(void)fputs(usage, stderr);
	return 2;
}
