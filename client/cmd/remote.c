#include "cmd/remote.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/trust.h"
#include "base/escape.h"
#include "base/mem.h"
#include "verdict/verdict.h"
#include "wire/build.h"

#define TIMEOUT_MS 30000
#define HASHING_TIMEOUT_MS 900000

enum wd_status
wd_remote_is(const char *word, bool *is_remote, struct wd_error *err)
{
	char shown[128];

	*is_remote = wd_target_looks_like(word);
	if (!*is_remote || access(word, F_OK) != 0)
		return WD_OK;
	wd_escape_short(shown, sizeof(shown), wd_slice_text(word));
	return wd_fail(err, WD_INVALID,
	    "\"%s\" is a file here, and could be a host and a port; write "
	    "./%s for the file",
	    shown, shown);
}

static int
report(const char *word, const char *message, int code)
{
	char shown[128];

	(void)fprintf(stderr, "weightctl: %s: %s\n",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(word)),
	    message);
	return code;
}

static int
report_error(const char *word, const struct wd_error *err)
{
	return report(word, err->message,
	    err->status == WD_INVALID || err->status == WD_GONE ||
		    err->status == WD_MALFORMED ?
		WD_EXIT_USAGE :
		WD_EXIT_UNVERIFIABLE);
}

/* ---- the model ----------------------------------------------------------- */

/* Where the one model's bundle hangs. NULL, and `*count` says how many models
 * there are, when it is not one. */
static Weightd__V1__Bundle **
find_model(const Weightd__V1__Attestation *all, size_t *count)
{
	Weightd__V1__Bundle **found = NULL;
	size_t i, k;

	*count = 0;
	for (i = 0; i < all->n_groups; i++)
		for (k = 0; k < all->groups[i]->n_candidates; k++) {
			Weightd__V1__Candidate *one =
			    all->groups[i]->candidates[k];

			if (one->bundle == NULL ||
			    one->bundle->kind !=
				WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_MODEL)
				continue;
			found = &one->bundle;
			(*count)++;
		}
	return *count == 1 ? found : NULL;
}

static int
take_model(const char *word, const Weightd__V1__Attestation *all,
    const Weightd__V1__Verdict *verdict, Weightd__V1__Bundle **bundle)
{
	Weightd__V1__Bundle **found;
	size_t count;

	if (verdict->kind == WEIGHTD__V1__VERDICT_KIND__VERDICT_KIND_MISSING)
		return report(word, verdict->reason, WD_EXIT_MISMATCH);
	found = find_model(all, &count);
	if (found == NULL && count > 1)
		return report(word,
		    "several models serve behind it; see them with `weightctl "
		    "attest`",
		    WD_EXIT_UNVERIFIABLE);
	if (found == NULL)
		return report(word, verdict->reason, WD_EXIT_UNVERIFIABLE);
	*bundle = wd_steal(found);
	if (verdict->kind == WEIGHTD__V1__VERDICT_KIND__VERDICT_KIND_MATCH)
		return WD_EXIT_MATCH;
	(void)fputs("weightctl: not proven, shown all the same\n", stderr);
	return report(word, verdict->reason, WD_EXIT_UNVERIFIABLE);
}

/* ---- asking -------------------------------------------------------------- */

static int
ask(const struct wd_session_options *options, struct wd_session *session,
    const char *word, const struct wd_target *target,
    const Weightd__V1__AttestPortRequest *request, Weightd__V1__Bundle **bundle)
{
	struct wd_api_request call = { .method = "AttestPort",
		.question = &request->base,
		.answer = &weightd__v1__attest_port_response__descriptor,
		.timeout_ms = options->timeout_ms };
	WD_CLEANUP(wd_message_free_scoped)
	Weightd__V1__AttestPortResponse *answer = NULL;
	WD_CLEANUP(wd_message_free_scoped) Weightd__V1__Verdict *verdict = NULL;
	ProtobufCMessage *message = NULL;
	struct wd_api_fault fault;
	bool is_trusted = false;
	struct wd_error err;

	wd_error_init(&err);
	call.agent = wd_session_agent(options, target);
	if (wd_api_ask(session->loop, &call, &message, &fault))
		answer = (Weightd__V1__AttestPortResponse *)message;
	if (wd_answer_judge(request, answer == NULL ? &fault : NULL, answer,
		&verdict, &is_trusted, &err) != WD_OK)
		return report_error(word, &err);
	if (!is_trusted)
		return report(
		    word, verdict->reason, wd_verdict_exit_code(verdict));
	return take_model(word, answer->attestation, verdict, bundle);
}

int
wd_remote_bundle(const struct wd_session_options *given, const char *word,
    Weightd__V1__DigestWish digests, Weightd__V1__Bundle **bundle)
{
	WD_CLEANUP(wd_message_free_scoped)
	Weightd__V1__AttestPortRequest *request = NULL;
	struct wd_session_options options = *given;
	struct wd_session session = { NULL, NULL };
	struct wd_asked asked = { .digests = digests };
	struct wd_target target = { .port = 0 };
	struct wd_error err;
	enum wd_status st;
	int code;

	wd_error_init(&err);
	if (options.timeout_ms == 0)
		options.timeout_ms =
		    digests == WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_WAIT ?
		    HASHING_TIMEOUT_MS :
		    TIMEOUT_MS;
	st = wd_target_parse(word, &target, &err);
	asked.port = target.port;
	if (st == WD_OK)
		st = wd_asked_message(&asked, &request, &err);
	if (st == WD_OK)
		st = wd_session_open(&options, &session, &err);
	code = st == WD_OK ?
	    ask(&options, &session, word, &target, request, bundle) :
	    report_error(word, &err);
	wd_session_close(&session);
	return code;
}
