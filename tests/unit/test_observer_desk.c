/* The desk: questions in, answers out, in the right thread, once; and what
 * becomes of them when nobody waits, when there are too many, when time runs
 * out and when readers end. */
#include "observer/desk.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "support/desk_scene.h"
#include "support/suite.h"
#include "wire/build.h"

#define WISH(name) WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_##name
#define LONG_MS 60000

static struct desk_scene d;
static struct desk_answer a, b, c;

static void
set_up(void)
{
	desk_begin(&d);
}

static void
tear_down(void)
{
	desk_end(&d);
	desk_answer_release(&a);
	desk_answer_release(&b);
	desk_answer_release(&c);
}

/* The state of the content digest in an answer about the scene's port. */
static Weightd__V1__DigestState
digest_state(const struct desk_answer *answer)
{
	Weightd__V1__AttestPortResponse *response = desk_message(
	    answer, &weightd__v1__attest_port_response__descriptor);
	Weightd__V1__DigestState state;

	ck_assert_uint_eq(response->attestation->n_groups, 1);
	ck_assert_uint_eq(response->attestation->groups[0]->n_candidates, 1);
	state = response->attestation->groups[0]
		    ->candidates[0]
		    ->bundle->content_digest_state;
	wd_message_free(response);
	return state;
}

START_TEST(answers_about_a_port)
{
	Weightd__V1__AttestPortResponse *response;

	desk_open(&d);
	ck_assert(wd_observer_is_ready(d.observer));
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &a), WD_OK);
	/* Never before the function has returned. */
	ck_assert_uint_eq(a.calls, 0);
	ck_assert_uint_ne(a.ticket, 0);
	desk_wait(&d, &a);
	response =
	    desk_message(&a, &weightd__v1__attest_port_response__descriptor);
	ck_assert_int_eq(response->attestation->grade, GRADE(RESIDENT));
	ck_assert_ptr_null(response->verdict);
	ck_assert_uint_eq(response->nonce.len, 0);
	wd_message_free(response);
	ck_assert_int_eq(digest_state(&a), STATE(NONE));
}
END_TEST

START_TEST(answers_who_it_is)
{
	Weightd__V1__GetHostRequest request =
	    WEIGHTD__V1__GET_HOST_REQUEST__INIT;
	struct desk_answer answer = { 0 };
	Weightd__V1__GetHostResponse *response;

	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask(&d, WD_CALL_GET_HOST, &request.base, 60000, &answer),
	    WD_OK);
	desk_wait(&d, &answer);
	response =
	    desk_message(&answer, &weightd__v1__get_host_response__descriptor);
	ck_assert_str_eq(response->host->hostname, "box");
	ck_assert_int_eq(
	    response->agent_started_at->seconds, SCENE_NOW / WD_NS_PER_SECOND);
	wd_message_free(response);
	desk_answer_release(&answer);
}
END_TEST

START_TEST(gives_a_sign_of_life)
{
	Weightd__V1__GetHostRequest request =
	    WEIGHTD__V1__GET_HOST_REQUEST__INIT;
	struct desk_answer answer = { 0 };

	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask(&d, WD_CALL_SIGN_OF_LIFE, &request.base, 60000, &answer),
	    WD_OK);
	desk_wait(&d, &answer);
	ck_assert_int_eq(answer.status, WD_OK);
	ck_assert_uint_eq(answer.bytes.len, 0);
	desk_answer_release(&answer);
}
END_TEST

START_TEST(describes_what_it_may)
{
	Weightd__V1__DescribeBundleRequest request =
	    WEIGHTD__V1__DESCRIBE_BUNDLE_REQUEST__INIT;
	static const char *const roots[] = { "/models" };
	char path[] = "/models/m.gguf", other[] = "/m/none";
	struct desk_answer answer = { 0 };
	Weightd__V1__DescribeBundleResponse *response;

	scene_process(&d.scene, 900, 1);
	scene_path(&d.scene, 900, path, "m.gguf");
	scene_put(&d.scene, "/processes/900/folders/~1models", "'.'");
	scene_put(
	    &d.scene, "/processes/900/folders/~1models~1m.gguf", "'!invalid'");
	d.options.model_roots = roots;
	d.options.model_root_count = 1;
	desk_open(&d);
	request.path = (ProtobufCBinaryData){ strlen(path), (uint8_t *)path };
	request.digests = WISH(WAIT);
	ck_assert_int_eq(desk_ask(&d, WD_CALL_DESCRIBE_BUNDLE, &request.base,
			     60000, &answer),
	    WD_OK);
	desk_wait(&d, &answer);
	response = desk_message(
	    &answer, &weightd__v1__describe_bundle_response__descriptor);
	ck_assert_int_eq(
	    response->bundle->files[0]->digest_state, STATE(COMPUTED));
	wd_message_free(response);
	desk_answer_release(&answer);
	request.path = (ProtobufCBinaryData){ strlen(other), (uint8_t *)other };
	ck_assert_int_eq(desk_ask(&d, WD_CALL_DESCRIBE_BUNDLE, &request.base,
			     60000, &answer),
	    WD_OK);
	desk_wait(&d, &answer);
	ck_assert_int_eq(answer.status, WD_DENIED);
	desk_answer_release(&answer);
}
END_TEST

START_TEST(tickets_are_not_used_again)
{
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &a), WD_OK);
	desk_wait(&d, &a);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &b), WD_OK);
	ck_assert_uint_gt(b.ticket, a.ticket);
	/* Of one that is over already: nothing happens. */
	wd_observer_cancel(d.observer, a.ticket);
	wd_observer_cancel(d.observer, 12345);
	desk_wait(&d, &b);
}
END_TEST

/* ---- what is no question --------------------------------------------------
 */

static enum wd_status
ask_bytes(int call, const char *bytes, size_t len)
{
	struct wd_deadline deadline = wd_deadline_in(&wd_clock_system, LONG_MS);
	wd_ticket ticket;

	return wd_observer_ask(d.observer, (enum wd_call)call,
	    (struct wd_slice){ (const uint8_t *)bytes, len }, &deadline, NULL,
	    NULL, &ticket, NULL);
}

START_TEST(bytes_are_validated)
{
	static char large[70000];

	desk_open(&d);
	ck_assert_int_eq(
	    ask_bytes(WD_CALL_ATTEST_PORT, "\x0a\xff", 2), WD_TRUNCATED);
	/* Field 99, which the schema does not have. */
	ck_assert_int_eq(
	    ask_bytes(WD_CALL_ATTEST_PORT, "\x98\x06\x01", 3), WD_UNSUPPORTED);
	ck_assert_int_eq(ask_bytes(99, "", 0), WD_UNSUPPORTED);
	ck_assert_int_eq(
	    ask_bytes(WD_CALL_ATTEST_PORT, large, sizeof(large)), WD_LIMIT);
}
END_TEST

START_TEST(questions_that_are_wrong)
{
	Weightd__V1__AttestPortRequest request;
	Weightd__V1__Question question;
	Weightd__V1__Expectation expectation;
	uint8_t nonce = 7;

	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, 70000, WISH(CACHED), LONG_MS, &a), WD_OK);
	desk_wait(&d, &a);
	ck_assert_int_eq(a.status, WD_INVALID);
	ck_assert_uint_eq(a.bytes.len, 0);
	ck_assert_ptr_nonnull(strstr(a.err.message, "70000"));

	weightd__v1__attest_port_request__init(&request);
	ck_assert_int_eq(
	    desk_ask(&d, WD_CALL_ATTEST_PORT, &request.base, LONG_MS, &b),
	    WD_OK);
	desk_wait(&d, &b);
	ck_assert_int_eq(b.status, WD_INVALID);

	weightd__v1__question__init(&question);
	question.port = SCENE_PORT;
	request.question = &question;
	request.nonce = (ProtobufCBinaryData){ 1, &nonce };
	ck_assert_int_eq(
	    desk_ask(&d, WD_CALL_ATTEST_PORT, &request.base, LONG_MS, &c),
	    WD_OK);
	desk_wait(&d, &c);
	ck_assert_int_eq(c.status, WD_INVALID);

	request.nonce.len = 0;
	weightd__v1__expectation__init(&expectation);
	request.expectation = &expectation;
	desk_answer_release(&a);
	ck_assert_int_eq(
	    desk_ask(&d, WD_CALL_ATTEST_PORT, &request.base, LONG_MS, &a),
	    WD_OK);
	desk_wait(&d, &a);
	ck_assert_int_eq(a.status, WD_INVALID);
}
END_TEST

/* ---- too many, too late, nobody there -------------------------------------
 */

START_TEST(busy_beyond_the_open_questions)
{
	d.options.answerers = 1;
	d.options.open_questions = 2;
	atomic_store(&d.shut, true);
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &a), WD_OK);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &b), WD_OK);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &c), WD_BUSY);
	atomic_store(&d.shut, false);
	desk_wait(&d, &a);
	desk_wait(&d, &b);
	desk_answer_release(&c);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &c), WD_OK);
	desk_wait(&d, &c);
	ck_assert_int_eq(c.status, WD_OK);
}
END_TEST

START_TEST(a_look_that_hangs_delays_no_other)
{
	Weightd__V1__AttestPortResponse *response;

	atomic_store(&d.shut, true);
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &a), WD_OK);
	desk_until(&d.describing, 1);
	ck_assert_int_eq(
	    desk_ask_port(&d, 9, WISH(CACHED), LONG_MS, &b), WD_OK);
	desk_wait(&d, &b);
	ck_assert_uint_eq(a.calls, 0);
	response =
	    desk_message(&b, &weightd__v1__attest_port_response__descriptor);
	ck_assert_uint_eq(response->attestation->n_groups, 0);
	wd_message_free(response);
	atomic_store(&d.shut, false);
	desk_wait(&d, &a);
	ck_assert_int_eq(a.status, WD_OK);
}
END_TEST

START_TEST(the_cancelled_in_the_queue)
{
	d.options.answerers = 1;
	d.options.open_questions = 2;
	atomic_store(&d.shut, true);
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &a), WD_OK);
	desk_until(&d.describing, 1);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &b), WD_OK);
	wd_observer_cancel(d.observer, b.ticket);
	/* Its place is free. */
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &c), WD_OK);
	atomic_store(&d.shut, false);
	desk_wait(&d, &c);
	ck_assert_uint_eq(a.calls, 1);
	ck_assert_uint_eq(b.calls, 0);
	ck_assert_int_eq(atomic_load(&d.describes), 2);
}
END_TEST

/* The look ends although its own time is not over: for it, it is. */
START_TEST(the_cancelled_that_is_being_answered)
{
	d.options.answerers = 1;
	d.options.open_questions = 1;
	atomic_store(&d.shut, true);
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &a), WD_OK);
	desk_until(&d.describing, 1);
	wd_observer_cancel(d.observer, a.ticket);
	wd_observer_cancel(d.observer, a.ticket);
	ck_assert_int_eq(
	    desk_ask_port(&d, 9, WISH(CACHED), LONG_MS, &b), WD_OK);
	desk_wait(&d, &b);
	ck_assert_int_eq(b.status, WD_OK);
	ck_assert_uint_eq(a.calls, 0);
}
END_TEST

START_TEST(the_cancelled_that_is_answered)
{
	struct pollfd wake;

	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &a), WD_OK);
	wake = (struct pollfd){ wd_desk_wake_fd(d.desk), POLLIN, 0 };
	ck_assert_int_eq(poll(&wake, 1, LONG_MS), 1);
	wd_observer_cancel(d.observer, a.ticket);
	desk_deliver(&d);
	ck_assert_uint_eq(a.calls, 0);
	/* And the loop sleeps again. */
	ck_assert_int_eq(poll(&wake, 1, 0), 0);
}
END_TEST

START_TEST(too_late_before_anybody_looked)
{
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), 0, &a), WD_OK);
	desk_wait(&d, &a);
	ck_assert_int_eq(a.status, WD_TIMEDOUT);
	ck_assert_int_eq(a.err.status, WD_TIMEDOUT);
}
END_TEST

/* An answer that names what it could not look at, rather than none. */
START_TEST(too_late_while_looking)
{
	Weightd__V1__AttestPortResponse *response;

	atomic_store(&d.shut, true);
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), 200, &a), WD_OK);
	desk_wait(&d, &a);
	response =
	    desk_message(&a, &weightd__v1__attest_port_response__descriptor);
	ck_assert_uint_gt(response->attestation->n_blind_spots, 0);
	ck_assert_int_eq(response->attestation->grade, GRADE(BLIND));
	wd_message_free(response);
}
END_TEST

/* ---- digests --------------------------------------------------------------
 */

START_TEST(digests_begin_in_the_background)
{
	atomic_store(&d.hash_shut, true);
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(START), LONG_MS, &a), WD_OK);
	desk_wait(&d, &a);
	ck_assert_int_eq(digest_state(&a), STATE(PENDING));
	/* One job, however many ask. */
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(START), LONG_MS, &b), WD_OK);
	desk_wait(&d, &b);
	desk_until(&d.hashing, 1);
	atomic_store(&d.hash_shut, false);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(WAIT), LONG_MS, &c), WD_OK);
	desk_wait(&d, &c);
	ck_assert_int_eq(atomic_load(&d.hashes), 1);
	ck_assert_int_ne(digest_state(&c), STATE(PENDING));
	ck_assert_int_ne(digest_state(&c), STATE(NONE));
}
END_TEST

START_TEST(what_is_cached_is_not_hashed_again_unless_asked)
{
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(WAIT), LONG_MS, &a), WD_OK);
	desk_wait(&d, &a);
	ck_assert_int_eq(digest_state(&a), STATE(COMPUTED));
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &b), WD_OK);
	desk_wait(&d, &b);
	ck_assert_int_eq(digest_state(&b), STATE(CACHED));
	d.scene.real_ns++;
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(FRESH), LONG_MS, &c), WD_OK);
	desk_wait(&d, &c);
	ck_assert_int_eq(digest_state(&c), STATE(COMPUTED));
	ck_assert_int_eq(atomic_load(&d.hashes), 2);
}
END_TEST

/* Who waits for a digest must not keep out who does not. */
START_TEST(those_that_wait_leave_room)
{
	atomic_store(&d.hash_shut, true);
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(WAIT), LONG_MS, &a), WD_OK);
	desk_until(&d.hashing, 1);
	/* No lane for it; its time runs out, and it hears what is known. */
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(WAIT), 1000, &b), WD_OK);
	ck_assert_int_eq(
	    desk_ask_port(&d, 9, WISH(CACHED), LONG_MS, &c), WD_OK);
	desk_wait(&d, &c);
	ck_assert_uint_eq(a.calls + b.calls, 0);
	desk_wait(&d, &b);
	ck_assert_int_eq(digest_state(&b), STATE(PENDING));
	ck_assert_uint_eq(a.calls, 0);
	atomic_store(&d.hash_shut, false);
	desk_wait(&d, &a);
	ck_assert_int_eq(digest_state(&a), STATE(COMPUTED));
}
END_TEST

/* ---- readers --------------------------------------------------------------
 */

START_TEST(a_reader_that_ended_is_replaced)
{
	Weightd__V1__AttestPortResponse *response;

	desk_open(&d);
	atomic_store(&d.ends, 1);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &a), WD_OK);
	desk_wait(&d, &a);
	response =
	    desk_message(&a, &weightd__v1__attest_port_response__descriptor);
	ck_assert_int_eq(response->attestation->grade, GRADE(RESIDENT));
	wd_message_free(response);
	ck_assert_int_eq(atomic_load(&d.readers), 2);
}
END_TEST

/* Never "no weights": nobody could look. */
START_TEST(readers_that_always_end)
{
	Weightd__V1__AttestPortResponse *response;

	desk_open(&d);
	atomic_store(&d.ends, 1000);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &a), WD_OK);
	desk_wait(&d, &a);
	response =
	    desk_message(&a, &weightd__v1__attest_port_response__descriptor);
	ck_assert_int_eq(response->attestation->grade, GRADE(BLIND));
	wd_message_free(response);
}
END_TEST

/* ---- life -----------------------------------------------------------------
 */

START_TEST(freed_while_questions_are_open)
{
	atomic_store(&d.shut, true);
	atomic_store(&d.hash_shut, true);
	desk_open(&d);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(WAIT), LONG_MS, &a), WD_OK);
	desk_until(&d.describing, 1);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &b), WD_OK);
	ck_assert_int_eq(
	    desk_ask_port(&d, SCENE_PORT, WISH(CACHED), LONG_MS, &c), WD_OK);
	wd_observer_free(&d.observer);
	ck_assert_uint_eq(a.calls + b.calls + c.calls, 0);
}
END_TEST

static enum wd_status
no_host(void *ctx, struct wd_host **host, struct wd_error *err)
{
	(void)ctx;
	(void)host;
	return wd_fail(err, WD_DENIED, "no /proc");
}

START_TEST(options_that_are_wrong)
{
	struct wd_desk_options good = d.options, bad = good;

	bad.answerers = 0;
	ck_assert_int_eq(wd_desk_start(&bad, &d.desk, NULL), WD_INVALID);
	bad.answerers = WD_MAX_ANSWERERS + 1;
	ck_assert_int_eq(wd_desk_start(&bad, &d.desk, NULL), WD_INVALID);
	bad = good;
	bad.hashers = 0;
	ck_assert_int_eq(wd_desk_start(&bad, &d.desk, NULL), WD_INVALID);
	bad.hashers = WD_WORK_THREADS + 1;
	ck_assert_int_eq(wd_desk_start(&bad, &d.desk, NULL), WD_INVALID);
	bad = good;
	bad.open_questions = 0;
	ck_assert_int_eq(wd_desk_start(&bad, &d.desk, NULL), WD_INVALID);
	bad = good;
	bad.new_host = no_host;
	ck_assert_int_eq(wd_desk_start(&bad, &d.desk, NULL), WD_DENIED);
}
END_TEST

/* Many questions at once, some cancelled at any moment: each of the others is
 * answered once. For the thread sanitiser. */
START_TEST(many_at_once)
{
	static struct desk_answer many[400];
	size_t i, asked = 0, cancelled = 0, answered = 0, busy = 0;

	d.options.answerers = 4;
	d.options.hashers = 2;
	d.options.open_questions = 32;
	desk_open(&d);
	for (i = 0; i < WD_COUNT(many); i++) {
		enum wd_status st = desk_ask_port(&d, i % 3 ? SCENE_PORT : 9,
		    i % 5 ? WISH(CACHED) : WISH(START), LONG_MS, &many[i]);

		if (st == WD_BUSY) {
			busy++;
			(void)usleep(2000);
		}
		asked += st == WD_OK;
		if (st == WD_OK && i % 7 == 0) {
			(void)usleep((useconds_t)(i % 4) * 500);
			cancelled += many[i].calls == 0;
			wd_observer_cancel(d.observer, many[i].ticket);
			many[i].ticket = 0;
		}
		desk_deliver(&d);
	}
	for (i = 0; i < WD_COUNT(many); i++) {
		if (many[i].ticket != 0)
			desk_wait(&d, &many[i]);
		ck_assert_uint_le(many[i].calls, 1);
		answered += many[i].calls;
		desk_answer_release(&many[i]);
	}
	ck_assert_uint_eq(asked + busy, WD_COUNT(many));
	ck_assert_uint_eq(answered + cancelled, asked);
}
END_TEST

WD_SUITE_BEGIN("observer desk")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(answers_about_a_port);
WD_TEST(answers_who_it_is);
WD_TEST(gives_a_sign_of_life);
WD_TEST(describes_what_it_may);
WD_TEST(tickets_are_not_used_again);
WD_TEST(bytes_are_validated);
WD_TEST(questions_that_are_wrong);
WD_TEST(busy_beyond_the_open_questions);
WD_TEST(a_look_that_hangs_delays_no_other);
WD_TEST(the_cancelled_in_the_queue);
WD_TEST(the_cancelled_that_is_being_answered);
WD_TEST(the_cancelled_that_is_answered);
WD_TEST(too_late_before_anybody_looked);
WD_TEST(too_late_while_looking);
WD_TEST(digests_begin_in_the_background);
WD_TEST(what_is_cached_is_not_hashed_again_unless_asked);
WD_TEST(those_that_wait_leave_room);
WD_TEST(a_reader_that_ended_is_replaced);
WD_TEST(readers_that_always_end);
WD_TEST(freed_while_questions_are_open);
WD_TEST(options_that_are_wrong);
WD_TEST(many_at_once);
WD_SUITE_END
