#include "role/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/digest_work.h"
#include "role/config_keys.h"

/* ---- the keys ------------------------------------------------------------ */

#define AT(member) offsetof(struct wd_config, member)
#define DAY_SECONDS 86400

/* Name, member and, when a change needs a restart, the full name. */
#define COUNT(name, member, least, most, restart)                              \
	{                                                                      \
		name, WD_KEY_U32, AT(member), least, most, 1, NULL, NULL,      \
		    restart                                                    \
	}
#define SECONDS(name, member, most, restart)                                   \
	{                                                                      \
		name, WD_KEY_U32, AT(member), 1, most, 1000, NULL, NULL,       \
		    restart                                                    \
	}
#define TEXT(name, kind, member, restart)                                      \
	{                                                                      \
		name, kind, AT(member), 0, 0, 0, NULL, NULL, restart           \
	}
#define LIST(name, kind, member, most, restart)                                \
	{                                                                      \
		name, kind, AT(member), 0, most, 0, NULL, NULL, restart        \
	}
#define MAP(name, members)                                                     \
	{                                                                      \
		name, WD_KEY_MAP, 0, 0, 0, 0, members, NULL, NULL              \
	}
#define WORD(name, member, words)                                              \
	{                                                                      \
		name, WD_KEY_WORD, AT(member), 0, 0, 0, NULL, words, NULL      \
	}
#define END                                                                    \
	{                                                                      \
		NULL, WD_KEY_END, 0, 0, 0, 0, NULL, NULL, NULL                 \
	}

static const struct wd_key listen_keys[] = {
	LIST("addresses", WD_KEY_TEXTS, addresses, WD_MAX_CONFIG_LISTEN,
	    "listen.addresses"),
	COUNT("port", port, 1, 65535, "listen.port"),
	END,
};

static const struct wd_key tls_keys[] = {
	TEXT("certificate", WD_KEY_PATH, certificate, NULL),
	TEXT("key", WD_KEY_PATH, key, NULL),
	TEXT("ca", WD_KEY_PATH, ca, NULL),
	TEXT("crl", WD_KEY_PATH, crl, NULL),
	END,
};

static const struct wd_key role_keys[] = {
	LIST("read", WD_KEY_TEXTS, read, WD_MAX_CONFIG_LIST, NULL),
	LIST("work", WD_KEY_TEXTS, work, WD_MAX_CONFIG_LIST, NULL),
	END,
};

static const struct wd_key user_keys[] = {
	TEXT("front", WD_KEY_TEXT, front_user, "users.front"),
	TEXT("reader", WD_KEY_TEXT, reader_user, "users.reader"),
	END,
};

static const struct wd_key limit_keys[] = {
	COUNT("connections", limits.connections, 1, 4096, "limits.connections"),
	COUNT("connections_per_peer", limits.connections_per_peer, 1, 4096,
	    "limits.connections_per_peer"),
	COUNT("work_per_minute", limits.work_per_minute, 0, 1000000,
	    "limits.work_per_minute"),
	COUNT("open_questions", open_questions, 1, WD_MAX_OPEN_QUESTIONS,
	    "limits.open_questions"),
	SECONDS("handshake_seconds", limits.handshake_ms, 300,
	    "limits.handshake_seconds"),
	SECONDS("request_seconds", limits.request_ms, 300,
	    "limits.request_seconds"),
	SECONDS(
	    "idle_seconds", limits.idle_ms, DAY_SECONDS, "limits.idle_seconds"),
	SECONDS("reply_seconds", limits.reply_ms, 3600, "limits.reply_seconds"),
	SECONDS("call_seconds", limits.call_ms, 3600, "limits.call_seconds"),
	SECONDS("call_most_seconds", limits.call_most_ms, DAY_SECONDS,
	    "limits.call_most_seconds"),
	SECONDS("drain_seconds", drain_ms, 3600, NULL),
	END,
};

static const struct wd_key digest_keys[] = {
	COUNT("threads", digest_threads, 1, WD_WORK_THREADS, "digests.threads"),
	{ "bytes_per_second", WD_KEY_U64, AT(digest_bytes_per_second), 0,
	    INT64_MAX, 1, NULL, NULL, "digests.bytes_per_second" },
	END,
};

/* In the order of the enums of base/log.h. */
static const char *const styles[] = { "text", "json", NULL };
static const char *const levels[] = { "error", "warning", "info", "debug",
	NULL };

static const struct wd_key log_keys[] = {
	WORD("format", log_style, styles),
	WORD("level", log_level, levels),
	END,
};

static const struct wd_key keys[] = {
	COUNT("version", version, WD_CONFIG_VERSION, WD_CONFIG_VERSION, NULL),
	MAP("listen", listen_keys),
	MAP("tls", tls_keys),
	MAP("roles", role_keys),
	MAP("users", user_keys),
	TEXT("state_dir", WD_KEY_PATH, state_dir, "state_dir"),
	MAP("limits", limit_keys),
	MAP("digests", digest_keys),
	COUNT("look_threads", look_threads, 1, 16, "look_threads"),
	LIST("model_roots", WD_KEY_PATHS, model_roots, WD_MAX_CONFIG_LIST,
	    "model_roots"),
	{ "pid_namespace_is_all", WD_KEY_BOOL, AT(pid_namespace_is_all), 0, 0,
	    0, NULL, NULL, "pid_namespace_is_all" },
	SECONDS("check_seconds", check_ms, DAY_SECONDS, "check_seconds"),
	MAP("log", log_keys),
	END,
};

static const char *
differs(const struct wd_key *table, const struct wd_config *now,
    const struct wd_config *next)
{
	for (; table->kind != WD_KEY_END; table++)
		if (table->restart != NULL && !wd_key_equal(table, now, next))
			return table->restart;
	return NULL;
}

const char *
wd_config_needs_restart(
    const struct wd_config *now, const struct wd_config *next)
{
	const char *found = differs(keys, now, next);
	const struct wd_key *key;

	for (key = keys; found == NULL && key->kind != WD_KEY_END; key++)
		if (key->kind == WD_KEY_MAP)
			found = differs(key->members, now, next);
	return found;
}

/* ---- the whole ----------------------------------------------------------- */

static enum wd_status
set_defaults(struct wd_config *config, const char *path, struct wd_error *err)
{
	config->port = WD_DEFAULT_PORT;
	config->limits = wd_server_limits_default();
	config->open_questions = 64;
	config->drain_ms = 10000;
	config->digest_threads = 1;
	config->look_threads = 4;
	config->check_ms = 60000;
	config->log_level = WD_LOG_INFO;
	config->path = wd_strdup(path);
	config->front_user = wd_strdup("weightd-front");
	config->reader_user = wd_strdup("weightd-reader");
	if (config->path == NULL || config->front_user == NULL ||
	    config->reader_user == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	return WD_OK;
}

static bool
holds(const struct wd_texts *texts, const char *text)
{
	size_t i;

	for (i = 0; i < texts->count; i++)
		if (strcmp(texts->items[i], text) == 0)
			return true;
	return false;
}

static enum wd_status
check_tls(const struct wd_config *config, struct wd_error *err)
{
	const char *missing = NULL;

	if (config->ca == NULL)
		missing = "tls.ca, whose clients may ask,";
	if (config->key == NULL)
		missing = "tls.key";
	if (config->certificate == NULL)
		missing = "tls.certificate";
	if (missing == NULL)
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "%s:1:1: %s is missing; weightctl pki makes such files",
	    config->path, missing);
}

static enum wd_status
check_roles(const struct wd_config *config, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) struct wd_role_rule *rules = NULL;
	struct wd_error why;
	size_t count;
	enum wd_status st = wd_config_rules(config, &rules, &count, err);

	if (st != WD_OK)
		return st;
	if (count == 0)
		return wd_fail(err, WD_INVALID,
		    "%s:1:1: roles.read and roles.work name nobody, so nobody "
		    "could ask; \"*\" is every certificate of the CA",
		    config->path);
	wd_error_init(&why);
	st = wd_roles_check(rules, count, &why);
	return st == WD_OK ?
	    st :
	    wd_fail(err, st, "%s: roles: %s", config->path, why.message);
}

static enum wd_status
check_rest(const struct wd_config *config, struct wd_error *err)
{
	if (config->version == 0)
		return wd_fail(err, WD_INVALID,
		    "%s:1:1: the first line is missing: version: %d",
		    config->path, WD_CONFIG_VERSION);
	if (holds(&config->addresses, "::") &&
	    holds(&config->addresses, "0.0.0.0"))
		return wd_fail(err, WD_INVALID,
		    "%s: listen.addresses: \"::\" answers IPv4 too; leave "
		    "out 0.0.0.0",
		    config->path);
	if (config->limits.call_ms > config->limits.call_most_ms)
		return wd_fail(err, WD_INVALID,
		    "%s: limits.call_seconds is more than "
		    "limits.call_most_seconds",
		    config->path);
	return WD_OK;
}

static enum wd_status
fill(struct wd_config *config, struct wd_slice text, const char *path,
    struct wd_error *err)
{
	WD_CLEANUP(wd_yaml_release) struct wd_yaml yaml = { 0 };
	enum wd_status st = set_defaults(config, path, err);

	if (st == WD_OK)
		st = wd_yaml_parse(text, path, &yaml, err);
	if (st == WD_OK)
		st = wd_keys_read(
		    path, &yaml, yaml.nodes, "", keys, config, err);
	if (st == WD_OK)
		st = check_rest(config, err);
	if (st == WD_OK)
		st = check_tls(config, err);
	return st == WD_OK ? check_roles(config, err) : st;
}

enum wd_status
wd_config_parse(const char *path, struct wd_slice text,
    struct wd_config **config, struct wd_error *err)
{
	WD_CLEANUP(wd_config_free)
	struct wd_config *made = wd_calloc(1, sizeof(*made));
	enum wd_status st;

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	st = fill(made, text, path, err);
	if (st == WD_OK)
		*config = wd_steal(&made);
	return st;
}

void
wd_config_free(struct wd_config **config)
{
	struct wd_config *c = *config;

	*config = NULL;
	if (c == NULL)
		return;
	wd_keys_release(keys, c);
	wd_free(c->path);
	wd_free(c);
}

enum wd_status
wd_config_rules(const struct wd_config *config, struct wd_role_rule **rules,
    size_t *count, struct wd_error *err)
{
	size_t i, reads = config->read.count;

	*count = reads + config->work.count;
	*rules = wd_calloc(*count, sizeof(**rules));
	if (*rules == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	for (i = 0; i < *count; i++)
		(*rules)[i] = i < reads ?
		    (struct wd_role_rule){ config->read.items[i],
			    WD_ROLE_READ } :
		    (struct wd_role_rule){ config->work.items[i - reads],
			    WD_ROLE_READ | WD_ROLE_WORK };
	return WD_OK;
}

/* ---- the file ------------------------------------------------------------ */

/* Who can write to it could let anybody in. */
static enum wd_status
check_owner(const char *path, const struct stat *file, struct wd_error *err)
{
	if (!S_ISREG(file->st_mode))
		return wd_fail(err, WD_INVALID, "%s is no regular file", path);
	if (file->st_uid != 0 && file->st_uid != geteuid())
		return wd_fail(err, WD_DENIED,
		    "%s belongs to somebody else; chown it to root", path);
	if ((file->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return wd_fail(err, WD_DENIED,
		    "%s can be written by others; chmod go-w it", path);
	return WD_OK;
}

static void
close_scoped(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static enum wd_status
read_all(int fd, const char *path, struct wd_buf *text, struct wd_error *err)
{
	uint8_t *space;
	ssize_t got;

	do {
		enum wd_status st = wd_buf_reserve(text, 4096, &space);

		if (st != WD_OK)
			return wd_fail(err, st, "%s is too large", path);
		got = read(fd, space, 4096);
		if (got < 0)
			return wd_fail_errno(err, errno, "%s", path);
		wd_buf_advance(text, (size_t)got);
	} while (got > 0);
	return WD_OK;
}

enum wd_status
wd_config_load(
    const char *path, struct wd_config **config, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	WD_CLEANUP(close_scoped)
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;
	enum wd_status st;

	wd_buf_init(&text, WD_MAX_YAML_FILE);
	if (fd < 0 || fstat(fd, &file) != 0)
		return wd_fail_errno(err, errno, "%s", path);
	st = check_owner(path, &file, err);
	if (st == WD_OK)
		st = read_all(fd, path, &text, err);
	if (st != WD_OK)
		return st;
	return wd_config_parse(path, wd_buf_slice(&text), config, err);
}
