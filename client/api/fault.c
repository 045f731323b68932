#include "api/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

static const struct {
	const char *name;
	const char *remedy; /* "": the words say it */
} troubles[] = {
	[WD_API_FINE] = { "none", "" },
	[WD_API_NAME_UNKNOWN] = { "name_unknown",
	    "check the spelling, or give an address" },
	[WD_API_NAME_TEMPORARY] = { "name_temporary",
	    "try again; check the name servers of this machine" },
	[WD_API_REFUSED] = { "refused",
	    "nothing listens there: is weightd running, and is this its port "
	    "(--agent-port)?" },
	[WD_API_UNREACHABLE] = { "unreachable",
	    "check the network, a firewall, and on macOS whether this program "
	    "may use the local network" },
	[WD_API_TIMEOUT] = { "timeout",
	    "try again, or give it more time with --timeout" },
	[WD_API_NO_TLS] = { "no_tls",
	    "is this the port of an agent (--agent-port)?" },
	[WD_API_CERT_EXPIRED] = { "certificate_expired",
	    "make a new one for that host" },
	[WD_API_CERT_NOT_YET_VALID] = { "certificate_not_yet_valid",
	    "set the clock that is wrong" },
	[WD_API_CERT_WRONG_NAME] = { "certificate_wrong_name",
	    "ask by a name that it holds, or make one with this name" },
	[WD_API_CERT_UNKNOWN_CA] = { "certificate_unknown_ca",
	    "is --ca the CA of that agent?" },
	[WD_API_CERT_REVOKED] = { "certificate_revoked",
	    "make a new one for that host" },
	[WD_API_CERT_OTHER] = { "certificate_refused",
	    "see what it is with `weightctl pki show`" },
	[WD_API_OWN_CERT] = { "own_certificate_refused",
	    "see what --cert is with `weightctl pki show`; it must be of the "
	    "agent's CA and for clients" },
	[WD_API_CLOSED] = { "closed",
	    "it may not take our certificate; its log says why" },
	[WD_API_NOT_ALLOWED] = { "not_allowed",
	    "the agent's configuration says who may ask what" },
	[WD_API_RATE_LIMITED] = { "rate_limited", "ask again later" },
	[WD_API_NOT_KNOWN] = { "not_known",
	    "the agent is older than this program, or is none" },
	[WD_API_PROTOCOL] = { "protocol",
	    "is this the port of an agent (--agent-port)?" },
	[WD_API_AGENT] = { "agent_failed", "" },
	[WD_API_LOCAL] = { "local", "" },
};

const char *
wd_api_trouble_name(enum wd_api_trouble trouble)
{
	if ((size_t)trouble >= sizeof(troubles) / sizeof(troubles[0]))
		return "unknown";
	return troubles[trouble].name;
}

const char *
wd_api_phase_name(enum wd_api_phase phase)
{
	switch (phase) {
	case WD_API_LOOKUP:
		return "looking up the name";
	case WD_API_CONNECT:
		return "connecting";
	case WD_API_HANDSHAKE:
		return "the TLS handshake";
	case WD_API_ANSWER:
		break;
	}
	return "waiting for the answer";
}

void
wd_api_fail(struct wd_api_fault *fault, enum wd_api_trouble trouble,
    enum wd_api_phase phase, const char *format, ...)
{
	char words[WD_ERROR_MESSAGE_BYTES];
	const char *remedy = troubles[trouble].remedy;
	va_list args;

	va_start(args, format);
	(void)vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	*fault = (struct wd_api_fault){ .trouble = trouble, .phase = phase };
	/* The remedy is left out rather than cut. */
	if (strlen(words) + strlen(remedy) + 3 > sizeof(fault->message))
		remedy = "";
	(void)snprintf(fault->message, sizeof(fault->message), "%s%s%s", words,
	    remedy[0] == '\0' ? "" : "; ", remedy);
}

static enum wd_api_trouble
trouble_of(enum wd_connect_code code)
{
	if (code == WD_CONNECT_PERMISSION_DENIED ||
	    code == WD_CONNECT_UNAUTHENTICATED)
		return WD_API_NOT_ALLOWED;
	if (code == WD_CONNECT_RESOURCE_EXHAUSTED)
		return WD_API_RATE_LIMITED;
	if (code == WD_CONNECT_UNIMPLEMENTED)
		return WD_API_NOT_KNOWN;
	return WD_API_AGENT;
}

void
wd_api_fail_agent(struct wd_api_fault *fault, const char *target,
    const struct wd_connect_failure *failure)
{
	char shown[400];

	wd_escape_short(shown, sizeof(shown), wd_slice_text(failure->message));
	wd_api_fail(fault, trouble_of(failure->code), WD_API_ANSWER,
	    "%s: the agent says %s%s%s", target,
	    wd_connect_code_name(failure->code), shown[0] == '\0' ? "" : ": ",
	    shown);
	fault->code = failure->code;
}
