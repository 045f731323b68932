/*
 * cmd.h - the verbs of weightctl: one file for each, and the exit codes that
 * all of them share.
 *
 * Data goes to standard output, everything else to standard error. The worst
 * result decides, in the order 2, 1, 4, 3.
 */
#ifndef WD_CMD_CMD_H
#define WD_CMD_CMD_H

enum wd_exit {
	WD_EXIT_MATCH = 0,
	WD_EXIT_MISMATCH = 1,     /* or missing, extra, divergent */
	WD_EXIT_USAGE = 2,        /* or an error in a map */
	WD_EXIT_UNREACHABLE = 3,  /* a host or agent, or refused */
	WD_EXIT_UNVERIFIABLE = 4, /* looked, and could not tell */
};

/* Each gets its own arguments; argv[0] is the verb. */
int wd_cmd_attest(int argc, char **argv);
int wd_cmd_bundle(int argc, char **argv);
int wd_cmd_bundle_diff(int argc, char **argv);
int wd_cmd_pki(int argc, char **argv);
int wd_cmd_servers(int argc, char **argv);

#endif
