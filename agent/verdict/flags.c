#include "verdict/flags.h"

#include <string.h>
#include <strings.h>

#include "base/digest.h"
#include "base/escape.h"
#include "base/mem.h"
#include "wire/build.h"

typedef enum wd_status set_flag(Weightd__V1__Expectation *e, struct wd_build *b,
    const char *value, struct wd_error *err);

static enum wd_status
set_model(Weightd__V1__Expectation *e, struct wd_build *b, const char *value,
    struct wd_error *err)
{
	if (e->model_presence_case ==
	    WEIGHTD__V1__EXPECTATION__MODEL_PRESENCE_MODEL)
		return wd_fail(err, WD_INVALID,
		    "--model is given twice; one port serves one model");
	wd_build_text(b, &e->model, value);
	e->model_presence_case = WEIGHTD__V1__EXPECTATION__MODEL_PRESENCE_MODEL;
	return b->status;
}

static enum wd_status
set_params(Weightd__V1__Expectation *e, struct wd_build *b, const char *value,
    struct wd_error *err)
{
	char shown[64];

	(void)b;
	if (e->parameter_count_presence_case ==
	    WEIGHTD__V1__EXPECTATION__PARAMETER_COUNT_PRESENCE_PARAMETER_COUNT)
		return wd_fail(err, WD_INVALID, "--params is given twice");
	if (!wd_slice_number(wd_slice_text(value), 10, &e->parameter_count) ||
	    e->parameter_count == 0)
		return wd_fail(err, WD_INVALID,
		    "--params \"%s\" is no count; give the exact number of "
		    "parameters in digits, as `weightctl bundle` prints it",
		    wd_escape_short(
			shown, sizeof(shown), wd_slice_text(value)));
	e->parameter_count_presence_case =
	    WEIGHTD__V1__EXPECTATION__PARAMETER_COUNT_PRESENCE_PARAMETER_COUNT;
	return WD_OK;
}

static enum wd_status
set_recipe(Weightd__V1__Expectation *e, struct wd_build *b, const char *value,
    struct wd_error *err)
{
	if (e->recipe_presence_case ==
	    WEIGHTD__V1__EXPECTATION__RECIPE_PRESENCE_RECIPE)
		return wd_fail(err, WD_INVALID, "--recipe is given twice");
	wd_build_text(b, &e->recipe, value);
	e->recipe_presence_case =
	    WEIGHTD__V1__EXPECTATION__RECIPE_PRESENCE_RECIPE;
	return b->status;
}

static enum wd_status
set_sha256(Weightd__V1__Digest **field, struct wd_build *b, const char *flag,
    const char *value, struct wd_error *err)
{
	struct wd_sha256 digest;
	enum wd_status st;

	if (*field != NULL)
		return wd_fail(err, WD_INVALID, "%s is given twice", flag);
	st = wd_sha256_parse(value, &digest, err);
	if (st != WD_OK)
		return st;
	wd_build_digest(b, field, &digest);
	return b->status;
}

static enum wd_status
set_digest(Weightd__V1__Expectation *e, struct wd_build *b, const char *value,
    struct wd_error *err)
{
	return set_sha256(&e->digest, b, "--digest", value, err);
}

static enum wd_status
set_encoding(Weightd__V1__Expectation *e, struct wd_build *b, const char *value,
    struct wd_error *err)
{
	return set_sha256(&e->encoding_digest, b, "--encoding", value, err);
}

static enum wd_status
set_setting(Weightd__V1__Expectation *e, struct wd_build *b, const char *value,
    struct wd_error *err)
{
	struct wd_slice rest = wd_slice_text(value), key;
	Weightd__V1__Setting *setting;
	char shown[96];

	if (!wd_slice_cut(&rest, '=', &key) || key.len == 0 ||
	    key.len == strlen(value))
		return wd_fail(err, WD_INVALID,
		    "--setting \"%s\" is not KEY=VALUE; for example "
		    "bundle.llama.context_length=4096",
		    wd_escape_short(
			shown, sizeof(shown), wd_slice_text(value)));
	setting =
	    WD_BUILD_ADD(b, e, settings, &weightd__v1__setting__descriptor);
	if (setting == NULL)
		return b->status;
	wd_build_slice(b, &setting->key, key);
	wd_build_slice(b, &setting->value, rest);
	return b->status;
}

static bool
companion_kind(struct wd_slice name, Weightd__V1__BundleKind *kind)
{
	static const struct {
		const char *name;
		Weightd__V1__BundleKind kind;
	} kinds[] = {
		{ "adapter", WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_ADAPTER },
		{ "projector",
		    WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_PROJECTOR },
		{ "draft", WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_DRAFT },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (wd_slice_equal(name, wd_slice_text(kinds[i].name))) {
			*kind = kinds[i].kind;
			return true;
		}
	return false;
}

static enum wd_status
set_with(Weightd__V1__Expectation *e, struct wd_build *b, const char *value,
    struct wd_error *err)
{
	struct wd_slice rest = wd_slice_text(value), name;
	Weightd__V1__ExpectedCompanion *companion;
	Weightd__V1__BundleKind kind;
	struct wd_sha256 digest;
	char shown[96];
	enum wd_status st;
	bool any;

	if (!wd_slice_cut(&rest, '=', &name) || !companion_kind(name, &kind) ||
	    rest.len == 0)
		return wd_fail(err, WD_INVALID,
		    "--with \"%s\" is not KIND=sha256:HEX or KIND=any with "
		    "KIND adapter, draft or projector",
		    wd_escape_short(
			shown, sizeof(shown), wd_slice_text(value)));
	any = wd_slice_equal(rest, wd_slice_text("any"));
	if (!any) {
		st = wd_sha256_parse(value + name.len + 1, &digest, err);
		if (st != WD_OK)
			return st;
	}
	companion = WD_BUILD_ADD(
	    b, e, companions, &weightd__v1__expected_companion__descriptor);
	if (companion == NULL)
		return b->status;
	companion->kind = kind;
	if (any) {
		companion->any = true;
		companion->want_case =
		    WEIGHTD__V1__EXPECTED_COMPANION__WANT_ANY;
		return WD_OK;
	}
	wd_build_digest(b, &companion->digest, &digest);
	companion->want_case = WEIGHTD__V1__EXPECTED_COMPANION__WANT_DIGEST;
	return b->status;
}

static enum wd_status
set_min_grade(Weightd__V1__Expectation *e, struct wd_build *b,
    const char *value, struct wd_error *err)
{
	static const struct {
		const char *name;
		Weightd__V1__Grade grade;
	} grades[] = {
		{ "RESIDENT", WEIGHTD__V1__GRADE__GRADE_RESIDENT },
		{ "WITNESSED", WEIGHTD__V1__GRADE__GRADE_WITNESSED },
		{ "INFERRED", WEIGHTD__V1__GRADE__GRADE_INFERRED },
	};
	char shown[32];
	size_t i;

	(void)b;
	if (e->minimum_grade != WEIGHTD__V1__GRADE__GRADE_UNSPECIFIED)
		return wd_fail(err, WD_INVALID, "--min-grade is given twice");
	for (i = 0; i < sizeof(grades) / sizeof(grades[0]); i++)
		if (strcasecmp(value, grades[i].name) == 0) {
			e->minimum_grade = grades[i].grade;
			return WD_OK;
		}
	return wd_fail(err, WD_INVALID,
	    "--min-grade \"%s\" cannot be asked for; use RESIDENT, WITNESSED "
	    "or INFERRED (below that there is no evidence)",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(value)));
}

static enum wd_status
set_name_only(Weightd__V1__Expectation *e, struct wd_build *b,
    const char *value, struct wd_error *err)
{
	(void)b;
	(void)value;
	(void)err;
	e->allow_name_only = true;
	return WD_OK;
}

static const struct flag {
	const char *name;
	bool takes_value;
	set_flag *set;
} flags[] = {
	{ "--model", true, set_model },
	{ "--params", true, set_params },
	{ "--recipe", true, set_recipe },
	{ "--digest", true, set_digest },
	{ "--encoding", true, set_encoding },
	{ "--setting", true, set_setting },
	{ "--with", true, set_with },
	{ "--min-grade", true, set_min_grade },
	{ "--allow-name-only", false, set_name_only },
};

static const struct flag *
find_flag(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(flags[i].name, name) == 0)
			return &flags[i];
	return NULL;
}

bool
wd_expectation_flag(const char *name, bool *takes_value)
{
	const struct flag *flag = find_flag(name);

	if (flag == NULL)
		return false;
	*takes_value = flag->takes_value;
	return true;
}

enum wd_status
wd_expectation_set(Weightd__V1__Expectation **expectation, const char *name,
    const char *value, struct wd_error *err)
{
	const struct flag *flag = find_flag(name);
	struct wd_build build = wd_build_init();
	enum wd_status st;

	if (flag == NULL)
		return wd_fail(
		    err, WD_INVALID, "%s is no expectation flag", name);
	if (flag->takes_value && (value == NULL || value[0] == '\0'))
		return wd_fail(err, WD_INVALID,
		    "%s is empty; an expectation that expects nothing is an "
		    "error, so leave the flag out or give it a value",
		    name);
	if (flag->takes_value && !wd_utf8_valid(wd_slice_text(value)))
		return wd_fail(err, WD_INVALID,
		    "%s is not valid UTF-8; write odd bytes as they are shown "
		    "in answers, for example \\xff",
		    name);
	if (*expectation == NULL)
		*expectation =
		    wd_build_new(&build, &weightd__v1__expectation__descriptor);
	if (*expectation == NULL)
		return wd_fail(err, WD_NOMEM, "%s: out of memory", name);
	st = flag->set(*expectation, &build, value, err);
	if (st == WD_NOMEM)
		return wd_fail(err, WD_NOMEM, "%s: out of memory", name);
	return st;
}
