/* weightctl pki init, request, sign and issue. */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "cmd/pki.h"

#define CA_DAYS 3650
#define LEAF_DAYS 397 /* what browsers and other libraries accept at most */

/* ---- file names ---------------------------------------------------------- */

#define FILE_NAME_BYTES (WD_PKI_NAME_BYTES + 8)

static void
file_name(char out[FILE_NAME_BYTES], const char *name, const char *ending)
{
	(void)snprintf(out, FILE_NAME_BYTES, "%s%s", name, ending);
}

static void
say_made(const struct wd_pki_folder *folder, const char *name, const char *what)
{
	char shown[512];

	wd_escape_short(shown, sizeof(shown), wd_slice_text(folder->path));
	if (strcmp(folder->path, ".") == 0)
		(void)printf("%-8s %s\n", what, name);
	else
		(void)printf("%-8s %s/%s\n", what, shown, name);
}

/* Two files that make sense only together: both, or none. */
static enum wd_status
write_pair(const struct wd_pki_folder *folder, const char *key_name,
    struct wd_slice key, const char *other_name, struct wd_slice other,
    struct wd_error *err)
{
	enum wd_status st =
	    wd_pki_write(folder, key_name, WD_PKI_SECRET_MODE, key, err);

	if (st != WD_OK)
		return st;
	st = wd_pki_write(folder, other_name, WD_PKI_PUBLIC_MODE, other, err);
	if (st != WD_OK)
		wd_pki_remove(folder, key_name);
	return st;
}

/* ---- init ---------------------------------------------------------------- */

static enum wd_status
make_ca(const struct wd_pki_options *o, const struct wd_pki_folder *folder,
    struct wd_error *err)
{
	WD_CLEANUP(wd_pki_forget) struct wd_buf key = { .data = NULL };
	WD_CLEANUP(wd_buf_release) struct wd_buf certificate = { .data = NULL };
	struct wd_pki_pem pem = { "the new key", { NULL, 0 } };
	enum wd_status st;

	wd_buf_init(&key, WD_PKI_PEM_BYTES);
	wd_buf_init(&certificate, WD_PKI_PEM_BYTES);
	st = wd_pki_must_be_free(folder, "ca.key", err);
	if (st == WD_OK)
		st = wd_pki_must_be_free(folder, "ca.crt", err);
	if (st == WD_OK)
		st = wd_pki_make_key(&key, err);
	pem.text = wd_buf_slice(&key);
	if (st == WD_OK)
		st = wd_pki_make_ca(&pem,
		    o->name == NULL ? "weightd CA" : o->name,
		    o->days == 0 ? CA_DAYS : o->days, &wd_clock_system,
		    &certificate, err);
	if (st != WD_OK)
		return st;
	return write_pair(folder, "ca.key", wd_buf_slice(&key), "ca.crt",
	    wd_buf_slice(&certificate), err);
}

int
wd_pki_init(const struct wd_pki_options *o)
{
	WD_CLEANUP(wd_pki_folder_close)
	struct wd_pki_folder folder = { -1, NULL };
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = wd_pki_folder_open(o->folder, true, true, &folder, &err);
	if (st == WD_OK)
		st = make_ca(o, &folder, &err);
	if (st != WD_OK)
		return wd_pki_complain(o, &err);
	say_made(&folder, "ca.key", "made");
	say_made(&folder, "ca.crt", "made");
	(void)fputs("Give ca.crt to every host and client. Whoever has ca.key "
		    "can speak for all of them: keep it off the network.\n",
	    stderr);
	return WD_EXIT_MATCH;
}

/* ---- request ------------------------------------------------------------- */

/* The name first, then those of --san. */
static enum wd_status
gather_names(const struct wd_pki_options *o, struct wd_pki_names *names,
    struct wd_error *err)
{
	enum wd_status st;
	size_t i;

	names->count = 0;
	st = wd_pki_names_add(names, o->words[0], err);
	for (i = 0; i < o->names.count && st == WD_OK; i++)
		st = wd_pki_names_add(names, o->names.items[i].text, err);
	return st;
}

static enum wd_pki_role
role_of(const struct wd_pki_options *o)
{
	return o->role == WD_PKI_NO_ROLE ? WD_PKI_HOST : o->role;
}

/* A key and a request for it, in memory. */
static enum wd_status
make_request(const struct wd_pki_names *names, enum wd_pki_role role,
    struct wd_buf *key, struct wd_buf *request, struct wd_error *err)
{
	struct wd_pki_pem pem = { "the new key", { NULL, 0 } };
	enum wd_status st;

	wd_buf_init(key, WD_PKI_PEM_BYTES);
	wd_buf_init(request, WD_PKI_PEM_BYTES);
	st = wd_pki_make_key(key, err);
	if (st != WD_OK)
		return st;
	pem.text = wd_buf_slice(key);
	return wd_pki_make_request(&pem, names, role, request, err);
}

/* Told on both sides, so that the CA can be sure whose request it has. */
static enum wd_status
say_key(const struct wd_buf *made, const char *name, struct wd_error *err)
{
	struct wd_pki_pem pem = { name, wd_buf_slice(made) };
	struct wd_pki_request asked;
	char text[WD_SHA256_TEXT_BYTES];
	enum wd_status st = wd_pki_read_request(&pem, &asked, err);

	if (st == WD_OK)
		(void)printf(
		    "key      %s\n", wd_sha256_text(&asked.key_sha256, text));
	return st;
}

static enum wd_status
request(const struct wd_pki_options *o, struct wd_pki_folder *folder,
    const char *key_name, const char *request_name,
    const struct wd_pki_names *names, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_forget) struct wd_buf key = { .data = NULL };
	WD_CLEANUP(wd_buf_release) struct wd_buf made = { .data = NULL };
	enum wd_status st =
	    wd_pki_folder_open(o->out, true, false, folder, err);

	if (st == WD_OK)
		st = wd_pki_must_be_free(folder, key_name, err);
	if (st == WD_OK)
		st = wd_pki_must_be_free(folder, request_name, err);
	if (st == WD_OK)
		st = make_request(names, role_of(o), &key, &made, err);
	if (st == WD_OK)
		st = say_key(&made, request_name, err);
	if (st != WD_OK)
		return st;
	return write_pair(folder, key_name, wd_buf_slice(&key), request_name,
	    wd_buf_slice(&made), err);
}

int
wd_pki_request(const struct wd_pki_options *o)
{
	WD_CLEANUP(wd_pki_folder_close)
	struct wd_pki_folder folder = { -1, NULL };
	char key_name[FILE_NAME_BYTES], request_name[FILE_NAME_BYTES];
	struct wd_pki_names names;
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = gather_names(o, &names, &err);
	if (st != WD_OK)
		return wd_pki_complain(o, &err);
	file_name(key_name, names.items[0].text, ".key");
	file_name(request_name, names.items[0].text, ".csr");
	st = request(o, &folder, key_name, request_name, &names, &err);
	if (st != WD_OK)
		return wd_pki_complain(o, &err);
	say_made(&folder, key_name, "made");
	say_made(&folder, request_name, "made");
	(void)fprintf(stderr,
	    "Take the request, not the key, to the CA: weightctl pki sign %s "
	    "--role %s\n",
	    request_name, wd_pki_role_name(role_of(o)));
	return WD_EXIT_MATCH;
}

/* ---- what is signed ------------------------------------------------------ */

static void
say_signed(const struct wd_pki_grant *grant)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf names = { .data = NULL };

	wd_buf_init(&names, WD_PKI_PEM_BYTES);
	(void)wd_pki_names_text(&grant->names, ", ", &names);
	(void)printf("names    %s\nrole     %s\nserial   %s\n",
	    wd_buf_string(&names), wd_pki_role_name(grant->role),
	    grant->serial);
	if (grant->is_cut)
		(void)fputs(
		    "note     it ends with the CA, before the days that "
		    "were asked for\n",
		    stdout);
}

/* Signs, and keeps a copy at the CA by serial number: without one nobody
 * could revoke it. The copy goes first. */
static enum wd_status
sign_and_keep(struct wd_pki_home *home, const struct wd_pki_pem *request,
    struct wd_pki_grant *grant, struct wd_buf *certificate,
    struct wd_pki_folder *issued, char kept[FILE_NAME_BYTES],
    struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf path = { .data = NULL };
	enum wd_status st;

	wd_buf_init(certificate, WD_PKI_PEM_BYTES);
	wd_buf_init(&path, WD_PKI_PEM_BYTES);
	if (wd_buf_printf(&path, "%s/issued", home->folder.path) != WD_OK)
		return wd_fail(err, path.status, "no memory for a name");
	st = wd_pki_sign(
	    &home->ca, request, grant, &wd_clock_system, certificate, err);
	if (st == WD_OK)
		st = wd_pki_folder_open(
		    wd_buf_string(&path), true, true, issued, err);
	if (st != WD_OK)
		return st;
	file_name(kept, grant->serial, ".crt");
	return wd_pki_write(
	    issued, kept, WD_PKI_PUBLIC_MODE, wd_buf_slice(certificate), err);
}

/* ---- sign ---------------------------------------------------------------- */

/* The request says what its host will use it for. That is not copied, but a
 * certificate of the other role would be of no use to it. */
static enum wd_status
settle_role(const struct wd_pki_options *o,
    const struct wd_pki_request *request, enum wd_pki_role *role,
    struct wd_error *err)
{
	*role = role_of(o);
	if (o->role != WD_PKI_NO_ROLE || request->roles == 0 ||
	    (request->roles & *role) != 0)
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "%s: asks for role client; say --role client to sign that, or "
	    "--role host",
	    o->words[0]);
}

static enum wd_status
settle_names(const struct wd_pki_options *o,
    const struct wd_pki_request *request, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf names = { .data = NULL };

	if (o->names.count == 0 ||
	    wd_pki_names_equal(&o->names, &request->names))
		return WD_OK;
	wd_buf_init(&names, WD_PKI_PEM_BYTES);
	(void)wd_pki_names_text(&request->names, ", ", &names);
	return wd_fail(err, WD_INVALID,
	    "%s: asks for %s, which are not the names of --san; nothing is "
	    "signed",
	    o->words[0], wd_buf_string(&names));
}

static enum wd_status
settle(const struct wd_pki_options *o, const struct wd_pki_pem *pem,
    struct wd_pki_grant *grant, struct wd_error *err)
{
	struct wd_pki_request request;
	char text[WD_SHA256_TEXT_BYTES];
	enum wd_status st = wd_pki_read_request(pem, &request, err);

	if (st == WD_OK)
		st = settle_names(o, &request, err);
	if (st == WD_OK)
		st = settle_role(o, &request, &grant->role, err);
	if (st != WD_OK)
		return st;
	grant->names = request.names;
	grant->days = o->days == 0 ? LEAF_DAYS : o->days;
	(void)printf(
	    "key      %s\n", wd_sha256_text(&request.key_sha256, text));
	if (request.ignored > 0)
		(void)printf("ignored  %s\n", request.ignored_names);
	return WD_OK;
}

static enum wd_status
sign(const struct wd_pki_options *o, struct wd_pki_home *home,
    const struct wd_pki_folder *out, struct wd_pki_grant *grant,
    char name[FILE_NAME_BYTES], struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf request = { .data = NULL };
	WD_CLEANUP(wd_buf_release) struct wd_buf made = { .data = NULL };
	WD_CLEANUP(wd_pki_folder_close)
	struct wd_pki_folder issued = { -1, NULL };
	struct wd_pki_pem pem = { o->words[0], { NULL, 0 } };
	char kept[FILE_NAME_BYTES] = "";
	enum wd_status st;

	wd_buf_init(&request, WD_PKI_PEM_BYTES);
	st = wd_pki_read_path(o->words[0], false, &request, err);
	pem.text = wd_buf_slice(&request);
	if (st == WD_OK)
		st = settle(o, &pem, grant, err);
	if (st != WD_OK)
		return st;
	file_name(name, grant->names.items[0].text, ".crt");
	st = wd_pki_must_be_free(out, name, err);
	if (st == WD_OK)
		st =
		    sign_and_keep(home, &pem, grant, &made, &issued, kept, err);
	if (st == WD_OK)
		st = wd_pki_write(
		    out, name, WD_PKI_PUBLIC_MODE, wd_buf_slice(&made), err);
	/* Nobody has got it. */
	if (st != WD_OK && issued.fd >= 0)
		wd_pki_remove(&issued, kept);
	return st;
}

int
wd_pki_sign_request(const struct wd_pki_options *o)
{
	WD_CLEANUP(wd_pki_home_release)
	struct wd_pki_home home = { .folder = { -1, NULL } };
	WD_CLEANUP(wd_pki_folder_close) struct wd_pki_folder out = { -1, NULL };
	struct wd_pki_grant grant = { .role = WD_PKI_NO_ROLE };
	char name[FILE_NAME_BYTES];
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = wd_pki_home_open(o->folder, &home, &err);
	if (st == WD_OK)
		st = wd_pki_folder_open(o->out, true, false, &out, &err);
	if (st == WD_OK)
		st = sign(o, &home, &out, &grant, name, &err);
	if (st != WD_OK)
		return wd_pki_complain(o, &err);
	say_signed(&grant);
	say_made(&out, name, "made");
	return WD_EXIT_MATCH;
}

/* ---- issue --------------------------------------------------------------- */

static enum wd_status
issue(struct wd_pki_home *home, const struct wd_pki_folder *out,
    struct wd_pki_grant *grant, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_forget) struct wd_buf key = { .data = NULL };
	WD_CLEANUP(wd_buf_release) struct wd_buf request = { .data = NULL };
	WD_CLEANUP(wd_buf_release) struct wd_buf made = { .data = NULL };
	WD_CLEANUP(wd_pki_folder_close)
	struct wd_pki_folder issued = { -1, NULL };
	struct wd_pki_pem pem = { "the request", { NULL, 0 } };
	char key_name[FILE_NAME_BYTES], name[FILE_NAME_BYTES];
	char kept[FILE_NAME_BYTES];
	enum wd_status st;

	file_name(key_name, grant->names.items[0].text, ".key");
	file_name(name, grant->names.items[0].text, ".crt");
	st = wd_pki_must_be_free(out, key_name, err);
	if (st == WD_OK)
		st = wd_pki_must_be_free(out, name, err);
	if (st == WD_OK)
		st = make_request(
		    &grant->names, grant->role, &key, &request, err);
	if (st != WD_OK)
		return st;
	pem.text = wd_buf_slice(&request);
	st = sign_and_keep(home, &pem, grant, &made, &issued, kept, err);
	if (st != WD_OK)
		return st;
	st = write_pair(
	    out, key_name, wd_buf_slice(&key), name, wd_buf_slice(&made), err);
	/* Nobody has its key. */
	if (st != WD_OK)
		wd_pki_remove(&issued, kept);
	if (st == WD_OK)
		say_made(out, key_name, "made");
	if (st == WD_OK)
		say_made(out, name, "made");
	return st;
}

int
wd_pki_issue(const struct wd_pki_options *o)
{
	WD_CLEANUP(wd_pki_home_release)
	struct wd_pki_home home = { .folder = { -1, NULL } };
	WD_CLEANUP(wd_pki_folder_close) struct wd_pki_folder out = { -1, NULL };
	struct wd_pki_grant grant = { .role = role_of(o),
		.days = o->days == 0 ? LEAF_DAYS : o->days };
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = gather_names(o, &grant.names, &err);
	if (st == WD_OK)
		st = wd_pki_home_open(o->folder, &home, &err);
	if (st == WD_OK)
		st = wd_pki_folder_open(o->out, true, false, &out, &err);
	if (st == WD_OK)
		st = issue(&home, &out, &grant, &err);
	if (st != WD_OK)
		return wd_pki_complain(o, &err);
	say_signed(&grant);
	return WD_EXIT_MATCH;
}
