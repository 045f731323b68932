#include "evidence/remedy.h"

struct wd_refusal
wd_look_remedy(
    const struct wd_look *look, enum wd_refused about, enum wd_status why)
{
	const char *remedy = "ask again; if it stays so, the agent's own log "
			     "and the kernel's may tell more";

	switch (why) {
	case WD_DENIED:
		return wd_host_refusal(look->with->host, about);
	case WD_TIMEDOUT:
		remedy = "allow more time";
		break;
	case WD_LIMIT:
		remedy = "there is more than the agent looks into (see "
			 "base/limits.h)";
		break;
	case WD_GONE:
	case WD_NOTFOUND:
	case WD_CHANGED:
	case WD_BUSY:
	case WD_STALE:
		remedy = "it moved while it was looked at; ask again";
		break;
	case WD_UNSUPPORTED:
		remedy = "this system, or this version of the agent, cannot "
			 "tell; a newer one may";
		break;
	case WD_OK:
	case WD_NOMEM:
	case WD_INVALID:
	case WD_MALFORMED:
	case WD_TRUNCATED:
	case WD_IO:
	case WD_CORRUPT:
		break;
	}
	return (struct wd_refusal){ wd_status_name(why), remedy };
}
