#include "host/linux/argv.h"

#include <string.h>

#include "base/mem.h"
#include "host/redact.h"

static uint64_t
count_nuls(struct wd_slice bytes)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < bytes.len; i++)
		count += bytes.data[i] == '\0';
	return count;
}

static size_t
trailing_nuls(struct wd_slice bytes)
{
	size_t count = 0;

	while (count < bytes.len && bytes.data[bytes.len - 1 - count] == '\0')
		count++;
	return count;
}

/* Whether there is one argument, the first, that is not empty; or none. */
static bool
is_one_string(struct wd_slice bytes)
{
	const uint8_t *end = memchr(bytes.data, '\0', bytes.len);

	return end != NULL &&
	    (size_t)(end - bytes.data) + trailing_nuls(bytes) == bytes.len;
}

bool
wd_argv_overwritten(struct wd_slice argv, const struct wd_argv_facts *facts)
{
	size_t padding;

	if (argv.len == 0)
		return false; /* argc is 0, or no address space */
	if (facts->truncated)
		return false; /* what would tell was not read */
	if (facts->argc_known && count_nuls(argv) != facts->argc)
		return true;
	if (facts->area_bytes != 0 && argv.len != facts->area_bytes)
		return true;
	padding = trailing_nuls(argv);
	if (padding == 0)
		return true;
	/* `prog ""` looks so too; where exec's count is known that decided. */
	return !facts->argc_known && padding > 1 && is_one_string(argv);
}

static bool
has_variable(const struct wd_process *process, struct wd_slice name)
{
	size_t i;

	for (i = 0; i < process->env_count; i++)
		if (wd_slice_equal(wd_slice_text(process->env[i].name), name))
			return true;
	return false;
}

static enum wd_status
add_variable(
    struct wd_process *process, struct wd_slice name, struct wd_slice value)
{
	struct wd_variable variable = { NULL, { NULL, 0 }, false };
	struct wd_variable *grown;
	enum wd_status st;

	/* A few dozen at most, so one by one. */
	grown = wd_reallocarray(
	    process->env, process->env_count + 1, sizeof(variable));
	if (grown == NULL)
		return WD_NOMEM;
	process->env = grown;
	variable.name = wd_memdup0(name.data, name.len);
	if (variable.name == NULL)
		return WD_NOMEM;
	st = wd_redact_variable(
	    name, value, &variable.value, &variable.redacted);
	if (st != WD_OK) {
		wd_free(variable.name);
		return st;
	}
	process->env[process->env_count++] = variable;
	return WD_OK;
}

enum wd_status
wd_environment_take(struct wd_slice block, struct wd_process *process)
{
	struct wd_slice variable, name;
	enum wd_status st = WD_OK;

	while (st == WD_OK && wd_slice_cut(&block, '\0', &variable)) {
		if (variable.len == 0 ||
		    memchr(variable.data, '=', variable.len) == NULL ||
		    !wd_slice_cut(&variable, '=', &name))
			continue;
		if (wd_env_name_chosen(name) && !has_variable(process, name))
			st = add_variable(process, name, variable);
	}
	return st;
}
