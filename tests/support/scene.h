/*
 * scene.h - a host for tests of agent/evidence: one server that is all right,
 * of which each test spoils exactly what it is about.
 *
 * The host is the fixture backend's (host/fixture/fixture.h); its document
 * begins as scene.c has it: process 100 listens on 127.0.0.1:8080 (socket 77),
 * was started at SCENE_START, and maps the whole of /m/m.gguf, which its
 * command line names and which is older than the process. In JSON text ' stands
 * for ", so that it can be written in C. Functions end the test when they
 * fail.
 */
#ifndef WD_TESTS_SUPPORT_SCENE_H
#define WD_TESTS_SUPPORT_SCENE_H

#include <jansson.h>

#include "base/digest.h"
#include "evidence/attest.h"
#include "support/tempdir.h"
#include "weightd/v1/verdict.pb-c.h"

#define SCENE_PORT 8080
#define SCENE_PID 100
#define SCENE_START (INT64_C(1700000000) * WD_NS_PER_SECOND)
#define SCENE_NOW (SCENE_START + 5000 * WD_NS_PER_SECOND)

struct scene {
	char folder[WD_TEMP_BYTES]; /* where the real files are */
	json_t *document;
	struct wd_host *host; /* after the first question */
	struct wd_reader *reader;
	struct wd_store *store;
	struct wd_digest_work *work; /* NULL: no jobs in the background */
	int64_t real_ns;             /* what the clock says: SCENE_NOW */
	struct wd_clock clock;
	struct wd_deadline deadline;
	enum wd_digest_wish digests;
	Weightd__V1__Question question;
	Weightd__V1__Attestation *all; /* the last answer */
};

void scene_begin(struct scene *scene);
void scene_end(struct scene *scene);

/* A value of the document: `pointer` as in RFC 6901, "-" appends to a list. */
void scene_put(struct scene *scene, const char *pointer, const char *json);
void scene_put_int(struct scene *scene, const char *pointer, int64_t value);
void scene_remove(struct scene *scene, const char *pointer);

/* Once the operation `of` (NULL: any) was called `calls` times, `pointer`
 * becomes `json`; NULL removes it. */
void scene_after(struct scene *scene, const char *of, unsigned calls,
    const char *pointer, const char *json);

/* Writes a real file, and an entry of "files" with the same name, dated well
 * before SCENE_START. */
void scene_write(
    struct scene *scene, const char *name, const void *bytes, size_t len);

/* A GGUF file of two tensors (F32, 8 x `rows` elements each); equal arguments
 * give equal bytes. `type` is general.type, or NULL. */
void scene_gguf(struct scene *scene, const char *name, const char *inner_name,
    const char *type, unsigned rows, uint64_t seed);

/* Shard `number` of `count` of a split set; its one tensor is named after
 * number. */
void scene_shard(struct scene *scene, const char *name, unsigned number,
    unsigned count, unsigned rows, uint64_t seed);

/* A safetensors file with one tensor (F32, `rows` x 8). */
void scene_safetensors(struct scene *scene, const char *name,
    const char *tensor, unsigned rows, uint64_t seed);

/* The real file's size and SHA-256. */
uint64_t scene_size(const struct scene *scene, const char *name);
struct wd_sha256 scene_sha256(const struct scene *scene, const char *name);

/* Adds a process like 100, without mappings and descriptors; parent `ppid`. */
void scene_process(struct scene *scene, int pid, int ppid);

/* Process `pid` has socket `inode` open, under descriptor `fd`. */
void scene_socket(struct scene *scene, int pid, int fd, int inode);

/* The same, and is a holder of it. */
void scene_owner(struct scene *scene, int pid, int fd, int inode);

/* A further listener. */
void scene_listener(
    struct scene *scene, const char *address, int port, int inode);

/* Process `pid` maps the whole of `file` as `path`, shared and read-only, and
 * sees it there; or bytes `from` up to `to` of it. */
void scene_map(
    struct scene *scene, int pid, const char *file, const char *path);
void scene_map_part(struct scene *scene, int pid, const char *file,
    const char *path, uint64_t from, uint64_t to);
void scene_unmap_all(struct scene *scene, int pid);

/* Process `pid` has `file` open for reading. */
void scene_open(
    struct scene *scene, int pid, int fd, const char *file, const char *path);

/* What `path` leads to in the eyes of process `pid`. */
void scene_path(
    struct scene *scene, int pid, const char *path, const char *file);

/* Asks; the answer is scene->all. The document is read at the first question
 * and again after every change. */
void scene_ask(struct scene *scene);

/* One more host as the document is now; the caller's. */
struct wd_host *scene_new_host(const struct scene *scene);

/* Parts of the answer; the test ends when they are not there. */
Weightd__V1__Group *scene_group(const struct scene *scene, size_t index);
Weightd__V1__Candidate *scene_model(const struct scene *scene, size_t index);
Weightd__V1__FileEvidence *scene_file(const struct scene *scene, size_t index);
Weightd__V1__Process *scene_process_in(const struct scene *scene, int pid);

bool scene_says(
    const Weightd__V1__Flag *flags, size_t count, Weightd__V1__Flag flag);
bool scene_made(
    const Weightd__V1__Check *checks, size_t count, Weightd__V1__Check check);
bool scene_moved(const struct scene *scene, Weightd__V1__Moved moved);

/* Whether a blind spot with that scope has `text` in its "what". */
bool scene_blind(const struct scene *scene, Weightd__V1__BlindSpot__Scope scope,
    const char *text);

bool scene_digest_is(
    const Weightd__V1__Digest *digest, const struct wd_sha256 *wanted);

/* The verdict on the answer when the digest of `file` is pinned (NULL: no
 * expectation at all). */
Weightd__V1__VerdictKind scene_verdict(
    const struct scene *scene, const char *file, uint32_t *line);

#define HAS_FLAG(message, name)                                                \
	scene_says((message)->flags, (message)->n_flags,                       \
	    WEIGHTD__V1__FLAG__FLAG_##name)
#define HAS_CHECK(message, name)                                               \
	scene_made((message)->checks_performed, (message)->n_checks_performed, \
	    WEIGHTD__V1__CHECK__CHECK_##name)
#define GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name
#define OWNERS(name) WEIGHTD__V1__OWNERS_STATE__OWNERS_STATE_##name
#define SCOPE(name) WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_##name
#define MOVED(name) WEIGHTD__V1__MOVED__MOVED_##name
#define STATE(name) WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_##name
#define ROLE(name) WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_##name
#define KIND(name) WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_##name
#define SEEN(name) WEIGHTD__V1__TRISTATE__TRISTATE_##name
#define ORIGIN(name) WEIGHTD__V1__FILE_EVIDENCE__ORIGIN__ORIGIN_##name
#define VERDICT(name) WEIGHTD__V1__VERDICT_KIND__VERDICT_KIND_##name

#endif
