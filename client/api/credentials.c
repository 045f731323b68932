#include "api/credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pki/files.h"
#include "pki/pki.h"

enum { CA, CERTIFICATE, KEY, FILES };

static const struct {
	const char *flag;
	const char *variable;
	const char *name;
} files[FILES] = {
	[CA] = { "--ca", "WEIGHTCTL_CA", "ca.crt" },
	[CERTIFICATE] = { "--cert", "WEIGHTCTL_CERT", "client.crt" },
	[KEY] = { "--key", "WEIGHTCTL_KEY", "client.key" },
};

static void
join(char out[WD_MAX_PATH], const char *folder, const char *rest)
{
	int len = snprintf(out, WD_MAX_PATH, "%s/%s", folder, rest);

	if (len < 0 || len >= WD_MAX_PATH)
		out[0] = '\0';
}

/* Empty when there is no home. */
static void
user_folder(char out[WD_MAX_PATH])
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	out[0] = '\0';
	if (config != NULL && config[0] == '/')
		join(out, config, "weightd");
	else if (home != NULL && home[0] == '/')
		join(out, home, ".config/weightd");
}

static bool
has_any(const char *folder)
{
	char path[WD_MAX_PATH];
	int i;

	for (i = 0; i < FILES; i++) {
		join(path, folder, files[i].name);
		if (path[0] != '\0' && access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* The system's when neither has any: its names stand in the message. */
static void
choose_folder(char out[WD_MAX_PATH])
{
	user_folder(out);
	if (out[0] == '\0' || !has_any(out))
		(void)snprintf(out, WD_MAX_PATH, "/etc/weightd");
}

static void
choose_path(int file, const char *given, char out[WD_MAX_PATH])
{
	char folder[WD_MAX_PATH];
	const char *variable = getenv(files[file].variable);

	if (given == NULL && variable != NULL && variable[0] != '\0')
		given = variable;
	if (given != NULL) {
		(void)snprintf(out, WD_MAX_PATH, "%s", given);
		return;
	}
	choose_folder(folder);
	join(out, folder, files[file].name);
}

static enum wd_status
load(int file, const char *path, struct wd_buf *bytes, struct wd_tls_pem *pem,
    struct wd_error *err)
{
	enum wd_status st = wd_pki_read_path(path, false, bytes, err);

	pem->name = path;
	pem->text = wd_buf_slice(bytes);
	if (st == WD_GONE)
		return wd_fail(err, WD_GONE,
		    "%s; say where it is with %s or %s, or make one with "
		    "`weightctl pki`",
		    err == NULL ? "" : err->message, files[file].flag,
		    files[file].variable);
	return st;
}

enum wd_status
wd_credentials_load(const struct wd_credentials *credentials,
    const struct wd_clock *clock, struct wd_tls **tls, struct wd_error *err)
{
	const char *given[FILES] = { [CA] = credentials->ca,
		[CERTIFICATE] = credentials->certificate,
		[KEY] = credentials->key };
	struct wd_tls_material material = { .crl = { "no list", { NULL, 0 } } };
	struct wd_tls_pem *pems[FILES] = { [CA] = &material.ca,
		[CERTIFICATE] = &material.certificate,
		[KEY] = &material.key };
	char paths[FILES][WD_MAX_PATH];
	struct wd_buf bytes[FILES];
	enum wd_status st = WD_OK;
	int i;

	for (i = 0; i < FILES; i++)
		wd_buf_init(&bytes[i], WD_MAX_PEM_FILE);
	for (i = 0; i < FILES && st == WD_OK; i++) {
		choose_path(i, given[i], paths[i]);
		st = load(i, paths[i], &bytes[i], pems[i], err);
	}
	if (st == WD_OK)
		st = wd_tls_new(WD_TLS_CLIENT, &material, clock, tls, err);
	for (i = 0; i < FILES; i++)
		wd_pki_forget(&bytes[i]);
	return st;
}
