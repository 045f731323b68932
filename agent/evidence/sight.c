#include "evidence/sight.h"

#include "base/mem.h"
#include "evidence/message.h"
#include "host/rights.h"

#define SCOPE(name) WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_##name

/* Processes whose mappings are tried: many have none to show. */
#define MOST_TRIED 64

struct sight {
	const struct wd_evidence *with;
	const struct wd_deadline *deadline;
	struct wd_host_identity host;
	struct wd_rights rights;
	struct wd_listeners listeners;
	struct wd_holders holders;
	struct wd_pids pids;
	struct wd_blinds objects;
};

static void
sight_release(struct sight *sight)
{
	wd_listeners_release(&sight->listeners);
	wd_holders_release(&sight->holders);
	wd_pids_release(&sight->pids);
	wd_blinds_release(&sight->objects);
}

/* ---- looking ------------------------------------------------------------- */

/* A look that could not be made at all is a blind spot as well. */
static enum wd_status
note(struct wd_blinds *blinds, enum wd_status st, const char *what,
    const struct wd_error *why)
{
	if (st == WD_OK || st == WD_NOMEM)
		return st;
	return wd_blinds_add(blinds, st, 0,
	    "the answer about any port will lack it as well", what,
	    why->message);
}

static enum wd_status
look_at_listeners(struct sight *sight)
{
	const struct wd_listener_query query = { WD_NETNS_ALL, 0, 0 };
	struct wd_error why;

	wd_error_init(&why);
	return note(&sight->listeners.blinds,
	    wd_host_listeners(sight->with->host, &query, sight->deadline,
		&sight->listeners, &why),
	    "listening sockets", &why);
}

static enum wd_status
look_at_holders(struct sight *sight)
{
	WD_CLEANUP(wd_free_scoped)
	uint64_t *inodes = wd_calloc(sight->listeners.count, sizeof(*inodes));
	struct wd_error why;
	size_t i;

	if (inodes == NULL)
		return WD_NOMEM;
	for (i = 0; i < sight->listeners.count; i++)
		inodes[i] = sight->listeners.items[i].inode;
	wd_error_init(&why);
	return note(&sight->holders.blinds,
	    wd_host_holders(sight->with->host, inodes, i, sight->deadline,
		&sight->holders, &why),
	    "who holds listening sockets", &why);
}

static enum wd_status
look_at_pids(struct sight *sight)
{
	struct wd_error why;

	wd_error_init(&why);
	return note(&sight->pids.blinds,
	    wd_host_pids(
		sight->with->host, sight->deadline, &sight->pids, &why),
	    "processes", &why);
}

/* Whether the process has mappings to show, and then whether the objects
 * themselves can be reached. */
static enum wd_status
try_process(struct sight *sight, pid_t pid, bool *tried, bool *denied)
{
	WD_CLEANUP(wd_mappings_release) struct wd_mappings mappings = { 0 };
	WD_CLEANUP(wd_process_release) struct wd_process process = { 0 };
	struct wd_refusal refusal;
	enum wd_status st =
	    wd_host_process(sight->with->host, pid, &process, NULL);

	if (st == WD_OK)
		st = wd_host_mappings(sight->with->host, &process,
		    sight->deadline, &mappings, NULL);
	if (st == WD_NOMEM)
		return st;
	*denied |= st == WD_DENIED;
	*tried = st == WD_OK && mappings.count > 0;
	if (!*tried || !mappings.by_path_only)
		return WD_OK;
	refusal = wd_host_refusal(sight->with->host, WD_REFUSED_OBJECT);
	return wd_blinds_add(&sight->objects, WD_DENIED, 0, refusal.remedy,
	    "the objects that processes map", refusal.reason);
}

static enum wd_status
look_at_objects(struct sight *sight)
{
	enum wd_status st = WD_OK;
	unsigned count = 0;
	bool tried = false, denied = false;
	struct wd_refusal refusal;
	size_t i;

	for (i = 0; i < sight->pids.count && st == WD_OK && !tried &&
	     count < MOST_TRIED && !wd_deadline_passed(sight->deadline);
	     i++) {
		if (sight->pids.items[i].pid == sight->host.pid_of_agent)
			continue;
		st = try_process(
		    sight, sight->pids.items[i].pid, &tried, &denied);
		count++;
	}
	if (st != WD_OK || tried || (count == 0 && i == sight->pids.count))
		return st;
	/* Nobody was found whose objects could be tried. */
	refusal = denied ?
	    wd_host_refusal(sight->with->host, WD_REFUSED_PROCESS) :
	    (struct wd_refusal){ "no process was found that shows mappings",
		    "allow more time, or ask again" };
	return wd_blinds_add(&sight->objects, denied ? WD_DENIED : WD_NOTFOUND,
	    0, refusal.remedy, "the objects that processes map",
	    refusal.reason);
}

/* ---- saying -------------------------------------------------------------- */

static void
say_blinds(struct wd_build *b, const struct wd_blinds *blinds,
    Weightd__V1__BlindSpot__Scope scope, Weightd__V1__GetHostResponse *out)
{
	size_t i;

	for (i = 0; i < blinds->count; i++) {
		Weightd__V1__BlindSpot *spot = WD_BUILD_ADD(
		    b, out, blind_spots, &weightd__v1__blind_spot__descriptor);

		if (spot == NULL)
			return;
		wd_say_blind(b, &blinds->items[i], scope, spot);
	}
}

static void
say_rights(struct wd_build *b, const struct wd_rights *rights,
    Weightd__V1__GetHostResponse *out)
{
	size_t i;

	for (i = 0; i < rights->count; i++) {
		Weightd__V1__Capability *row = WD_BUILD_ADD(
		    b, out, capabilities, &weightd__v1__capability__descriptor);

		if (row == NULL)
			return;
		wd_build_text(b, &row->name, rights->items[i].name);
		wd_build_text(b, &row->purpose, rights->items[i].purpose);
		row->held = rights->items[i].held;
	}
}

static bool
can_check(struct wd_abilities can, Weightd__V1__Check check)
{
	switch ((int)check) {
	case WEIGHTD__V1__CHECK__CHECK_WRITTEN_PAGES:
		return can.written;
	case WEIGHTD__V1__CHECK__CHECK_ROUTES:
	case WEIGHTD__V1__CHECK__CHECK_CONNECTION:
		return can.connections;
	case WEIGHTD__V1__CHECK__CHECK_ACCELERATORS:
		return can.devices;
	default:
		return true;
	}
}

static void
say_abilities(struct wd_build *b, const struct sight *sight,
    Weightd__V1__GetHostResponse *out)
{
	static const Weightd__V1__BundleFormat formats[] = {
		WEIGHTD__V1__BUNDLE_FORMAT__BUNDLE_FORMAT_GGUF,
		WEIGHTD__V1__BUNDLE_FORMAT__BUNDLE_FORMAT_SAFETENSORS,
		WEIGHTD__V1__BUNDLE_FORMAT__BUNDLE_FORMAT_ONNX,
		WEIGHTD__V1__BUNDLE_FORMAT__BUNDLE_FORMAT_PYTORCH,
		WEIGHTD__V1__BUNDLE_FORMAT__BUNDLE_FORMAT_TENSORRT_LLM,
		WEIGHTD__V1__BUNDLE_FORMAT__BUNDLE_FORMAT_COREML,
	};
	struct wd_abilities can = wd_host_abilities(sight->with->host);
	size_t i;
	int check;

	for (check = WEIGHTD__V1__CHECK__CHECK_LISTENERS;
	     check <= WEIGHTD__V1__CHECK__CHECK_CONNECTION; check++)
		if (can_check(can, (Weightd__V1__Check)check))
			WD_BUILD_PUSH(
			    b, out, checks, (Weightd__V1__Check)check);
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		WD_BUILD_PUSH(b, out, formats, formats[i]);
}

static enum wd_status
say(const struct sight *sight, int64_t started_real_ns,
    Weightd__V1__GetHostResponse **answer)
{
	struct wd_build b = wd_build_init();
	Weightd__V1__GetHostResponse *out =
	    wd_build_new(&b, &weightd__v1__get_host_response__descriptor);

	if (out == NULL)
		return b.status;
	out->host = wd_say_host(&b, &sight->host);
	wd_build_time(&b, &out->now, wd_clock_real_ns(sight->with->clock));
	wd_build_time(&b, &out->agent_started_at, started_real_ns);
	say_abilities(&b, sight, out);
	say_rights(&b, &sight->rights, out);
	say_blinds(&b, &sight->listeners.blinds, SCOPE(LISTENERS), out);
	say_blinds(&b, &sight->holders.blinds, SCOPE(OWNERS), out);
	say_blinds(&b, &sight->pids.blinds, SCOPE(WEIGHTS), out);
	say_blinds(&b, &sight->objects, SCOPE(WEIGHTS), out);
	if (b.status == WD_OK)
		*answer = out;
	else
		wd_message_free(out);
	return b.status;
}

enum wd_status
wd_look_at_sight(const struct wd_evidence *evidence, int64_t started_real_ns,
    const struct wd_deadline *deadline, Weightd__V1__GetHostResponse **answer,
    struct wd_error *err)
{
	WD_CLEANUP(sight_release)
	struct sight sight = { .with = evidence, .deadline = deadline };
	enum wd_status st = wd_host_identity(evidence->host, &sight.host, err);

	if (st != WD_OK)
		return st;
	/* Where rights have no names none is listed. */
	st = wd_host_rights(evidence->host, &sight.rights, NULL);
	if (st != WD_NOMEM)
		st = look_at_listeners(&sight);
	if (st == WD_OK)
		st = look_at_holders(&sight);
	if (st == WD_OK)
		st = look_at_pids(&sight);
	if (st == WD_OK)
		st = look_at_objects(&sight);
	if (st == WD_OK)
		st = say(&sight, started_real_ns, answer);
	return st == WD_OK ? st : wd_fail(err, st, "sight: out of memory");
}
