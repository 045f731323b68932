#include "support/process_make.h"

#include <check.h>
#include <string.h>

#include "base/mem.h"

#define MAX_VARIABLES 16

static void
set_bytes(struct wd_bytes *bytes, const char *text)
{
	ck_assert_int_eq(wd_bytes_set(bytes, wd_slice_text(text)), WD_OK);
}

static void
set_argv(struct wd_process *process, const char *argv)
{
	size_t i;

	set_bytes(&process->argv, argv);
	for (i = 0; i < process->argv.len; i++)
		if (process->argv.data[i] == '|')
			process->argv.data[i] = 0;
}

static void
set_environment(struct wd_process *process, const char *text)
{
	struct wd_slice rest = wd_slice_text(text), value, name;

	process->env = wd_calloc(MAX_VARIABLES, sizeof(*process->env));
	ck_assert_ptr_nonnull(process->env);
	while (wd_slice_cut(&rest, '|', &value)) {
		struct wd_variable *v = &process->env[process->env_count++];

		ck_assert(process->env_count <= MAX_VARIABLES);
		(void)wd_slice_cut(&value, '=', &name);
		v->name = wd_memdup0(name.data, name.len);
		ck_assert_int_eq(wd_bytes_set(&v->value, value), WD_OK);
	}
}

struct wd_process
wd_process_make(const char *exe, const char *argv, const char *environment)
{
	struct wd_process process;

	memset(&process, 0, sizeof(process));
	process.exe_status = exe == NULL ? WD_DENIED : WD_OK;
	process.argv_status = argv == NULL ? WD_DENIED : WD_OK;
	process.env_status = environment == NULL ? WD_DENIED : WD_OK;
	if (exe != NULL)
		set_bytes(&process.exe_path, exe);
	if (argv != NULL)
		set_argv(&process, argv);
	if (environment != NULL)
		set_environment(&process, environment);
	return process;
}

static bool
note_claim(void *ctx, const struct wd_engine_claim *claim)
{
	static const char *const uses[] = { "?", "model", "draft", "adapter",
		"projector", "tokenizer", "name", "store", "config" };
	struct wd_buf *text = ctx;

	if (!claim->known)
		return true;
	(void)wd_buf_printf(text, "%s%s%s%s=%.*s", text->len > 0 ? " " : "",
	    claim->source == WD_ENGINE_ENVIRONMENT ? "$" : "",
	    claim->overridden ? "!" : "", uses[claim->use],
	    (int)claim->value.len, (const char *)claim->value.data);
	return true;
}

void
wd_claims_text(const struct wd_process *process, struct wd_buf *text)
{
	wd_buf_reset(text);
	(void)wd_engine_claims(process, note_claim, text);
}

void
wd_settings_text(const struct wd_process *process, struct wd_buf *text)
{
	WD_CLEANUP(wd_run_settings_release) struct wd_run_settings settings;
	size_t i;

	wd_buf_reset(text);
	ck_assert_int_eq(
	    wd_engine_run_settings(process, &settings, NULL), WD_OK);
	for (i = 0; i < settings.count; i++)
		(void)wd_buf_printf(text, "%s%s=%s", i > 0 ? " " : "",
		    settings.items[i].key, settings.items[i].value);
}
