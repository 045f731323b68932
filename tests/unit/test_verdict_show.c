/*
 * show.h: the text of an answer, held against tests/fixtures/show/NAME.txt.
 * With WD_UPDATE_FIXTURES in the environment the files are written anew; read
 * the difference before it is committed.
 */
#include "verdict/show.h"

#include "base/escape.h"
#include "base/mem.h"
#include "support/suite.h"
#include "support/verdict_case.h"

#define MAX_TEXT (1UL << 20)

/* ---- situations -----------------------------------------------------------
 */

static void
drop_listeners(Weightd__V1__Attestation *all)
{
	while (all->n_listeners > 0)
		wd_message_free(all->listeners[--all->n_listeners]);
}

static void
drop_models(Weightd__V1__Attestation *all)
{
	Weightd__V1__Group *group = group_in(all);

	while (group->n_candidates > 0)
		wd_message_free(group->candidates[--group->n_candidates]);
	group->grade = GRADE(NONE);
}

static void
make_missing(Weightd__V1__Attestation *all)
{
	drop_listeners(all);
	while (all->n_processes > 0)
		wd_message_free(all->processes[--all->n_processes]);
	while (all->n_groups > 0)
		wd_message_free(all->groups[--all->n_groups]);
}

static void
make_different(Weightd__V1__Attestation *all)
{
	Weightd__V1__Bundle *bundle = model_in(all)->bundle;

	bundle->parameter_count += 20000;
	make_text(&bundle->settings[1]->value, "32");
	make_text(&bundle->declared_recipe, "");
}

static void
make_blind(Weightd__V1__Attestation *all)
{
	Weightd__V1__BlindSpot *spot;

	drop_models(all);
	group_in(all)->members_complete = 0;
	group_in(all)->grade = GRADE(BLIND);
	spot = make_blind_spot(all, SCOPE(WEIGHTS));
	spot->pid = 4712;
	spot = make_blind_spot(all, SCOPE(OTHER));
	make_text(&spot->what, "/dev/nvidia0");
	make_text(
	    &spot->reason, "memory of this device cannot be accounted for");
	make_text(&spot->remedy, "");
}

static void
make_twins(Weightd__V1__Attestation *all)
{
	Weightd__V1__Group *group;

	make_flag(&all->flags, &all->n_flags, FLAG(AMBIGUOUS));
	make_listener(all, "::", 1)->dual_stack = SEEN(YES);
	make_process(all, MAKE_PID + 1, "llama-server")->user->uid = 1001;
	group = make_group(all);
	make_candidate(group, KIND(MODEL), "Llama 3.1 8B")
	    ->bundle->parameter_count = 8030261248;
}

static void
make_replaced(Weightd__V1__Attestation *all)
{
	Weightd__V1__Candidate *model = model_in(all);
	Weightd__V1__FileEvidence *file = file_in(all);

	make_flag(&model->flags, &model->n_flags, FLAG(DELETED));
	make_flag(&model->flags, &model->n_flags, FLAG(REPLACED));
	make_flag(&file->flags, &file->n_flags, FLAG(DELETED));
	make_flag(&file->flags, &file->n_flags, FLAG(REPLACED));
	make_digest(&file->path_sha256, 0x99);
}

static void
make_orphan(Weightd__V1__Attestation *all)
{
	Weightd__V1__Process *process = all->processes[0];

	drop_models(all);
	make_bytes(&process->comm, "sleep", 5);
	make_bytes(&process->executable->path, "/usr/bin/sleep", 14);
	while (process->n_argv > 0)
		wd_free(process->argv[--process->n_argv].data);
	process->role = WEIGHTD__V1__PROCESS_ROLE__PROCESS_ROLE_ORPHAN_HOLDER;
	make_flag(&process->flags, &process->n_flags, FLAG(ORPHAN_HOLDER));
	make_flag(&group_in(all)->flags, &group_in(all)->n_flags,
	    FLAG(ORPHAN_HOLDER));
}

static void
make_offloaded(Weightd__V1__Attestation *all)
{
	Weightd__V1__Candidate *model = model_in(all), *draft;
	Weightd__V1__Group *group = group_in(all);

	make_device_use(all->processes[0], "NVIDIA 0000:01:00.0",
	    UINT64_C(4711) << 20, NULL);
	make_device_use(all->processes[0], "drm 0000:02:00.0", 0, NULL);
	make_device_use(
	    all->processes[0], "kfd", 0, "the driver lists no memory for it");
	model->device_memory = SEEN(YES);
	make_note(model, "MUTABLE: llama-server sleeps when idle");
	make_candidate(group, KIND(ADAPTER), "Adapter")->grade = GRADE(CLAIMED);
	draft = make_candidate(group, KIND(DRAFT), "Draft");
	draft->grade = GRADE(CLAIMED);
	draft->in_use = SEEN(NO);
	make_candidate(group, KIND(PROJECTOR), "Projector")->in_use = SEEN(YES);
}

/* Everything that another can choose tries to reach the terminal. */
static void
make_hostile(Weightd__V1__Attestation *all)
{
	static const char attack[] = "\x1b]0;owned\x07\x9b"
				     "31m\xe2\x80\xae";
	Weightd__V1__Process *process = all->processes[0];
	Weightd__V1__Candidate *model = model_in(all);
	Weightd__V1__BlindSpot *spot = make_blind_spot(all, SCOPE(OTHER));

	make_text(&all->host->hostname, attack);
	make_text(&all->listeners[0]->address, attack);
	make_bytes(&process->comm, attack, strlen(attack));
	make_bytes(&process->executable->path, attack, strlen(attack));
	make_bytes(&process->argv[2], attack, strlen(attack));
	make_text(&process->unit, attack);
	make_text(&process->container, attack);
	make_text(&model->bundle->inner_name, attack);
	make_text(&model->bundle->architecture, attack);
	make_text(&model->bundle->declared_recipe, attack);
	make_text(&model->bundle->encodings[0]->encoding, attack);
	make_bytes(&model->bundle->files[0]->name, attack, strlen(attack));
	make_bytes(&model->files[0]->path, attack, strlen(attack));
	make_text(&model->files[0]->reason, attack);
	make_device_use(process, attack, 0, attack);
	make_device_use(process, attack, 1, NULL);
	make_note(model, attack);
	make_text(&spot->what, attack);
	make_text(&spot->reason, attack);
	make_text(&spot->remedy, attack);
	make_hop(group_in(all), attack, 1);
}

static void
ask_much(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	pin_recipe(e, MAKE_DECLARED);
	pin_setting(e, "bundle.qwen2.block_count", "28");
}

static void
ask_other_digest(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 0xcc);
	pin_companion(e, KIND(ADAPTER), -1);
}

static void
ask_hostile(Weightd__V1__Expectation *e)
{
	pin_model(e, "\x1b[2J");
	pin_setting(e, "run.\x1b[2J", "\x1b[2J");
}

static const struct {
	const char *name;
	void (*spoil)(Weightd__V1__Attestation *all);
	void (*ask)(Weightd__V1__Expectation *e);
} situations[] = {
	{ "match", NULL, ask_much },
	{ "mismatch", make_different, ask_much },
	{ "missing", make_missing, ask_parameters },
	{ "blind", make_blind, ask_parameters },
	{ "twins", make_twins, ask_parameters },
	{ "replaced", make_replaced, ask_content },
	{ "proven", NULL, NULL },
	{ "orphan", make_orphan, NULL },
	{ "offloaded", make_offloaded, ask_other_digest },
	{ "hostile", make_hostile, ask_hostile },
};

/* ---- golden files ---------------------------------------------------------
 */

static Weightd__V1__AttestPortResponse *
answer_of(size_t at)
{
	Weightd__V1__AttestPortResponse *answer;
	struct wd_build build = wd_build_init();
	Weightd__V1__Expectation *e =
	    situations[at].ask == NULL ? NULL : make_expectation();

	answer = wd_build_new(
	    &build, &weightd__v1__attest_port_response__descriptor);
	ck_assert_ptr_nonnull(answer);
	answer->attestation = make_attestation();
	if (situations[at].spoil != NULL)
		situations[at].spoil(answer->attestation);
	if (e != NULL)
		situations[at].ask(e);
	answer->verdict =
	    judge_or_fail(e, answer->attestation, situations[at].name);
	wd_message_free(e);
	return answer;
}

static void
update_fixture(const char *path, const struct wd_buf *text)
{
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text->data, 1, text->len, file), text->len);
	ck_assert_int_eq(fclose(file), 0);
}

static void
read_fixture(const char *path, struct wd_buf *text)
{
	FILE *file = fopen(path, "rb");
	uint8_t chunk[4096];
	size_t got;

	if (file == NULL)
		ck_abort_msg("%s cannot be opened", path);
	while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0)
		ck_assert_int_eq(wd_buf_append(text, chunk, got), WD_OK);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(texts_are_as_recorded)
{
	Weightd__V1__AttestPortResponse *answer = answer_of((size_t)_i);
	struct wd_buf text, wanted;
	char path[128];

	(void)snprintf(
	    path, sizeof(path), "fixtures/show/%s.txt", situations[_i].name);
	wd_buf_init(&text, MAX_TEXT);
	wd_buf_init(&wanted, MAX_TEXT);
	ck_assert_int_eq(wd_show_answer(answer, false, &text), WD_OK);
	if (getenv("WD_UPDATE_FIXTURES") != NULL)
		update_fixture(path, &text);
	read_fixture(path, &wanted);
	ck_assert_str_eq(wd_buf_string(&text), wd_buf_string(&wanted));
	wd_buf_release(&text);
	wd_buf_release(&wanted);
	wd_message_free(answer);
}
END_TEST

/* ---- nothing gets through --------------------------------------------------
 */

START_TEST(no_text_acts_on_the_terminal)
{
	Weightd__V1__AttestPortResponse *answer = answer_of((size_t)_i);
	struct wd_buf text;
	struct wd_slice rest;

	wd_buf_init(&text, MAX_TEXT);
	ck_assert_int_eq(wd_show_answer(answer, false, &text), WD_OK);
	for (rest = wd_buf_slice(&text); rest.len > 0;) {
		uint32_t code = 0;
		size_t len = wd_utf8_char(rest, &code);

		ck_assert_uint_gt(len, 0);
		ck_assert(code == '\n' || wd_code_point_plain(code));
		rest.data += len;
		rest.len -= len;
	}
	wd_buf_release(&text);
	wd_message_free(answer);
}
END_TEST

START_TEST(colour_adds_nothing_but_colour)
{
	Weightd__V1__AttestPortResponse *answer = answer_of((size_t)_i);
	struct wd_buf plain, coloured, stripped;
	size_t i = 0;

	wd_buf_init(&plain, MAX_TEXT);
	wd_buf_init(&coloured, MAX_TEXT);
	wd_buf_init(&stripped, MAX_TEXT);
	ck_assert_int_eq(wd_show_answer(answer, false, &plain), WD_OK);
	ck_assert_int_eq(wd_show_answer(answer, true, &coloured), WD_OK);
	ck_assert_uint_gt(coloured.len, plain.len);
	while (i < coloured.len) {
		if (coloured.data[i] == '\x1b')
			while (coloured.data[i++] != 'm')
				;
		else
			(void)wd_buf_byte(&stripped, coloured.data[i++]);
	}
	ck_assert_str_eq(wd_buf_string(&stripped), wd_buf_string(&plain));
	wd_buf_release(&plain);
	wd_buf_release(&coloured);
	wd_buf_release(&stripped);
	wd_message_free(answer);
}
END_TEST

START_TEST(an_answer_without_anything_is_shown)
{
	Weightd__V1__AttestPortResponse answer;
	struct wd_buf text;

	weightd__v1__attest_port_response__init(&answer);
	wd_buf_init(&text, MAX_TEXT);
	ck_assert_int_eq(wd_show_answer(&answer, false, &text), WD_OK);
	ck_assert_str_eq(wd_buf_string(&text), "NO VERDICT\n");
	wd_buf_release(&text);
}
END_TEST

START_TEST(a_full_buffer_is_reported)
{
	Weightd__V1__AttestPortResponse *answer = answer_of(0);
	struct wd_buf text;

	wd_buf_init(&text, 100);
	ck_assert_int_eq(wd_show_answer(answer, false, &text), WD_LIMIT);
	wd_buf_release(&text);
	wd_message_free(answer);
}
END_TEST

static void
add_class(Weightd__V1__Bundle *bundle, const char *class, const char *encoding)
{
	struct wd_build build = wd_build_init();
	Weightd__V1__ClassCount *row = WD_BUILD_ADD(
	    &build, bundle, classes, &weightd__v1__class_count__descriptor);

	make_text(&row->tensor_class, class);
	row->count =
	    wd_build_new(&build, &weightd__v1__encoding_count__descriptor);
	make_text(&row->count->encoding, encoding);
	row->count->tensor_count = 3;
	ck_assert_int_eq(build.status, WD_OK);
}

START_TEST(a_bundle_is_shown)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Bundle *bundle = model_in(all)->bundle;
	struct wd_buf text;

	bundle->parameters_known = 0;
	bundle->incomplete = 1;
	bundle->stored_element_count = 5;
	add_class(bundle, "attention", "Q6_K");
	add_class(bundle, "attention", "Q4_K");
	add_class(bundle, "norm", "F32");
	wd_buf_init(&text, MAX_TEXT);
	ck_assert_int_eq(wd_show_bundle(bundle, false, &text), WD_OK);
	ck_assert_ptr_nonnull(strstr(wd_buf_string(&text), "INCOMPLETE"));
	ck_assert_ptr_nonnull(strstr(wd_buf_string(&text),
	    "at least 7,615,616,512: some tensors could not be counted (5 "
	    "elements stored)"));
	ck_assert_ptr_nonnull(strstr(wd_buf_string(&text),
	    "attention Q6_K x 3, Q4_K x 3; norm F32 x 3"));
	wd_buf_release(&text);
	wd_message_free(all);
}
END_TEST

WD_SUITE_BEGIN("verdict show")
WD_LOOP(texts_are_as_recorded, situations);
WD_LOOP(no_text_acts_on_the_terminal, situations);
WD_LOOP(colour_adds_nothing_but_colour, situations);
WD_TEST(an_answer_without_anything_is_shown);
WD_TEST(a_full_buffer_is_reported);
WD_TEST(a_bundle_is_shown);
WD_SUITE_END
