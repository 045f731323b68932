/*
 * fault.h - why a call to an agent has no answer: one kind for each remedy.
 */
#ifndef WD_API_FAULT_H
#define WD_API_FAULT_H

#include "base/error.h"
#include "wire/connect.h"

enum wd_api_trouble {
	WD_API_FINE,
	WD_API_NAME_UNKNOWN,   /* the name leads to no address */
	WD_API_NAME_TEMPORARY, /* the resolver could not tell just now */
	WD_API_REFUSED,        /* nothing listens there */
	WD_API_UNREACHABLE,    /* no way to the address */
	WD_API_TIMEOUT,        /* the deadline came; see the phase */
	WD_API_NO_TLS,         /* what listens there speaks no TLS 1.3 */
	WD_API_CERT_EXPIRED,   /* of the agent */
	WD_API_CERT_NOT_YET_VALID,
	WD_API_CERT_WRONG_NAME,
	WD_API_CERT_UNKNOWN_CA,
	WD_API_CERT_REVOKED,
	WD_API_CERT_OTHER,
	WD_API_OWN_CERT,     /* the agent does not take ours */
	WD_API_CLOSED,       /* the agent hung up before it answered */
	WD_API_NOT_ALLOWED,  /* permission_denied, unauthenticated */
	WD_API_RATE_LIMITED, /* resource_exhausted */
	WD_API_NOT_KNOWN,    /* unimplemented: it does not know what is asked */
	WD_API_PROTOCOL,     /* its answer breaks the protocol */
	WD_API_AGENT,        /* it answered, and could not do it */
	WD_API_LOCAL,        /* this machine's own fault */
};

/* How far the call had come. */
enum wd_api_phase {
	WD_API_LOOKUP,
	WD_API_CONNECT,
	WD_API_HANDSHAKE,
	WD_API_ANSWER,
};

struct wd_api_fault {
	enum wd_api_trouble trouble;
	enum wd_api_phase phase;
	enum wd_connect_code code; /* what the agent said, or WD_CONNECT_OK */
	char message[WD_ERROR_MESSAGE_BYTES]; /* thing, reason, remedy; escaped
					       */
};

/* A word for programs: "refused", "certificate_expired". Never NULL. */
const char *wd_api_trouble_name(enum wd_api_trouble trouble);

/* What the phase was about: "connecting". Never NULL. */
const char *wd_api_phase_name(enum wd_api_phase phase);

/* Fills a fault; the remedy that belongs to the trouble is put behind the
 * words when there is room. */
void wd_api_fail(struct wd_api_fault *fault, enum wd_api_trouble trouble,
    enum wd_api_phase phase, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A fault from what the agent, `target` by name, said. */
void wd_api_fail_agent(struct wd_api_fault *fault, const char *target,
    const struct wd_connect_failure *failure);

#endif
