/* weightctl pki show and revoke: what certificates say, and taking one back. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cmd/pki.h"

#define DATE_BYTES 32
#define DAY_SECONDS 86400

/* ---- show ---------------------------------------------------------------- */

static const char *
show_date(char text[DATE_BYTES], int64_t ns)
{
	time_t seconds = (time_t)(ns / WD_NS_PER_SECOND);
	struct tm utc;

	if (gmtime_r(&seconds, &utc) == NULL ||
	    strftime(text, DATE_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		(void)snprintf(text, DATE_BYTES, "?");
	return text;
}

static const char *
use_words(const struct wd_pki_facts *facts)
{
	if (facts->is_ca)
		return "CA (signs certificates)";
	if (facts->for_hosts && facts->for_clients)
		return "host and client";
	if (facts->for_hosts)
		return "host (answers as an agent)";
	if (facts->for_clients)
		return "client (asks agents)";
	return "neither host nor client";
}

/* Whether it is valid now, and says when. */
static bool
show_times(const struct wd_pki_facts *facts, int64_t now)
{
	char from[DATE_BYTES], to[DATE_BYTES];
	int64_t days = (facts->to_ns - now) / WD_NS_PER_SECOND / DAY_SECONDS;

	(void)printf("  valid    %s to %s\n", show_date(from, facts->from_ns),
	    show_date(to, facts->to_ns));
	if (now > facts->to_ns)
		(void)printf("  EXPIRED  the clock says %s; make a new one\n",
		    show_date(to, now));
	else if (now < facts->from_ns)
		(void)printf("  NOT YET VALID  the clock says %s; is it "
			     "slow?\n",
		    show_date(to, now));
	else
		(void)printf("  left     %" PRId64 " days\n", days);
	return now <= facts->to_ns && now >= facts->from_ns;
}

/* NAME.key for NAME.crt; NULL when the file is not called so. */
static char *
key_beside(const char *path)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf out = { .data = NULL };
	size_t len = strlen(path);

	if (len < 5 || strcmp(path + len - 4, ".crt") != 0)
		return NULL;
	wd_buf_init(&out, WD_MAX_PATH);
	(void)wd_buf_append(&out, path, len - 4);
	(void)wd_buf_text(&out, ".key");
	return wd_buf_detach(&out);
}

/* A key that is not there is no fault: it stays on its host. */
static bool
show_key(const char *path, const struct wd_pki_pem *certificate)
{
	WD_CLEANUP(wd_free_scoped) char *beside = key_beside(path);
	WD_CLEANUP(wd_pki_forget) struct wd_buf key = { .data = NULL };
	struct wd_pki_pem pem = { beside, { NULL, 0 } };
	bool is_pair = false;
	struct wd_error err;
	char shown[256];
	enum wd_status st;

	wd_buf_init(&key, WD_PKI_PEM_BYTES);
	wd_error_init(&err);
	if (beside == NULL || access(beside, F_OK) != 0)
		return true;
	wd_escape_short(shown, sizeof(shown), wd_slice_text(beside));
	st = wd_pki_read_path(beside, true, &key, &err);
	pem.text = wd_buf_slice(&key);
	if (st == WD_OK)
		st = wd_pki_is_pair(certificate, &pem, &is_pair, &err);
	if (st != WD_OK)
		(void)printf("  KEY      %s\n", err.message);
	else if (is_pair)
		(void)printf("  key file %s is its key\n", shown);
	else
		(void)printf("  KEY      %s is not its key\n", shown);
	return is_pair;
}

static bool
show_facts(const char *path, const struct wd_pki_pem *pem,
    const struct wd_pki_facts *facts)
{
	char digest[WD_SHA256_TEXT_BYTES], shown[512];
	bool is_valid, is_right;

	(void)printf(
	    "%s\n", wd_escape_short(shown, sizeof(shown), wd_slice_text(path)));
	(void)printf("  subject  %s\n", facts->subject);
	(void)printf("  names    %s\n",
	    facts->names.len == 0 ? "none" : wd_buf_string(&facts->names));
	(void)printf("  for      %s\n", use_words(facts));
	(void)printf("  issuer   %s\n", facts->issuer);
	(void)printf("  serial   %s\n", facts->serial);
	is_valid = show_times(facts, wd_clock_real_ns(&wd_clock_system));
	(void)printf("  digest   %s\n", wd_sha256_text(&facts->sha256, digest));
	(void)printf("  key      %s\n", facts->key);
	is_right = show_key(path, pem);
	return is_valid && is_right;
}

/* ---- requests: what a CA would sign -------------------------------------- */

static bool
is_request(struct wd_slice text)
{
	static const char mark[] = "CERTIFICATE REQUEST-----";

	return text.len > 0 &&
	    memmem(text.data, text.len, mark, sizeof(mark) - 1) != NULL;
}

static const char *
role_words(unsigned roles)
{
	if (roles == (WD_PKI_HOST | WD_PKI_CLIENT))
		return "host and client";
	if (roles == 0)
		return "no role";
	return wd_pki_role_name((enum wd_pki_role)roles);
}

static int
show_request(const struct wd_pki_options *o, const struct wd_pki_pem *pem)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf names = { .data = NULL };
	struct wd_pki_request asked;
	char digest[WD_SHA256_TEXT_BYTES], shown[512];
	struct wd_error err;

	wd_error_init(&err);
	if (wd_pki_read_request(pem, &asked, &err) != WD_OK)
		return wd_pki_complain(o, &err);
	wd_buf_init(&names, WD_PKI_PEM_BYTES);
	(void)wd_pki_names_text(&asked.names, ", ", &names);
	(void)printf("%s\n",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(pem->name)));
	(void)printf("  request  not signed yet\n");
	(void)printf("  names    %s\n", wd_buf_string(&names));
	(void)printf("  for      %s\n", role_words(asked.roles));
	(void)printf(
	    "  key      %s\n", wd_sha256_text(&asked.key_sha256, digest));
	if (asked.ignored > 0)
		(void)printf("  ignored  %s\n", asked.ignored_names);
	return WD_EXIT_MATCH;
}

/* ---- each file ----------------------------------------------------------- */

static int
show_one(const struct wd_pki_options *o, const char *path)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf bytes = { .data = NULL };
	WD_CLEANUP(wd_pki_facts_release) struct wd_pki_facts facts;
	struct wd_pki_pem pem = { path, { NULL, 0 } };
	struct wd_error err;
	enum wd_status st;

	wd_buf_init(&bytes, WD_PKI_PEM_BYTES);
	memset(&facts, 0, sizeof(facts));
	wd_error_init(&err);
	st = wd_pki_read_path(path, false, &bytes, &err);
	pem.text = wd_buf_slice(&bytes);
	if (st == WD_OK && is_request(pem.text))
		return show_request(o, &pem);
	if (st == WD_OK)
		st = wd_pki_read_certificate(&pem, &facts, &err);
	if (st != WD_OK)
		return wd_pki_complain(o, &err);
	return show_facts(path, &pem, &facts) ? WD_EXIT_MATCH :
						WD_EXIT_MISMATCH;
}

/* The worst decides, in the order of cmd.h. */
static int
worse(int a, int b)
{
	static const int order[] = { WD_EXIT_USAGE, WD_EXIT_MISMATCH,
		WD_EXIT_UNVERIFIABLE };
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return WD_EXIT_MATCH;
}

int
wd_pki_show(const struct wd_pki_options *o)
{
	int code = WD_EXIT_MATCH;
	unsigned i;

	for (i = 0; i < o->word_count; i++)
		code = worse(code, show_one(o, o->words[i]));
	return code;
}

/* ---- revoke -------------------------------------------------------------- */

/* Serial numbers of what was issued to a name. */
struct found {
	char (*serials)[WD_PKI_SERIAL_BYTES];
	size_t count;
	size_t capacity;
};

static void
found_release(struct found *found)
{
	wd_free(found->serials);
}

static enum wd_status
look_into(const struct wd_pki_folder *issued, const char *file,
    const char *wanted, struct found *found, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf bytes = { .data = NULL };
	WD_CLEANUP(wd_pki_facts_release) struct wd_pki_facts facts;
	struct wd_pki_pem pem = { file, { NULL, 0 } };
	enum wd_status st;

	memset(&facts, 0, sizeof(facts));
	wd_buf_init(&bytes, WD_PKI_PEM_BYTES);
	st = wd_pki_read(issued, file, false, &bytes, err);
	pem.text = wd_buf_slice(&bytes);
	if (st == WD_OK)
		st = wd_pki_read_certificate(&pem, &facts, err);
	if (st != WD_OK ||
	    (strcmp(facts.serial, wanted) != 0 &&
		!wd_pki_names_hold(&facts.plain, wanted)))
		return st;
	st = wd_grow((void **)&found->serials, found->count, &found->capacity,
	    sizeof(*found->serials), 65536);
	if (st != WD_OK)
		return wd_fail(err, st, "too many certificates");
	memcpy(
	    found->serials[found->count++], facts.serial, sizeof(facts.serial));
	return WD_OK;
}

static enum wd_status
look_through(const struct wd_pki_folder *issued, const char *wanted,
    struct found *found, struct wd_error *err)
{
	int fd = openat(issued->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	enum wd_status st = WD_OK;
	const struct dirent *entry;

	if (dir == NULL)
		return wd_fail(err, WD_IO, "the folder cannot be listed");
	while (st == WD_OK && (entry = readdir(dir)) != NULL)
		if (wd_slice_ends(wd_slice_text(entry->d_name), ".crt"))
			st = look_into(
			    issued, entry->d_name, wanted, found, err);
	(void)closedir(dir);
	return st;
}

static enum wd_status
find(const struct wd_pki_home *home, const char *wanted, struct found *found,
    struct wd_error *err)
{
	WD_CLEANUP(wd_pki_folder_close)
	struct wd_pki_folder issued = { -1, NULL };
	WD_CLEANUP(wd_buf_release) struct wd_buf path = { .data = NULL };
	char shown[80];
	enum wd_status st;

	wd_buf_init(&path, WD_MAX_PATH);
	if (wd_buf_printf(&path, "%s/issued", home->folder.path) != WD_OK)
		return wd_fail(err, path.status, "no memory for a name");
	st =
	    wd_pki_folder_open(wd_buf_string(&path), false, true, &issued, err);
	if (st == WD_OK)
		st = look_through(&issued, wanted, found, err);
	if (st == WD_OK && found->count == 0)
		return wd_fail(err, WD_NOTFOUND,
		    "\"%s\": this CA has issued nothing with that name or "
		    "serial number; `weightctl pki show` tells both",
		    wd_escape_short(
			shown, sizeof(shown), wd_slice_text(wanted)));
	return st;
}

static enum wd_status
write_list(struct wd_pki_home *home, const struct found *found, unsigned *added,
    struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf old = { .data = NULL };
	WD_CLEANUP(wd_buf_release) struct wd_buf list = { .data = NULL };
	WD_CLEANUP(wd_free_scoped)
	const char **serials = wd_calloc(found->count, sizeof(*serials));
	struct wd_pki_pem pem = { "ca.crl", { NULL, 0 } };
	enum wd_status st = WD_OK;
	size_t i;

	wd_buf_init(&old, WD_MAX_PEM_FILE);
	wd_buf_init(&list, WD_MAX_PEM_FILE);
	if (serials == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for serial numbers");
	for (i = 0; i < found->count; i++)
		serials[i] = found->serials[i];
	if (wd_pki_is_there(&home->folder, "ca.crl"))
		st = wd_pki_read(&home->folder, "ca.crl", false, &old, err);
	pem.text = wd_buf_slice(&old);
	if (st == WD_OK)
		st = wd_pki_revoke(&home->ca, &pem, serials, found->count,
		    &wd_clock_system, added, &list, err);
	if (st != WD_OK)
		return st;
	return wd_pki_replace(&home->folder, "ca.crl", WD_PKI_PUBLIC_MODE,
	    wd_buf_slice(&list), err);
}

int
wd_pki_revoke_one(const struct wd_pki_options *o)
{
	WD_CLEANUP(wd_pki_home_release)
	struct wd_pki_home home = { .folder = { -1, NULL } };
	WD_CLEANUP(found_release) struct found found = { NULL, 0, 0 };
	struct wd_error err;
	unsigned added = 0;
	enum wd_status st;
	size_t i;

	wd_error_init(&err);
	st = wd_pki_home_open(o->folder, &home, &err);
	if (st == WD_OK)
		st = find(&home, o->words[0], &found, &err);
	if (st == WD_OK)
		st = write_list(&home, &found, &added, &err);
	if (st != WD_OK)
		return wd_pki_complain(o, &err);
	for (i = 0; i < found.count; i++)
		(void)printf("revoked  %s\n", found.serials[i]);
	(void)printf("new      %u\n", added);
	(void)fputs("Give ca.crl to every agent; until then it accepts what "
		    "was revoked.\n",
	    stderr);
	return WD_EXIT_MATCH;
}
