/* client/api/trust.h: which answers are believed, and what comes of the
 * others. */
#include "api/trust.h"

#include <string.h>

#include "base/mem.h"
#include "support/attestation_make.h"
#include "support/suite.h"
#include "verdict/verdict.h"
#include "wire/build.h"

/* A question, and the right answer to it; a test spoils one thing. */
struct exchange {
	Weightd__V1__AttestPortRequest request;
	Weightd__V1__Question question;
	Weightd__V1__AttestPortResponse answer;
	Weightd__V1__Verdict *verdict; /* ours */
	bool is_trusted;
};

static uint8_t nonce[] = { 1, 2, 3 };
static char nothing[] = "";

static void
begin(struct exchange *x)
{
	weightd__v1__attest_port_request__init(&x->request);
	weightd__v1__question__init(&x->question);
	weightd__v1__attest_port_response__init(&x->answer);
	x->question.port = MAKE_PORT;
	x->question.address = nothing;
	x->request.question = &x->question;
	x->request.nonce = (ProtobufCBinaryData){ sizeof(nonce), nonce };
	x->answer.nonce = x->request.nonce;
	x->answer.attestation = make_attestation();
	x->verdict = NULL;
	ck_assert_int_eq(wd_verdict_judge(NULL, x->answer.attestation, NULL,
			     &x->answer.verdict, NULL),
	    WD_OK);
}

static void
judge(struct exchange *x, const struct wd_api_fault *fault)
{
	ck_assert_int_eq(wd_answer_judge(&x->request, fault, &x->answer,
			     &x->verdict, &x->is_trusted, NULL),
	    WD_OK);
}

static void
end(struct exchange *x)
{
	wd_message_free(x->answer.attestation);
	wd_message_free(x->answer.verdict);
	wd_message_free(x->verdict);
}

static void
expect_distrust(struct exchange *x, const char *words)
{
	judge(x, NULL);
	ck_assert(!x->is_trusted);
	ck_assert_int_eq(x->verdict->kind, VERDICT(UNREACHABLE));
	ck_assert_uint_eq(x->verdict->line, 1);
	ck_assert_msg(strstr(x->verdict->reason, "not trusted") != NULL &&
		strstr(x->verdict->reason, words) != NULL,
	    "%s", x->verdict->reason);
	ck_assert_int_eq(wd_verdict_exit_code(x->verdict), 3);
	end(x);
}

START_TEST(the_right_answer_is_believed)
{
	struct exchange x;

	begin(&x);
	judge(&x, NULL);
	ck_assert(x.is_trusted);
	ck_assert_int_eq(x.verdict->kind, VERDICT(MATCH));
	end(&x);
}
END_TEST

START_TEST(another_nonce_is_not)
{
	static uint8_t other[] = { 1, 2, 4 };
	struct exchange x;

	begin(&x);
	x.answer.nonce.data = other;
	expect_distrust(&x, "nonce");
	begin(&x);
	x.answer.nonce.len = 2;
	expect_distrust(&x, "nonce");
	begin(&x);
	x.answer.nonce.len = 0;
	expect_distrust(&x, "nonce");
}
END_TEST

START_TEST(another_question_is_not)
{
	struct exchange x;

	begin(&x);
	x.question.port = MAKE_PORT + 1;
	expect_distrust(&x, "another question");
	begin(&x);
	x.question.netns = 7;
	expect_distrust(&x, "another question");
	begin(&x);
	x.question.all_namespaces = 1;
	expect_distrust(&x, "another question");
	begin(&x);
	make_text(&x.answer.attestation->question->address, "::1");
	expect_distrust(&x, "another question");
	begin(&x);
	wd_message_free(x.answer.attestation->question);
	x.answer.attestation->question = NULL;
	expect_distrust(&x, "another question");
	begin(&x);
	wd_message_free(x.answer.attestation);
	x.answer.attestation = NULL;
	expect_distrust(&x, "no attestation");
}
END_TEST

START_TEST(another_connection_is_not)
{
	static char address[] = "10.0.0.9";
	Weightd__V1__Connection own;
	struct exchange x;

	weightd__v1__connection__init(&own);
	own.address = address;
	own.port = 40000;
	begin(&x);
	x.question.connection = &own;
	expect_distrust(&x, "another question");
	begin(&x);
	(void)make_connection(x.answer.attestation);
	expect_distrust(&x, "another question");
	begin(&x);
	(void)make_connection(x.answer.attestation);
	x.question.connection = &own;
	own.port = 40001;
	expect_distrust(&x, "another question");
	own.port = 40000;
	begin(&x);
	(void)make_connection(x.answer.attestation);
	x.question.connection = &own;
	judge(&x, NULL);
	/* The agent's verdict was about no connection, and is another line or
	 * the same; what counts here is that the echo is right. */
	ck_assert(strstr(x.verdict->reason, "another question") == NULL);
	end(&x);
}
END_TEST

START_TEST(a_mixed_look_is_not)
{
	struct exchange x;

	begin(&x);
	make_text(&x.answer.attestation->processes[0]->identity->boot_id, "b");
	expect_distrust(&x, "one boot");
	begin(&x);
	wd_message_free(x.answer.attestation->processes[0]->identity);
	x.answer.attestation->processes[0]->identity = NULL;
	expect_distrust(&x, "one boot");
	begin(&x);
	wd_message_free(x.answer.attestation->host);
	x.answer.attestation->host = NULL;
	expect_distrust(&x, "which host");
	begin(&x);
	x.answer.attestation->listeners[0]->port++;
	expect_distrust(&x, "a listener of port 8082");
	begin(&x);
	x.answer.attestation->ended_at->seconds -= 10;
	expect_distrust(&x, "ends before it begins");
}
END_TEST

START_TEST(another_verdict_is_not)
{
	struct exchange x;

	begin(&x);
	x.answer.verdict->kind = VERDICT(MISMATCH);
	expect_distrust(&x, "the agent says MISMATCH");
	begin(&x);
	x.answer.verdict->line = 4;
	expect_distrust(&x, "line 4");
	begin(&x);
	wd_message_free(x.answer.verdict);
	x.answer.verdict = NULL;
	expect_distrust(&x, "no verdict");
	/* It says MATCH about an observation that gives none. */
	begin(&x);
	x.answer.attestation->listeners_complete = 0;
	expect_distrust(&x, "the agent says MATCH");
}
END_TEST

START_TEST(faults_are_line_1)
{
	struct wd_api_fault fault;
	struct exchange x;

	begin(&x);
	wd_api_fail(&fault, WD_API_REFUSED, WD_API_CONNECT, "h:1: refused");
	judge(&x, &fault);
	ck_assert(!x.is_trusted);
	ck_assert_uint_eq(x.verdict->line, 1);
	ck_assert_ptr_nonnull(strstr(x.verdict->reason, "refused: h:1: "));
	end(&x);
	/* An agent that does not know the question was reached. */
	begin(&x);
	fault.code = WD_CONNECT_UNIMPLEMENTED;
	judge(&x, &fault);
	ck_assert_uint_eq(x.verdict->line, 2);
	ck_assert_int_eq(x.verdict->kind, VERDICT(UNVERIFIABLE));
	end(&x);
}
END_TEST

/* Out of memory is an error, and no verdict. */
START_TEST(memory_may_run_out)
{
	struct exchange x;
	enum wd_status st = WD_NOMEM;
	uint64_t n;
	int lies;

	for (lies = 0; lies < 2; lies++) {
		begin(&x);
		if (lies == 1)
			x.answer.nonce.len = 0;
		for (n = 0, st = WD_NOMEM; st != WD_OK; n++) {
			wd_mem_fail_after(n);
			st = wd_answer_judge(&x.request, NULL, &x.answer,
			    &x.verdict, &x.is_trusted, NULL);
			wd_mem_fail_after(UINT64_MAX);
			ck_assert(st == WD_OK ||
			    (st == WD_NOMEM && x.verdict == NULL));
		}
		ck_assert_uint_gt(n, 2);
		end(&x);
	}
}
END_TEST

static const struct {
	enum wd_connect_code code;
	enum wd_api_trouble trouble;
} codes[] = {
	{ WD_CONNECT_PERMISSION_DENIED, WD_API_NOT_ALLOWED },
	{ WD_CONNECT_UNAUTHENTICATED, WD_API_NOT_ALLOWED },
	{ WD_CONNECT_RESOURCE_EXHAUSTED, WD_API_RATE_LIMITED },
	{ WD_CONNECT_UNIMPLEMENTED, WD_API_NOT_KNOWN },
	{ WD_CONNECT_INTERNAL, WD_API_AGENT },
	{ WD_CONNECT_UNAVAILABLE, WD_API_AGENT },
	{ WD_CONNECT_DEADLINE_EXCEEDED, WD_API_AGENT },
};

START_TEST(codes_of_agents_are_told_apart)
{
	struct wd_connect_failure failure = { .code = codes[_i].code,
		.message = "why\x1b[2J" };
	struct wd_api_fault fault;

	wd_api_fail_agent(&fault, "h:1", &failure);
	ck_assert_int_eq(fault.trouble, codes[_i].trouble);
	ck_assert_int_eq(fault.code, codes[_i].code);
	ck_assert_ptr_nonnull(strstr(fault.message, "why\\x1b[2J"));
}
END_TEST

START_TEST(every_trouble_has_a_name)
{
	int i, k;

	for (i = 0; i <= WD_API_LOCAL; i++)
		for (k = 0; k < i; k++)
			ck_assert_str_ne(
			    wd_api_trouble_name((enum wd_api_trouble)i),
			    wd_api_trouble_name((enum wd_api_trouble)k));
	ck_assert_str_eq(
	    wd_api_trouble_name((enum wd_api_trouble)99), "unknown");
}
END_TEST

WD_SUITE_BEGIN("client trust")
WD_TEST(the_right_answer_is_believed);
WD_TEST(another_nonce_is_not);
WD_TEST(another_question_is_not);
WD_TEST(another_connection_is_not);
WD_TEST(a_mixed_look_is_not);
WD_TEST(another_verdict_is_not);
WD_TEST(faults_are_line_1);
WD_TEST(memory_may_run_out);
WD_LOOP(codes_of_agents_are_told_apart, codes);
WD_TEST(every_trouble_has_a_name);
WD_SUITE_END
