#include <string.h>

#include "base/digest.h"
#include "base/escape.h"
#include "verdict/parts.h"
#include "verdict/verdict.h"

/* ---- what is pinned ------------------------------------------------------ */

bool
wd_expects_model(const Weightd__V1__Expectation *e)
{
	return e != NULL &&
	    e->model_presence_case ==
	    WEIGHTD__V1__EXPECTATION__MODEL_PRESENCE_MODEL;
}

bool
wd_expects_parameters(const Weightd__V1__Expectation *e)
{
	return e != NULL &&
	    e->parameter_count_presence_case ==
	    WEIGHTD__V1__EXPECTATION__PARAMETER_COUNT_PRESENCE_PARAMETER_COUNT;
}

bool
wd_expects_recipe(const Weightd__V1__Expectation *e)
{
	return e != NULL &&
	    e->recipe_presence_case ==
	    WEIGHTD__V1__EXPECTATION__RECIPE_PRESENCE_RECIPE;
}

static const char derived_prefix[] = "derived:";

bool
wd_expects_derived_recipe(const Weightd__V1__Expectation *e)
{
	return wd_expects_recipe(e) &&
	    wd_slice_starts(wd_slice_text(e->recipe), derived_prefix);
}

bool
wd_expects_setting(const Weightd__V1__Expectation *e, const char *prefix)
{
	size_t i;

	if (e == NULL)
		return false;
	for (i = 0; i < e->n_settings; i++)
		if (wd_slice_starts(wd_slice_text(e->settings[i]->key), prefix))
			return true;
	return false;
}

bool
wd_expects_weights(const Weightd__V1__Expectation *e)
{
	return e != NULL &&
	    (wd_expects_parameters(e) || wd_expects_recipe(e) ||
		e->digest != NULL || e->encoding_digest != NULL ||
		wd_expects_setting(e, "bundle."));
}

bool
wd_expects_anything(const Weightd__V1__Expectation *e)
{
	return e != NULL &&
	    (wd_expects_model(e) || wd_expects_weights(e) ||
		e->n_settings > 0 || e->n_companions > 0);
}

Weightd__V1__ExpectedRole
wd_expected_role(const Weightd__V1__Expectation *e)
{
	return e == NULL ? WD_ROLE_OF(UNSPECIFIED) : e->role;
}

Weightd__V1__Grade
wd_expected_grade(const Weightd__V1__Expectation *e)
{
	if (e == NULL || e->minimum_grade == WD_GRADE(UNSPECIFIED))
		return WD_GRADE(WITNESSED);
	return e->minimum_grade;
}

/* ---- fields and values that this program does not know --------------------
 */

static bool
is_named(const ProtobufCEnumDescriptor *type, int number)
{
	return protobuf_c_enum_descriptor_get_value(type, number) != NULL;
}

static bool
is_strange(const ProtobufCMessage *message)
{
	return message->n_unknown_fields > 0;
}

static bool
is_strange_digest(const Weightd__V1__Digest *digest)
{
	return digest != NULL &&
	    (is_strange(&digest->base) ||
		!is_named(&weightd__v1__digest_algorithm__descriptor,
		    (int)digest->algorithm));
}

static const Weightd__V1__Digest *
companion_digest(const Weightd__V1__ExpectedCompanion *companion)
{
	return companion->want_case ==
		WEIGHTD__V1__EXPECTED_COMPANION__WANT_DIGEST ?
	    companion->digest :
	    NULL;
}

static bool
has_strange_lists(const Weightd__V1__Expectation *e)
{
	size_t i;

	for (i = 0; i < e->n_settings; i++)
		if (is_strange(&e->settings[i]->base))
			return true;
	for (i = 0; i < e->n_routes; i++)
		if (is_strange(&e->routes[i]->base))
			return true;
	for (i = 0; i < e->n_companions; i++)
		if (is_strange(&e->companions[i]->base) ||
		    !is_named(&weightd__v1__bundle_kind__descriptor,
			(int)e->companions[i]->kind) ||
		    is_strange_digest(companion_digest(e->companions[i])))
			return true;
	return false;
}

static enum wd_status
check_known(const Weightd__V1__Expectation *e, struct wd_error *err)
{
	if (is_strange(&e->base) || has_strange_lists(e) ||
	    is_strange_digest(e->digest) ||
	    is_strange_digest(e->encoding_digest))
		return wd_fail(err, WD_UNSUPPORTED,
		    "the expectation holds a field or value that this version "
		    "does not know: ask a newer agent, or leave it out");
	if (!is_named(&weightd__v1__grade__descriptor, (int)e->minimum_grade))
		return wd_fail(err, WD_UNSUPPORTED,
		    "minimum grade %d is not known to this version: ask a "
		    "newer agent, or for RESIDENT, WITNESSED or INFERRED",
		    (int)e->minimum_grade);
	if (!is_named(&weightd__v1__expected_role__descriptor, (int)e->role))
		return wd_fail(err, WD_UNSUPPORTED,
		    "role %d is not known to this version: ask a newer agent",
		    (int)e->role);
	return WD_OK;
}

/* ---- fields that contradict or are empty ----------------------------------
 */

static enum wd_status
check_texts(const Weightd__V1__Expectation *e, struct wd_error *err)
{
	if (wd_expects_model(e) && e->model[0] == '\0')
		return wd_fail(err, WD_INVALID,
		    "model: empty; give a name or leave the field out");
	if (wd_expects_parameters(e) && e->parameter_count == 0)
		return wd_fail(err, WD_INVALID,
		    "parameter_count: 0 is no model; give the number or leave "
		    "the field out");
	if (wd_expects_recipe(e) &&
	    (e->recipe[0] == '\0' || strcmp(e->recipe, derived_prefix) == 0))
		return wd_fail(err, WD_INVALID,
		    "recipe: empty; give an id or \"derived:\" and an id, or "
		    "leave the field out");
	return WD_OK;
}

static enum wd_status
check_digest(
    const char *field, const Weightd__V1__Digest *digest, struct wd_error *err)
{
	struct wd_sha256 sha256;

	if (digest == NULL || wd_message_digest(digest, &sha256))
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "%s: not a SHA-256 of %d bytes (%zu given); write sha256: and 64 "
	    "hexadecimal digits",
	    field, WD_SHA256_BYTES, digest->value.len);
}

static enum wd_status
check_companion(
    const Weightd__V1__ExpectedCompanion *companion, struct wd_error *err)
{
	if (companion->kind == WD_KIND_OF(UNSPECIFIED) ||
	    companion->kind == WD_KIND_OF(MODEL))
		return wd_fail(err, WD_INVALID,
		    "companions: the kind must be adapter, draft or "
		    "projector");
	if (companion->want_case == WEIGHTD__V1__EXPECTED_COMPANION__WANT_ANY &&
	    companion->any)
		return WD_OK;
	if (companion_digest(companion) == NULL)
		return wd_fail(err, WD_INVALID,
		    "companions: neither a digest nor any; say which %s is "
		    "expected",
		    wd_kind_word(companion->kind));
	return check_digest("companions", companion->digest, err);
}

static enum wd_status
check_setting(
    const Weightd__V1__Expectation *e, size_t at, struct wd_error *err)
{
	const char *key = e->settings[at]->key;
	struct wd_slice bytes = wd_slice_text(key);
	char shown[128];
	size_t i;

	wd_escape_short(shown, sizeof(shown), bytes);
	if (!(wd_slice_starts(bytes, "bundle.") && bytes.len > 7) &&
	    !(wd_slice_starts(bytes, "run.") && bytes.len > 4))
		return wd_fail(err, WD_INVALID,
		    "settings: key \"%s\" must begin with bundle. or run.",
		    shown);
	for (i = 0; i < at; i++)
		if (strcmp(e->settings[i]->key, key) == 0)
			return wd_fail(err, WD_INVALID,
			    "settings: key \"%s\" stands twice; give it once",
			    shown);
	return WD_OK;
}

static enum wd_status
check_lists(const Weightd__V1__Expectation *e, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; st == WD_OK && i < e->n_settings; i++)
		st = check_setting(e, i, err);
	for (i = 0; st == WD_OK && i < e->n_companions; i++)
		st = check_companion(e->companions[i], err);
	for (i = 0; st == WD_OK && i < e->n_routes; i++)
		if (e->routes[i]->name[0] == '\0' || e->routes[i]->port == 0 ||
		    e->routes[i]->port > 65535)
			st = wd_fail(err, WD_INVALID,
			    "routes: each needs a name and a port from 1 to "
			    "65535");
	return st;
}

static enum wd_status
check_role(const Weightd__V1__Expectation *e, struct wd_error *err)
{
	bool is_worker =
	    e->role == WD_ROLE_OF(UNSPECIFIED) || e->role == WD_ROLE_OF(WORKER);

	if (!is_worker && wd_expects_anything(e))
		return wd_fail(err, WD_INVALID,
		    "role: a port that serves no weights itself cannot have "
		    "weights, settings or companions pinned; leave them out");
	if (e->n_routes > 0 && e->role != WD_ROLE_OF(FORWARDER))
		return wd_fail(err, WD_INVALID,
		    "routes: only a forwarder has them; set role forwarder or "
		    "leave them out");
	return WD_OK;
}

static enum wd_status
check_presence(const Weightd__V1__Expectation *e, struct wd_error *err)
{
	if (wd_expects_anything(e) || e->role != WD_ROLE_OF(UNSPECIFIED) ||
	    e->minimum_grade != WD_GRADE(UNSPECIFIED))
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "the expectation is present and empty: say what is expected, or "
	    "ask without one");
}

enum wd_status
wd_expectation_check(
    const Weightd__V1__Expectation *expectation, struct wd_error *err)
{
	enum wd_status st;

	if (expectation == NULL)
		return WD_OK;
	if ((st = check_known(expectation, err)) != WD_OK ||
	    (st = check_texts(expectation, err)) != WD_OK ||
	    (st = check_digest("digest", expectation->digest, err)) != WD_OK ||
	    (st = check_digest("encoding_digest", expectation->encoding_digest,
		 err)) != WD_OK ||
	    (st = check_lists(expectation, err)) != WD_OK ||
	    (st = check_role(expectation, err)) != WD_OK ||
	    (st = check_presence(expectation, err)) != WD_OK)
		return st;
	if (expectation->minimum_grade != WD_GRADE(UNSPECIFIED) &&
	    expectation->minimum_grade < WD_GRADE(INFERRED))
		return wd_fail(err, WD_INVALID,
		    "minimum_grade: %s proves nothing; ask for INFERRED, "
		    "WITNESSED or RESIDENT",
		    wd_grade_word(expectation->minimum_grade));
	return WD_OK;
}
