/*
 * response.h - the bytes of an HTTP/1.1 response, as they come in (RFC 9112).
 * Pure.
 *
 * As strict as the agent is with requests (wire/http.h): a body has a length or
 * chunks, never both and never "until the connection ends", for then a cut
 * answer would look whole. What is not asked for (a content coding) is
 * refused. Head and body have caps.
 */
#ifndef WD_API_RESPONSE_H
#define WD_API_RESPONSE_H

#include "wire/http.h"

enum wd_response_type {
	WD_RESPONSE_OTHER,
	WD_RESPONSE_PROTO, /* application/proto */
	WD_RESPONSE_JSON,  /* application/json */
};

struct wd_response {
	enum {
		WD_RESPONSE_HEAD,
		WD_RESPONSE_LENGTH,
		WD_RESPONSE_CHUNKS,
		WD_RESPONSE_DONE,
	} state;
	struct wd_buf head;
	struct wd_buf body;
	unsigned interim; /* responses of 1xx so far */
	int status;
	enum wd_response_type type;
	bool keep_alive;
	uint32_t retry_after_s; /* 0: it does not say */
	uint64_t left;          /* of a body with a length */
	struct wd_http_chunks chunks;
};

/* A response that has not begun; its body may be so large. */
void wd_response_init(struct wd_response *response, size_t max_body);
void wd_response_release(struct wd_response *response);

/* Takes bytes from the front of `in`; `*used` says how many, also when it is
 * DONE: what is left belongs to no answer of ours. REFUSED: `*why` (static)
 * says what is wrong. */
enum wd_http_progress wd_response_take(struct wd_response *response,
    struct wd_slice in, size_t *used, const char **why) WD_MUST_CHECK;

/* Whether anything of it has come. */
bool wd_response_has_begun(const struct wd_response *response);

#endif
