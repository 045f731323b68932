/* weightd.yaml: what is taken, what is refused and where the error points. */
#include "role/config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "role/config_keys.h"
#include "support/suite.h"
#include "support/tempdir.h"

#define HEAD "version: 1\n"
#define TLS "tls: { certificate: /c, key: /k, ca: /a }\n"
#define ROLES "roles: { read: [\"*\"] }\n"
#define GOOD HEAD TLS ROLES

static struct wd_config *
parse(const char *text)
{
	struct wd_config *config = NULL;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_msg(
	    wd_config_parse("f", wd_slice_text(text), &config, &err) == WD_OK,
	    "%s", err.message);
	return config;
}

START_TEST(defaults_are_those_of_the_manual)
{
	struct wd_config *c = parse(GOOD);

	ck_assert_uint_eq(c->port, 7433);
	ck_assert_uint_eq(c->addresses.count, 0);
	ck_assert_str_eq(c->certificate, "/c");
	ck_assert_ptr_null(c->crl);
	ck_assert_str_eq(c->front_user, "weightd-front");
	ck_assert_str_eq(c->reader_user, "weightd-reader");
	ck_assert_ptr_null(c->state_dir);
	ck_assert_uint_eq(c->limits.connections, 256);
	ck_assert_uint_eq(c->drain_ms, 10000);
	ck_assert_uint_eq(c->check_ms, 60000);
	ck_assert_uint_eq(c->log_style, WD_LOG_TEXT);
	ck_assert_uint_eq(c->log_level, WD_LOG_INFO);
	ck_assert(!c->pid_namespace_is_all);
	wd_config_free(&c);
	ck_assert_ptr_null(c);
}
END_TEST

START_TEST(every_key_is_read)
{
	struct wd_role_rule *rules = NULL;
	size_t count;
	struct wd_config *c = parse(HEAD
	    "listen: { addresses: [127.0.0.1, \"::1\"], port: 8000 }\n"
	    "tls: { certificate: /c, key: /k, ca: /a, crl: /r }\n"
	    "roles: { read: [\"dns:a.lab\"], work: [\"dns:b.lab\"] }\n"
	    "users: { front: 11, reader: bob }\n"
	    "state_dir: /s\n"
	    "limits: { connections: 9, work_per_minute: 0, idle_seconds: 5,\n"
	    "  call_seconds: 7, call_most_seconds: 8, drain_seconds: 3,\n"
	    "  open_questions: 2 }\n"
	    "digests: { threads: 3, bytes_per_second: 5000000000 }\n"
	    "look_threads: 2\n"
	    "model_roots: [/m, /n]\n"
	    "pid_namespace_is_all: true\n"
	    "check_seconds: 4\n"
	    "log: { format: json, level: debug }\n");

	ck_assert_uint_eq(c->addresses.count, 2);
	ck_assert_str_eq(c->addresses.items[1], "::1");
	ck_assert_uint_eq(c->port, 8000);
	ck_assert_str_eq(c->crl, "/r");
	ck_assert_str_eq(c->front_user, "11");
	ck_assert_str_eq(c->state_dir, "/s");
	ck_assert_uint_eq(c->limits.work_per_minute, 0);
	ck_assert_uint_eq(c->limits.idle_ms, 5000);
	ck_assert_uint_eq(c->open_questions, 2);
	ck_assert_uint_eq(c->digest_threads, 3);
	ck_assert_uint_eq(c->digest_bytes_per_second, 5000000000u);
	ck_assert_str_eq(c->model_roots.items[1], "/n");
	ck_assert(c->pid_namespace_is_all);
	ck_assert_uint_eq(c->check_ms, 4000);
	ck_assert_uint_eq(c->log_style, WD_LOG_JSON);
	ck_assert_uint_eq(c->log_level, WD_LOG_DEBUG);
	ck_assert_int_eq(wd_config_rules(c, &rules, &count, NULL), WD_OK);
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(rules[0].name, "dns:a.lab");
	ck_assert_uint_eq(rules[0].roles, WD_ROLE_READ);
	ck_assert_uint_eq(rules[1].roles, WD_ROLE_READ | WD_ROLE_WORK);
	wd_free(rules);
	wd_config_free(&c);
}
END_TEST

static const struct {
	const char *text;
	enum wd_status status;
	const char *words; /* of the message */
} wrong[] = {
	{ "", WD_INVALID, "f:1:1: a configuration is a map" },
	{ "[a]", WD_INVALID, "f:1:1:" },
	{ "version: 1\nversion: 1\n", WD_MALFORMED, "f:2:1" },
	{ TLS ROLES, WD_INVALID, "version: 1" },
	{ "version: 2\n", WD_INVALID, "f:1:10: version is a number from 1" },
	{ HEAD "lisen: {}\n", WD_INVALID,
	    "f:2:1: there is no key lisen; listen is the nearest" },
	{ HEAD "listen: { prot: 1 }\n", WD_INVALID,
	    "f:2:11: there is no key listen.prot; listen.port" },
	{ HEAD "zzzzzzzzzzzzz: 1\n", WD_INVALID,
	    "there is no key zzzzzzzzzzzzz; see weightd.yaml(5)" },
	{ HEAD "\"a\\e[2J\": 1\n", WD_INVALID, "no key a\\x1b[2J" },
	{ GOOD "listen: { port: 0 }\n", WD_INVALID,
	    "f:4:17: listen.port is a number from 1 to 65535" },
	{ GOOD "listen: { port: 65536 }\n", WD_INVALID, "listen.port" },
	{ GOOD "listen: { port: \"80\" }\n", WD_INVALID, "listen.port" },
	{ GOOD "listen: { port: [80] }\n", WD_INVALID, "listen.port" },
	{ GOOD "listen: 80\n", WD_INVALID, "listen. is a map" },
	{ GOOD "listen: { addresses: a }\n", WD_INVALID, "is a list" },
	{ GOOD "listen: { addresses: [1,2,3,4,5,6,7,8,9] }\n", WD_INVALID,
	    "too many entries" },
	{ GOOD "listen: { addresses: [\"::\", 0.0.0.0] }\n", WD_INVALID,
	    "answers IPv4 too" },
	{ GOOD "state_dir: var\n", WD_INVALID, "state_dir is an absolute" },
	{ GOOD "state_dir: \"\"\n", WD_INVALID, "not empty" },
	{ GOOD "model_roots: [m]\n", WD_INVALID, "model_roots is an abs" },
	{ GOOD "pid_namespace_is_all: yes\n", WD_INVALID, "true or false" },
	{ GOOD "log: { format: xml }\n", WD_INVALID,
	    "log.format is one of text json" },
	{ GOOD "limits: { call_seconds: 100, call_most_seconds: 99 }\n",
	    WD_INVALID, "call_most_seconds" },
	{ GOOD "limits: { drain_seconds: 0 }\n", WD_INVALID, "drain_seconds" },
	{ HEAD "tls: { key: /k, ca: /a }\n" ROLES, WD_INVALID,
	    "tls.certificate is missing" },
	{ HEAD "tls: { certificate: /k, ca: /a }\n" ROLES, WD_INVALID,
	    "tls.key is missing" },
	{ HEAD "tls: { certificate: /k, key: /a }\n" ROLES, WD_INVALID,
	    "tls.ca" },
	{ HEAD "tls: { certificate: k, key: /a, ca: /a }\n" ROLES, WD_INVALID,
	    "absolute" },
	{ HEAD TLS, WD_INVALID, "name nobody" },
	{ HEAD TLS "roles: { read: [] }\n", WD_INVALID, "name nobody" },
	{ HEAD TLS "roles: { read: [bench] }\n", WD_INVALID, "roles: " },
};

START_TEST(what_is_wrong_is_refused)
{
	struct wd_config *config = NULL;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_int_eq(
	    wd_config_parse("f", wd_slice_text(wrong[_i].text), &config, &err),
	    wrong[_i].status);
	ck_assert_msg(strstr(err.message, wrong[_i].words) != NULL,
	    "\"%s\" is not in \"%s\"", wrong[_i].words, err.message);
	ck_assert_ptr_null(config);
}
END_TEST

/* What SIGHUP cannot change is said; everything else is used. */
static const struct {
	const char *line;
	const char *key; /* NULL: can be changed */
} changes[] = {
	{ "listen: { port: 1 }\n", "listen.port" },
	{ "listen: { addresses: [127.0.0.1] }\n", "listen.addresses" },
	{ "users: { front: 5 }\n", "users.front" },
	{ "state_dir: /x\n", "state_dir" },
	{ "model_roots: [/x]\n", "model_roots" },
	{ "limits: { connections: 1 }\n", "limits.connections" },
	{ "digests: { bytes_per_second: 1 }\n", "digests.bytes_per_second" },
	{ "pid_namespace_is_all: true\n", "pid_namespace_is_all" },
	{ "check_seconds: 1\n", "check_seconds" },
	{ "limits: { drain_seconds: 1 }\n", NULL },
	{ "log: { level: error }\n", NULL },
	{ "", NULL },
};

START_TEST(keys_that_need_a_restart_are_named)
{
	char text[512];
	struct wd_config *now = parse(GOOD), *next;
	const char *key;

	(void)snprintf(text, sizeof(text), "%s%s", GOOD, changes[_i].line);
	next = parse(text);
	key = wd_config_needs_restart(now, next);
	if (changes[_i].key == NULL)
		ck_assert_ptr_null(key);
	else
		ck_assert_str_eq(key, changes[_i].key);
	wd_config_free(&now);
	wd_config_free(&next);
}
END_TEST

START_TEST(only_a_trusted_file_is_read)
{
	char dir[WD_TEMP_BYTES];
	struct wd_config *config = NULL;
	const char *path;

	wd_temp_make(dir);
	path = wd_temp_path(dir, "w.yaml");
	wd_temp_write(path, GOOD, strlen(GOOD));
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(wd_config_load(path, &config, NULL), WD_OK);
	wd_config_free(&config);
	ck_assert_int_eq(chmod(path, 0664), 0);
	ck_assert_int_eq(wd_config_load(path, &config, NULL), WD_DENIED);
	ck_assert_int_eq(chmod(path, 0646), 0);
	ck_assert_int_eq(wd_config_load(path, &config, NULL), WD_DENIED);
	ck_assert_int_eq(chmod(path, 0644), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(path, 12345, 0), 0);
		ck_assert_int_eq(
		    wd_config_load(path, &config, NULL), WD_DENIED);
	}
	ck_assert_int_eq(wd_config_load(dir, &config, NULL), WD_INVALID);
	ck_assert_int_eq(
	    wd_config_load("/nowhere/w.yaml", &config, NULL), WD_GONE);
	wd_temp_remove(dir);
}
END_TEST

START_TEST(no_memory_is_an_error)
{
	struct wd_config *config = NULL;
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	for (n = 0; st == WD_NOMEM; n++) {
		wd_mem_fail_after(n);
		st = wd_config_parse("f",
		    wd_slice_text(GOOD "model_roots: [/a, /b]\n"), &config,
		    NULL);
		wd_mem_fail_after(UINT64_MAX);
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(n, 5);
	wd_config_free(&config);
}
END_TEST

WD_SUITE_BEGIN("role config")
WD_TEST(defaults_are_those_of_the_manual);
WD_TEST(every_key_is_read);
WD_LOOP(what_is_wrong_is_refused, wrong);
WD_LOOP(keys_that_need_a_restart_are_named, changes);
WD_TEST(only_a_trusted_file_is_read);
WD_TEST(no_memory_is_an_error);
WD_SUITE_END
