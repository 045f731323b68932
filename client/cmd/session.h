/*
 * session.h - what every verb needs that asks agents: who we are, whom we
 * trust, on which port agents listen and how long to wait.
 *
 *	--ca FILE --cert FILE --key FILE --agent-port N --timeout SECONDS
 */
#ifndef WD_CMD_SESSION_H
#define WD_CMD_SESSION_H

#include "api/api.h"
#include "api/credentials.h"
#include "weightd/v1/service.pb-c.h"

struct wd_session_options {
	struct wd_credentials credentials;
	uint16_t agent_port; /* 0: the usual */
	int64_t timeout_ms;  /* 0: the verb's own */
	unsigned at_once;    /* hosts that are asked at once; 0: the usual */
};

struct wd_session {
	struct wd_tls *tls;
	struct wd_api_loop *loop;
};

/* Whether it is one of the flags above; each takes a value. */
bool wd_session_flag(const char *flag);
enum wd_status wd_session_set(struct wd_session_options *options,
    const char *flag, const char *value, struct wd_error *err) WD_MUST_CHECK;

/* For verbs that say what is wrong as a text: the flag is argv[0], its value
 * argv[1] if argc allows. Returns what is wrong (it may lie in `err`), or
 * NULL. */
const char *wd_session_word(struct wd_session_options *options, int argc,
    char **argv, struct wd_error *err);

/* Loads the files and makes a loop. Errors: those of credentials.h. */
enum wd_status wd_session_open(const struct wd_session_options *options,
    struct wd_session *session, struct wd_error *err) WD_MUST_CHECK;
void wd_session_close(struct wd_session *session);

/* The agent of a host. */
struct wd_target wd_session_agent(
    const struct wd_session_options *options, const struct wd_target *host);

/* "--format text|json". */
enum wd_status wd_format_set(
    bool *as_json, const char *value, struct wd_error *err) WD_MUST_CHECK;

/* "--netns ID|all". */
enum wd_status wd_netns_set(uint64_t *netns, bool *all_namespaces,
    const char *value, struct wd_error *err) WD_MUST_CHECK;

/* Prints to standard output, whole or with an error: WD_IO. */
enum wd_status wd_print_whole(
    const struct wd_buf *out, struct wd_error *err) WD_MUST_CHECK;

/* A question about a port; the caller frees it with wd_message_free. */
struct wd_asked {
	uint16_t port;
	const char *address; /* NULL: any */
	uint64_t netns;
	bool all_namespaces;
	Weightd__V1__DigestWish digests;
	const Weightd__V1__Expectation *expectation; /* copied; NULL: none */
	struct wd_slice nonce;   /* empty: one is made at random */
	const char *own_address; /* of a connection; NULL: none */
	uint16_t own_port;
};
enum wd_status wd_asked_message(const struct wd_asked *asked,
    Weightd__V1__AttestPortRequest **request,
    struct wd_error *err) WD_MUST_CHECK;

#endif
