#include "support/attestation_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/build.h"

/* 2026-11-30T12:00:00Z */
#define MAKE_NOW_NS INT64_C(1796040000000000000)

static struct wd_build build;

static void *
must(void *message)
{
	if (message == NULL || build.status != WD_OK) {
		(void)fprintf(stderr, "attestation_make: no memory\n");
		abort();
	}
	return message;
}

#define NEW(descriptor) must(wd_build_new(&build, &(descriptor)))
#define ADD(parent, field, descriptor)                                         \
	must(WD_BUILD_ADD(&build, parent, field, &(descriptor)))

void
make_text(char **field, const char *text)
{
	wd_build_text(&build, field, text);
}

void
make_bytes(ProtobufCBinaryData *field, const void *bytes, size_t len)
{
	wd_build_bytes(&build, field, (struct wd_slice){ bytes, len });
}

void
make_digest(Weightd__V1__Digest **field, uint8_t fill)
{
	struct wd_sha256 digest;

	memset(digest.bytes, fill, sizeof(digest.bytes));
	wd_build_digest(&build, field, &digest);
}

void
make_flag(Weightd__V1__Flag **flags, size_t *count, Weightd__V1__Flag flag)
{
	if (!wd_build_grow(&build, *count, (void **)flags, sizeof(**flags)))
		abort();
	(*flags)[(*count)++] = flag;
}

void
make_moved(Weightd__V1__Attestation *all, Weightd__V1__Moved moved)
{
	WD_BUILD_PUSH(&build, all, moved, moved);
}

void
make_setting(Weightd__V1__Setting ***settings, size_t *count, const char *key,
    const char *value)
{
	Weightd__V1__Setting *row = must(wd_build_add(&build, count,
	    (void ***)settings, &weightd__v1__setting__descriptor));

	make_text(&row->key, key);
	make_text(&row->value, value);
}

/* ---- attestation ----------------------------------------------------------
 */

static void
fill_host(Weightd__V1__Attestation *all)
{
	all->question = NEW(weightd__v1__question__descriptor);
	all->question->port = MAKE_PORT;
	all->host = NEW(weightd__v1__host_identity__descriptor);
	make_text(&all->host->hostname, "gpu-3");
	make_text(&all->host->boot_id, MAKE_BOOT);
	make_text(&all->host->operating_system, "Linux 6.18.1 x86_64");
	all->host->netns = 4026531840;
	wd_build_time(&build, &all->started_at, MAKE_NOW_NS);
	wd_build_time(&build, &all->ended_at, MAKE_NOW_NS + 500000000);
}

Weightd__V1__Process *
make_process(Weightd__V1__Attestation *all, int32_t pid, const char *comm)
{
	Weightd__V1__Process *process =
	    ADD(all, processes, weightd__v1__process__descriptor);
	static const char *const words[] = { "llama-server", "-m",
		"/srv/models/qwen2.5-7b-instruct-q4_k_m.gguf", "--port",
		"8081" };
	size_t i;

	process->identity = NEW(weightd__v1__process_identity__descriptor);
	make_text(&process->identity->boot_id, MAKE_BOOT);
	process->identity->pid = pid;
	process->identity->start = 123456;
	process->identity->generation_known = 1;
	wd_build_time(&build, &process->identity->started_at,
	    MAKE_NOW_NS - INT64_C(3600000000000));
	process->role = WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_OWNER;
	process->state = WEIGHTD__V1__PROCESS_STATE__PROCESS_STATE_RUNNING;
	make_bytes(&process->comm, comm, strlen(comm));
	process->executable = NEW(weightd__v1__executable__descriptor);
	make_bytes(&process->executable->path, "/usr/bin/llama-server", 21);
	process->user = NEW(weightd__v1__user__descriptor);
	process->user->uid = 1000;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		wd_build_add_bytes(&build, &process->n_argv, &process->argv,
		    wd_slice_text(words[i]));
	return process;
}

void
make_device_use(Weightd__V1__Process *process, const char *device,
    uint64_t bytes, const char *reason)
{
	Weightd__V1__DeviceUse *use =
	    ADD(process, device_uses, weightd__v1__device_use__descriptor);

	make_text(&use->device, device);
	if (reason != NULL) {
		make_text(&use->reason, reason);
		return;
	}
	use->bytes_presence_case =
	    WEIGHTD__V1__DEVICE_USE__BYTES_PRESENCE_BYTES;
	use->bytes = bytes;
}

void
make_note(Weightd__V1__Candidate *candidate, const char *text)
{
	wd_build_add_text(&build, &candidate->n_notes, &candidate->notes, text);
}

Weightd__V1__Listener *
make_listener(
    Weightd__V1__Attestation *all, const char *address, uint32_t group)
{
	Weightd__V1__Listener *listener =
	    ADD(all, listeners, weightd__v1__listener__descriptor);
	Weightd__V1__Owner *owner =
	    ADD(listener, owners, weightd__v1__owner__descriptor);

	make_text(&listener->address, address);
	listener->family = strchr(address, ':') != NULL ?
	    WEIGHTD__V1__FAMILY__FAMILY_INET6 :
	    WEIGHTD__V1__FAMILY__FAMILY_INET4;
	listener->port = MAKE_PORT;
	listener->netns = 4026531840;
	listener->socket_id = 70000 + group;
	listener->owners_state = OWNERS(FOUND);
	owner->pid = MAKE_PID + (int32_t)group;
	owner->tid = owner->pid;
	owner->fd = 7;
	listener->group_presence_case =
	    WEIGHTD__V1__LISTENER__GROUP_PRESENCE_GROUP;
	listener->group = group;
	return listener;
}

static void
fill_bundle(Weightd__V1__Bundle *bundle, const char *name)
{
	static const char path[] =
	    "/srv/models/qwen2.5-7b-instruct-q4_k_m.gguf";
	Weightd__V1__BundleFile *file;
	Weightd__V1__EncodingCount *count;

	bundle->format = WEIGHTD__V1__BUNDLE_FORMAT__BUNDLE_FORMAT_GGUF;
	bundle->format_version = 3;
	bundle->single_file = 1;
	make_text(&bundle->inner_name, name);
	make_text(&bundle->architecture, "qwen2");
	make_bytes(&bundle->path, path, strlen(path));
	bundle->parameter_count = MAKE_PARAMETERS;
	bundle->stored_element_count = MAKE_PARAMETERS;
	bundle->parameters_known = 1;
	bundle->tensor_count = 339;
	bundle->tensor_bytes = 4677120000;
	make_digest(&bundle->encoding_digest, 0xe0);
	make_digest(&bundle->settings_digest, 0x50);
	make_digest(&bundle->tokenizer_digest, 0x70);
	make_digest(&bundle->content_digest, 0xc0);
	bundle->content_digest_state = STATE(COMPUTED);
	make_text(&bundle->declared_recipe, MAKE_DECLARED);
	make_text(&bundle->derived_recipe, MAKE_DERIVED);
	make_setting(&bundle->settings, &bundle->n_settings,
	    "bundle.general.architecture", "qwen2");
	make_setting(&bundle->settings, &bundle->n_settings,
	    "bundle.qwen2.block_count", "28");
	count = ADD(bundle, encodings, weightd__v1__encoding_count__descriptor);
	make_text(&count->encoding, "Q4_K");
	count->tensor_count = 198;
	count = ADD(bundle, encodings, weightd__v1__encoding_count__descriptor);
	make_text(&count->encoding, "F32");
	count->tensor_count = 141;
	file = ADD(bundle, files, weightd__v1__bundle_file__descriptor);
	make_bytes(&file->name, path + 12, strlen(path) - 12);
	file->role = WEIGHTD__V1__FILE_ROLE__FILE_ROLE_WEIGHTS;
	file->present = 1;
	file->counted = 1;
	file->size_bytes = 4683073248;
	file->digest_state = STATE(COMPUTED);
	wd_build_time(&build, &file->digested_at, MAKE_NOW_NS);
	make_digest(&file->sha256, 0xf0);
}

static void
fill_evidence(Weightd__V1__Candidate *candidate)
{
	Weightd__V1__FileEvidence *file =
	    ADD(candidate, files, weightd__v1__file_evidence__descriptor);
	const Weightd__V1__Bundle *bundle = candidate->bundle;

	make_bytes(&file->path, bundle->path.data, bundle->path.len);
	make_bytes(&file->name, bundle->path.data + 12, bundle->path.len - 12);
	file->device = 2049;
	file->inode = 9001;
	make_text(&file->file_system, "ext4");
	file->grade = GRADE(RESIDENT);
	file->mapping_count = 1;
	file->tensor_count = bundle->tensor_count;
	file->tensors_mapped = bundle->tensor_count;
	file->tensor_bytes = bundle->tensor_bytes;
	file->tensor_bytes_mapped = bundle->tensor_bytes;
	file->trusted_times = 1;
	file->written = SEEN(NO);
	file->origin = WEIGHTD__V1__FILE_EVIDENCE__ORIGIN__ORIGIN_MAPPED;
}

Weightd__V1__Candidate *
make_candidate(
    Weightd__V1__Group *group, Weightd__V1__BundleKind kind, const char *name)
{
	static const Weightd__V1__Check checks[] = { CHECK(COVERAGE),
		CHECK(WRITTEN_PAGES), CHECK(CLAIMS), CHECK(HEADERS),
		CHECK(CONTENT_DIGEST), CHECK(CHANGED_SINCE_LOAD),
		CHECK(SETTINGS_STALE), CHECK(FILES_AGAIN) };
	Weightd__V1__Candidate *candidate =
	    ADD(group, candidates, weightd__v1__candidate__descriptor);
	size_t i;

	candidate->bundle = NEW(weightd__v1__bundle__descriptor);
	fill_bundle(candidate->bundle, name);
	candidate->bundle->kind = kind;
	candidate->grade = GRADE(RESIDENT);
	candidate->mapped_wholly = 1;
	candidate->on_overlay = SEEN(NO);
	candidate->device_memory = SEEN(NO);
	candidate->memory_copies = SEEN(NO);
	fill_evidence(candidate);
	for (i = 0; i < group->n_pids; i++)
		WD_BUILD_PUSH(&build, candidate, pids, group->pids[i]);
	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		WD_BUILD_PUSH(&build, candidate, checks_performed, checks[i]);
	wd_build_add_text(&build, &candidate->n_names, &candidate->names,
	    "qwen2.5-7b-instruct-q4_k_m.gguf");
	wd_build_add_text(&build, &candidate->n_names, &candidate->names,
	    "qwen2.5-7b-instruct-q4_k_m");
	return candidate;
}

Weightd__V1__Group *
make_group(Weightd__V1__Attestation *all)
{
	static const Weightd__V1__Check checks[] = { CHECK(GROUP),
		CHECK(MAPPINGS), CHECK(DESCRIPTORS), CHECK(MAPPINGS_AGAIN),
		CHECK(IDENTITY_AGAIN), CHECK(ENGINE), CHECK(RUN_SETTINGS) };
	Weightd__V1__Group *group =
	    ADD(all, groups, weightd__v1__group__descriptor);
	int32_t pid = MAKE_PID + (int32_t)all->n_groups - 1;
	size_t i;

	WD_BUILD_PUSH(&build, group, pids, pid);
	group->grade = GRADE(RESIDENT);
	group->members_complete = 1;
	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		WD_BUILD_PUSH(&build, group, checks_performed, checks[i]);
	make_setting(&group->run_settings, &group->n_run_settings,
	    "run.ctx_size", "4096");
	return group;
}

Weightd__V1__Attestation *
make_attestation(void)
{
	static const Weightd__V1__Check checks[] = { CHECK(LISTENERS),
		CHECK(LISTENERS_TWICE), CHECK(OWNERS), CHECK(OWNERS_AGAIN) };
	Weightd__V1__Attestation *all =
	    NEW(weightd__v1__attestation__descriptor);
	size_t i;

	fill_host(all);
	all->listeners_complete = 1;
	all->agreeing_looks = 2;
	all->grade = GRADE(RESIDENT);
	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		WD_BUILD_PUSH(&build, all, checks_performed, checks[i]);
	(void)make_listener(all, "127.0.0.1", 0);
	(void)make_process(all, MAKE_PID, "llama-server");
	(void)make_candidate(make_group(all), KIND(MODEL), MAKE_NAME);
	return all;
}

Weightd__V1__BlindSpot *
make_blind_spot(
    Weightd__V1__Attestation *all, Weightd__V1__BlindSpot__Scope scope)
{
	Weightd__V1__BlindSpot *spot =
	    ADD(all, blind_spots, weightd__v1__blind_spot__descriptor);

	spot->scope = scope;
	make_text(&spot->what, "/proc/4712/maps");
	make_text(&spot->reason, "permission denied");
	make_text(&spot->remedy, "run the agent as root");
	return spot;
}

Weightd__V1__AcceptedConnection *
make_connection(Weightd__V1__Attestation *all)
{
	Weightd__V1__AcceptedConnection *c =
	    NEW(weightd__v1__accepted_connection__descriptor);
	Weightd__V1__Connection *asked =
	    NEW(weightd__v1__connection__descriptor);
	Weightd__V1__Owner *owner;

	make_text(&asked->address, "10.0.0.9");
	asked->port = 40000;
	all->question->connection = asked;
	all->connection = c;
	c->state = WEIGHTD__V1__CONNECTION_STATE__CONNECTION_STATE_FOUND;
	c->family = WEIGHTD__V1__FAMILY__FAMILY_INET4;
	make_text(&c->local_address, "10.0.0.1");
	c->local_port = MAKE_PORT;
	c->socket_id = 9001;
	c->netns = 4026531840;
	owner = ADD(c, owners, weightd__v1__owner__descriptor);
	owner->pid = MAKE_PID;
	c->group_presence_case =
	    WEIGHTD__V1__ACCEPTED_CONNECTION__GROUP_PRESENCE_GROUP;
	c->group = 0;
	WD_BUILD_PUSH(&build, all, checks_performed, CHECK(CONNECTION));
	return c;
}

Weightd__V1__Hop *
make_hop(Weightd__V1__Group *group, const char *address, uint32_t port)
{
	Weightd__V1__Hop *hop = ADD(group, hops, weightd__v1__hop__descriptor);

	make_text(&hop->address, address);
	hop->port = port;
	return hop;
}

static void
drop_from(Weightd__V1__Check *checks, size_t *count, Weightd__V1__Check check)
{
	size_t i, kept = 0;

	for (i = 0; i < *count; i++)
		if (checks[i] != check)
			checks[kept++] = checks[i];
	*count = kept;
}

void
drop_check(Weightd__V1__Attestation *all, Weightd__V1__Check check)
{
	size_t i, k;

	drop_from(all->checks_performed, &all->n_checks_performed, check);
	for (i = 0; i < all->n_groups; i++) {
		Weightd__V1__Group *group = all->groups[i];

		drop_from(
		    group->checks_performed, &group->n_checks_performed, check);
		for (k = 0; k < group->n_candidates; k++)
			drop_from(group->candidates[k]->checks_performed,
			    &group->candidates[k]->n_checks_performed, check);
	}
}

Weightd__V1__Group *
group_in(Weightd__V1__Attestation *all)
{
	return all->groups[0];
}

Weightd__V1__Candidate *
model_in(Weightd__V1__Attestation *all)
{
	return all->groups[0]->candidates[0];
}

Weightd__V1__FileEvidence *
file_in(Weightd__V1__Attestation *all)
{
	return model_in(all)->files[0];
}

/* ---- expectation ----------------------------------------------------------
 */

Weightd__V1__Expectation *
make_expectation(void)
{
	return NEW(weightd__v1__expectation__descriptor);
}

void
pin_model(Weightd__V1__Expectation *e, const char *name)
{
	e->model_presence_case = WEIGHTD__V1__EXPECTATION__MODEL_PRESENCE_MODEL;
	make_text(&e->model, name);
}

void
pin_parameters(Weightd__V1__Expectation *e, uint64_t count)
{
	e->parameter_count_presence_case =
	    WEIGHTD__V1__EXPECTATION__PARAMETER_COUNT_PRESENCE_PARAMETER_COUNT;
	e->parameter_count = count;
}

void
pin_recipe(Weightd__V1__Expectation *e, const char *recipe)
{
	e->recipe_presence_case =
	    WEIGHTD__V1__EXPECTATION__RECIPE_PRESENCE_RECIPE;
	make_text(&e->recipe, recipe);
}

Weightd__V1__ExpectedCompanion *
pin_companion(
    Weightd__V1__Expectation *e, Weightd__V1__BundleKind kind, int fill)
{
	Weightd__V1__ExpectedCompanion *row =
	    ADD(e, companions, weightd__v1__expected_companion__descriptor);

	row->kind = kind;
	if (fill < 0) {
		row->want_case = WEIGHTD__V1__EXPECTED_COMPANION__WANT_ANY;
		row->any = 1;
	} else {
		row->want_case = WEIGHTD__V1__EXPECTED_COMPANION__WANT_DIGEST;
		make_digest(&row->digest, (uint8_t)fill);
	}
	return row;
}

void
pin_setting(Weightd__V1__Expectation *e, const char *key, const char *value)
{
	make_setting(&e->settings, &e->n_settings, key, value);
}

void
pin_route(Weightd__V1__Expectation *e, const char *name, uint32_t port)
{
	Weightd__V1__Route *row =
	    ADD(e, routes, weightd__v1__route__descriptor);

	make_text(&row->name, name);
	row->port = port;
}
