/*
 * pki.h - what the verbs of `weightctl pki` share: options, and the files of a
 * CA.
 *
 * A CA is a folder: ca.crt, ca.key, perhaps ca.crl, and issued/SERIAL.crt for
 * each certificate that it signed.
 */
#ifndef WD_CMD_PKI_H
#define WD_CMD_PKI_H

#include "cmd/cmd.h"
#include "pki/files.h"
#include "pki/pki.h"

#define WD_PKI_MAX_WORDS 64

struct wd_pki_options {
	const char *verb;
	const char *words[WD_PKI_MAX_WORDS]; /* what is no option */
	unsigned word_count;
	const char *folder; /* of the CA */
	const char *out;    /* where keys, requests and certificates go */
	const char *name;   /* of a CA */
	unsigned days;      /* 0: the default */
	enum wd_pki_role role;
	struct wd_pki_names names; /* of --san */
};

/* Each returns an exit code of cmd.h. */
int wd_pki_init(const struct wd_pki_options *options);
int wd_pki_request(const struct wd_pki_options *options);
int wd_pki_sign_request(const struct wd_pki_options *options);
int wd_pki_issue(const struct wd_pki_options *options);
int wd_pki_show(const struct wd_pki_options *options);
int wd_pki_revoke_one(const struct wd_pki_options *options);

/* Says what went wrong, and returns what it means. */
int wd_pki_complain(
    const struct wd_pki_options *options, const struct wd_error *err);

/* The CA's files, read. */
struct wd_pki_home {
	struct wd_pki_folder folder;
	struct wd_buf certificate;
	struct wd_buf key;
	char *certificate_path;
	char *key_path;
	struct wd_pki_ca ca; /* points into the above */
};

/* Errors: those of files.h. The caller releases it, also after an error. */
enum wd_status wd_pki_home_open(const char *path, struct wd_pki_home *home,
    struct wd_error *err) WD_MUST_CHECK;
void wd_pki_home_release(struct wd_pki_home *home);

#endif
