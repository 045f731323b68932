/* YAML text: whatever comes, the tree holds together. */
#include <stdlib.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(int right)
{
	if (!right)
		abort();
}

static size_t
check_members(const struct wd_yaml *yaml, const struct wd_yaml_node *node)
{
	const struct wd_yaml_node *m;
	size_t count = 0;

	for (m = wd_yaml_first(yaml, node); m != NULL;
	     m = wd_yaml_next(yaml, m)) {
		count++;
		check(wd_utf8_valid(m->text) && wd_utf8_valid(m->key));
		check(m->line > 0 && m->column > 0);
	}
	check(count == node->count);
	return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice text = { data, size };
	struct wd_yaml yaml;
	struct wd_error err;
	size_t i, members = 0;

	wd_error_init(&err);
	if (wd_yaml_parse(text, "fuzz", &yaml, &err) != WD_OK) {
		check(yaml.nodes == NULL && err.message[0] != '\0');
		check(wd_utf8_valid(wd_slice_text(err.message)));
		return 0;
	}
	check(yaml.count > 0 && yaml.count <= WD_MAX_YAML_NODES);
	for (i = 0; i < yaml.count; i++)
		members += check_members(&yaml, &yaml.nodes[i]);
	/* Every node but the root is a member of one other. */
	check(members == yaml.count - 1);
	wd_yaml_release(&yaml);
	return 0;
}
