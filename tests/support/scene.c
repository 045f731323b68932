#include "support/scene.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "host/fixture/fixture.h"
#include "support/bundle_make.h"
#include "verdict/verdict.h"
#include "wire/build.h"

static const char base_document[] =
    "{'identity': {'boot_id': 'b-1', 'hostname': 'box',"
    "  'os': 'Linux 6.1 x86_64', 'netns': 4026531840,"
    "  'pid_of_agent': 900, 'tick_ns': 10000000},"
    " 'listeners': {'items': [{'family': 4, 'address': '127.0.0.1',"
    "  'port': 8080, 'inode': 77, 'cookie': 5}]},"
    " 'holders': {'items': []}, 'pids': {}, 'files': {}, 'after': [],"
    " 'processes': {"
    "  '1': {'ppid': 0, 'start': 1, 'sid': 1, 'pgid': 1, 'comm': 'systemd',"
    "   'exec_token': 1, 'exe': {'path': '/usr/lib/systemd/systemd',"
    "   'device': 1, 'inode': 1}, 'mappings': {'items': []},"
    "   'descriptors': {'items': []}, 'paths': {}, 'folders': {}},"
    "  '50': {'ppid': 1, 'start': 2, 'sid': 50, 'pgid': 50, 'comm': 'sh',"
    "   'exec_token': 2, 'exe': {'path': '/bin/sh', 'device': 1,"
    "   'inode': 2}, 'mappings': {'items': []},"
    "   'descriptors': {'items': []}, 'paths': {}, 'folders': {}}}}";

/* ---- the document -------------------------------------------------------- */

static json_t *
parse(const char *text)
{
	struct wd_error err;
	json_t *root = NULL;
	char *copy = wd_strdup(text), *c;

	ck_assert_ptr_nonnull(copy);
	for (c = copy; *c != '\0'; c++)
		*c = *c == '\'' ? '"' : *c;
	wd_error_init(&err);
	ck_assert_msg(wd_json_parse(wd_slice_text(copy), WD_MAX_JSON_MEMORY,
			  &root, &err) == WD_OK,
	    "%s in %s", err.message, text);
	wd_free(copy);
	return root;
}

/* Any value, also one that is no root of a JSON text. */
static json_t *
parse_value(const char *text)
{
	char wrapped[8192];
	json_t *list, *value;

	ck_assert_int_lt(snprintf(wrapped, sizeof(wrapped), "[%s]", text),
	    (int)sizeof(wrapped));
	list = parse(wrapped);
	value = json_incref(json_array_get(list, 0));
	json_decref(list);
	return value;
}

static json_t *
parent_of(struct scene *scene, const char *pointer, char *last, size_t room)
{
	json_t *at = scene->document;
	const char *end;

	for (;;) {
		size_t len = 0;

		ck_assert_msg(*pointer == '/', "%s", pointer);
		for (end = ++pointer; *end != '\0' && *end != '/'; end++) {
			ck_assert_uint_lt(len + 1, room);
			last[len++] = *end == '~' && end[1] == '1' ? '/' : *end;
			end += *end == '~';
		}
		last[len] = '\0';
		if (*end == '\0')
			return at;
		at = json_is_array(at) ?
		    json_array_get(at, (size_t)atoi(last)) :
		    json_object_get(at, last);
		ck_assert_msg(at != NULL, "there is no %s", last);
		pointer = end;
	}
}

static void
put_value(struct scene *scene, const char *pointer, json_t *value)
{
	char last[512];
	json_t *parent = parent_of(scene, pointer, last, sizeof(last));
	int failed;

	wd_host_free(&scene->host);
	if (json_is_object(parent))
		failed = json_object_set_new(parent, last, value);
	else if (strcmp(last, "-") == 0)
		failed = json_array_append_new(parent, value);
	else
		failed = json_array_set_new(parent, (size_t)atoi(last), value);
	ck_assert_msg(failed == 0, "%s", pointer);
}

void
scene_put(struct scene *scene, const char *pointer, const char *json)
{
	put_value(scene, pointer, parse_value(json));
}

void
scene_put_int(struct scene *scene, const char *pointer, int64_t value)
{
	put_value(scene, pointer, json_integer(value));
}

void
scene_remove(struct scene *scene, const char *pointer)
{
	char last[512];
	json_t *parent = parent_of(scene, pointer, last, sizeof(last));

	wd_host_free(&scene->host);
	if (json_is_object(parent))
		ck_assert_int_eq(json_object_del(parent, last), 0);
	else
		ck_assert_int_eq(
		    json_array_remove(parent, (size_t)atoi(last)), 0);
}

void
scene_after(struct scene *scene, const char *of, unsigned calls,
    const char *pointer, const char *json)
{
	json_t *step = json_object();

	json_object_set_new(step, "calls", json_integer(calls));
	if (of != NULL)
		json_object_set_new(step, "of", json_string(of));
	if (json == NULL) {
		json_object_set_new(step, "remove", json_array());
		json_array_append_new(
		    json_object_get(step, "remove"), json_string(pointer));
	} else {
		json_object_set_new(step, "set", json_object());
		json_object_set_new(
		    json_object_get(step, "set"), pointer, parse_value(json));
	}
	put_value(scene, "/after/-", step);
}

/* ---- files --------------------------------------------------------------- */

static const char *
real_path(const struct scene *scene, const char *name)
{
	return wd_temp_path(scene->folder, name);
}

void
scene_write(
    struct scene *scene, const char *name, const void *bytes, size_t len)
{
	char pointer[128], json[512];

	wd_temp_write(real_path(scene, name), bytes, len);
	(void)snprintf(pointer, sizeof(pointer), "/files/%s", name);
	(void)snprintf(json, sizeof(json),
	    "{'path': '%s', 'mtime_ns': %lld, 'ctime_ns': %lld,"
	    " 'fs_type': 'ext4', 'trusted_times': true}",
	    name, (long long)SCENE_START - 1000000000000LL,
	    (long long)SCENE_START - 1000000000000LL);
	scene_put(scene, pointer, json);
}

static void
write_buf(struct scene *scene, const char *name, struct wd_buf *bytes)
{
	ck_assert_int_eq(bytes->status, WD_OK);
	scene_write(scene, name, bytes->data, bytes->len);
	wd_buf_release(bytes);
}

static void
describe_gguf(struct make_gguf *gguf, const char *inner_name, const char *type)
{
	make_gguf_init(gguf);
	make_gguf_string(gguf, "general.architecture", "llama");
	make_gguf_string(gguf, "general.name", inner_name);
	if (type != NULL)
		make_gguf_string(gguf, "general.type", type);
}

void
scene_gguf(struct scene *scene, const char *name, const char *inner_name,
    const char *type, unsigned rows, uint64_t seed)
{
	const uint64_t dims[] = { 8, rows };
	struct make_gguf gguf;
	struct wd_buf file;

	describe_gguf(&gguf, inner_name, type);
	ck_assert(make_gguf_tensor(&gguf, "a.weight", "F32", dims, 2));
	ck_assert(make_gguf_tensor(&gguf, "b.weight", "F32", dims, 2));
	wd_buf_init(&file, MAKE_MAX_BYTES);
	ck_assert_int_eq(make_gguf_file(&gguf, seed, &file), WD_OK);
	make_gguf_release(&gguf);
	write_buf(scene, name, &file);
}

void
scene_shard(struct scene *scene, const char *name, unsigned number,
    unsigned count, unsigned rows, uint64_t seed)
{
	const uint64_t dims[] = { 8, rows };
	struct make_gguf gguf;
	struct wd_buf file;
	char tensor[32];

	describe_gguf(&gguf, "Split", NULL);
	make_gguf_number(&gguf, "split.no", MAKE_U16, number - 1);
	make_gguf_number(&gguf, "split.count", MAKE_U16, count);
	make_gguf_number(&gguf, "split.tensors.count", MAKE_I32, count);
	(void)snprintf(tensor, sizeof(tensor), "t%u.weight", number);
	ck_assert(make_gguf_tensor(&gguf, tensor, "F32", dims, 2));
	wd_buf_init(&file, MAKE_MAX_BYTES);
	ck_assert_int_eq(make_gguf_file(&gguf, seed, &file), WD_OK);
	make_gguf_release(&gguf);
	write_buf(scene, name, &file);
}

void
scene_safetensors(struct scene *scene, const char *name, const char *tensor,
    unsigned rows, uint64_t seed)
{
	struct make_safetensors st;
	struct wd_buf file;
	char shape[32];

	make_safetensors_init(&st);
	(void)snprintf(shape, sizeof(shape), "[%u,8]", rows);
	make_safetensors_tensor(&st, tensor, "F32", shape, rows * 32UL);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	ck_assert_int_eq(make_safetensors_file(&st, seed, &file), WD_OK);
	make_safetensors_release(&st);
	write_buf(scene, name, &file);
}

uint64_t
scene_size(const struct scene *scene, const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(real_path(scene, name), &st), 0);
	return (uint64_t)st.st_size;
}

struct wd_sha256
scene_sha256(const struct scene *scene, const char *name)
{
	size_t len = (size_t)scene_size(scene, name);
	uint8_t *bytes = malloc(len + 1);
	FILE *file = fopen(real_path(scene, name), "rb");
	struct wd_sha256 digest;

	ck_assert_ptr_nonnull(bytes);
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(bytes, 1, len, file), len);
	(void)fclose(file);
	ck_assert_int_eq(
	    wd_sha256((struct wd_slice){ bytes, len }, &digest, NULL), WD_OK);
	free(bytes);
	return digest;
}

/* ---- processes ----------------------------------------------------------- */

void
scene_process(struct scene *scene, int pid, int ppid)
{
	char pointer[64], json[1024];

	(void)snprintf(pointer, sizeof(pointer), "/processes/%d", pid);
	(void)snprintf(json, sizeof(json),
	    "{'ppid': %d, 'start': %d, 'start_real_ns': %lld,"
	    " 'exec_token': %d, 'sid': 50, 'pgid': 50, 'uid': 33, 'gid': 33,"
	    " 'comm': 'server', 'exe': {'path': '/usr/bin/server',"
	    " 'device': 1, 'inode': 3, 'replaced': 'no'},"
	    " 'argv': ['server'], 'env': [], 'mappings': {'items': []},"
	    " 'descriptors': {'items': [{'fd': 30, 'type': 'other',"
	    " 'path': 'anon_inode:[eventpoll]'}]}, 'paths': {},"
	    " 'folders': {'/m': '.'}}",
	    ppid, 400 + pid, (long long)SCENE_START, 9000 + pid);
	scene_put(scene, pointer, json);
}

void
scene_socket(struct scene *scene, int pid, int fd, int inode)
{
	char pointer[64], json[128];

	(void)snprintf(
	    pointer, sizeof(pointer), "/processes/%d/descriptors/items/-", pid);
	(void)snprintf(json, sizeof(json),
	    "{'fd': %d, 'type': 'socket', 'inode': %d}", fd, inode);
	scene_put(scene, pointer, json);
}

void
scene_owner(struct scene *scene, int pid, int fd, int inode)
{
	char json[128];

	scene_socket(scene, pid, fd, inode);
	(void)snprintf(json, sizeof(json), "{'inode': %d, 'pid': %d, 'fd': %d}",
	    inode, pid, fd);
	scene_put(scene, "/holders/items/-", json);
}

void
scene_listener(struct scene *scene, const char *address, int port, int inode)
{
	char json[192];

	(void)snprintf(json, sizeof(json),
	    "{'family': %d, 'address': '%s', 'port': %d, 'inode': %d,"
	    " 'cookie': %d, 'v6only': 'yes'}",
	    strchr(address, ':') == NULL ? 4 : 6, address, port, inode,
	    1000 + inode);
	scene_put(scene, "/listeners/items/-", json);
}

static size_t
list_size(struct scene *scene, int pid, const char *part)
{
	char pointer[64], last[16];
	json_t *parent;

	(void)snprintf(
	    pointer, sizeof(pointer), "/processes/%d/%s/items", pid, part);
	parent = parent_of(scene, pointer, last, sizeof(last));
	return json_array_size(json_object_get(parent, last));
}

void
scene_path(struct scene *scene, int pid, const char *path, const char *file)
{
	char pointer[512], json[128];
	size_t len;

	len = (size_t)snprintf(
	    pointer, sizeof(pointer), "/processes/%d/paths/", pid);
	for (; *path != '\0' && len + 3 < sizeof(pointer); path++) {
		pointer[len++] = *path == '/' ? '~' : *path;
		if (*path == '/')
			pointer[len++] = '1';
	}
	pointer[len] = '\0';
	(void)snprintf(json, sizeof(json), "'%s'", file);
	scene_put(scene, pointer, json);
}

void
scene_map_part(struct scene *scene, int pid, const char *file, const char *path,
    uint64_t from, uint64_t to)
{
	char pointer[64], json[512];
	uint64_t start = (list_size(scene, pid, "mappings") + 1) << 32;

	(void)snprintf(
	    pointer, sizeof(pointer), "/processes/%d/mappings/items/-", pid);
	(void)snprintf(json, sizeof(json),
	    "{'file': '%s', 'path': '%s', 'start': %llu, 'end': %llu,"
	    " 'offset': %llu}",
	    file, path, (unsigned long long)start,
	    (unsigned long long)(start + to - from), (unsigned long long)from);
	scene_put(scene, pointer, json);
	scene_path(scene, pid, path, file);
}

void
scene_map(struct scene *scene, int pid, const char *file, const char *path)
{
	scene_map_part(scene, pid, file, path, 0, scene_size(scene, file));
}

void
scene_unmap_all(struct scene *scene, int pid)
{
	char pointer[64];

	(void)snprintf(
	    pointer, sizeof(pointer), "/processes/%d/mappings/items", pid);
	scene_put(scene, pointer, "[]");
}

void
scene_open(
    struct scene *scene, int pid, int fd, const char *file, const char *path)
{
	char pointer[64], json[512];

	(void)snprintf(
	    pointer, sizeof(pointer), "/processes/%d/descriptors/items/-", pid);
	(void)snprintf(json, sizeof(json),
	    "{'fd': %d, 'file': '%s', 'path': '%s'}", fd, file, path);
	scene_put(scene, pointer, json);
	scene_path(scene, pid, path, file);
}

/* ---- beginning and end --------------------------------------------------- */

static int64_t
real_now(void *ctx)
{
	const struct scene *scene = ctx;

	return scene->real_ns;
}

static int64_t
boot_now(void *ctx)
{
	(void)ctx;
	return 1000 * WD_NS_PER_SECOND;
}

void
scene_begin(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	wd_temp_make(scene->folder);
	scene->real_ns = SCENE_NOW;
	scene->clock = (struct wd_clock){ real_now, boot_now, scene };
	scene->deadline = wd_deadline_none();
	scene->digests = WD_DIGEST_COMPUTE;
	weightd__v1__question__init(&scene->question);
	scene->question.port = SCENE_PORT;
	ck_assert_int_eq(
	    wd_reader_in_process(NULL, &scene->reader, NULL), WD_OK);
	ck_assert_int_eq(wd_store_open_memory(&scene->store, NULL), WD_OK);
	scene->document = parse(base_document);
	scene_gguf(scene, "m.gguf", "Right", NULL, 64, 1);
	scene_process(scene, SCENE_PID, 50);
	scene_owner(scene, SCENE_PID, 3, 77);
	scene_map(scene, SCENE_PID, "m.gguf", "/m/m.gguf");
	scene_put(
	    scene, "/processes/100/argv", "['server', '-m', '/m/m.gguf']");
}

void
scene_end(struct scene *scene)
{
	wd_message_free(scene->all);
	wd_host_free(&scene->host);
	wd_reader_free(&scene->reader);
	wd_store_free(&scene->store);
	json_decref(scene->document);
	wd_temp_remove(scene->folder);
}

struct wd_host *
scene_new_host(const struct scene *scene)
{
	struct wd_host *host = NULL;
	size_t len = json_dumpb(scene->document, NULL, 0, JSON_COMPACT);
	char *text = malloc(len);
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_eq(
	    json_dumpb(scene->document, text, len, JSON_COMPACT), len);
	ck_assert_msg(wd_host_fixture_parse(
			  (struct wd_slice){ (const uint8_t *)text, len },
			  scene->folder, &host, &err) == WD_OK,
	    "%s", err.message);
	free(text);
	return host;
}

void
scene_ask(struct scene *scene)
{
	struct wd_evidence with = { .reader = scene->reader,
		.store = scene->store,
		.clock = &scene->clock,
		.work = scene->work };
	struct wd_error err;

	wd_error_init(&err);
	if (scene->host == NULL)
		scene->host = scene_new_host(scene);
	with.host = scene->host;
	wd_message_free(scene->all);
	scene->all = NULL;
	ck_assert_msg(wd_attest_port(&with, &scene->question, scene->digests,
			  &scene->deadline, &scene->all, &err) == WD_OK,
	    "%s", err.message);
}

/* ---- the answer ---------------------------------------------------------- */

Weightd__V1__Group *
scene_group(const struct scene *scene, size_t index)
{
	ck_assert_uint_lt(index, scene->all->n_groups);
	return scene->all->groups[index];
}

Weightd__V1__Candidate *
scene_model(const struct scene *scene, size_t index)
{
	Weightd__V1__Group *group = scene_group(scene, 0);

	ck_assert_uint_lt(index, group->n_candidates);
	return group->candidates[index];
}

Weightd__V1__FileEvidence *
scene_file(const struct scene *scene, size_t index)
{
	Weightd__V1__Candidate *model = scene_model(scene, 0);

	ck_assert_uint_lt(index, model->n_files);
	return model->files[index];
}

Weightd__V1__Process *
scene_process_in(const struct scene *scene, int pid)
{
	size_t i;

	for (i = 0; i < scene->all->n_processes; i++)
		if (scene->all->processes[i]->identity->pid == pid)
			return scene->all->processes[i];
	ck_abort_msg("process %d is not in the answer", pid);
	return NULL;
}

bool
scene_says(const Weightd__V1__Flag *flags, size_t count, Weightd__V1__Flag flag)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (flags[i] == flag)
			return true;
	return false;
}

bool
scene_made(
    const Weightd__V1__Check *checks, size_t count, Weightd__V1__Check check)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (checks[i] == check)
			return true;
	return false;
}

bool
scene_moved(const struct scene *scene, Weightd__V1__Moved moved)
{
	size_t i;

	for (i = 0; i < scene->all->n_moved; i++)
		if (scene->all->moved[i] == moved)
			return true;
	return false;
}

bool
scene_blind(const struct scene *scene, Weightd__V1__BlindSpot__Scope scope,
    const char *text)
{
	size_t i;

	for (i = 0; i < scene->all->n_blind_spots; i++)
		if (scene->all->blind_spots[i]->scope == scope &&
		    strstr(scene->all->blind_spots[i]->what, text) != NULL)
			return true;
	return false;
}

bool
scene_digest_is(
    const Weightd__V1__Digest *digest, const struct wd_sha256 *wanted)
{
	struct wd_sha256 found;

	return wd_message_digest(digest, &found) &&
	    wd_sha256_equal(&found, wanted);
}

Weightd__V1__VerdictKind
scene_verdict(const struct scene *scene, const char *file, uint32_t *line)
{
	struct wd_build b = wd_build_init();
	Weightd__V1__Expectation *e = NULL;
	Weightd__V1__Verdict *verdict = NULL;
	Weightd__V1__VerdictKind kind;
	struct wd_sha256 pin;

	if (file != NULL) {
		pin = scene_sha256(scene, file);
		e = wd_build_new(&b, &weightd__v1__expectation__descriptor);
		ck_assert_ptr_nonnull(e);
		wd_build_digest(&b, &e->digest, &pin);
	}
	ck_assert_int_eq(
	    wd_verdict_judge(e, scene->all, NULL, &verdict, NULL), WD_OK);
	kind = verdict->kind;
	if (line != NULL)
		*line = verdict->line;
	wd_message_free(verdict);
	wd_message_free(e);
	return kind;
}
