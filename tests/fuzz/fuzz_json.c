/* Text as JSON: what is accepted is printed, and must be accepted again as the
 * same tree. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

#define MEMORY (16U << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(int holds)
{
	if (!holds)
		abort();
}

static int
append(const char *bytes, size_t len, void *out)
{
	return wd_buf_append(out, bytes, len) == WD_OK ? 0 : -1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice text = { data, size };
	json_t *root = NULL, *again = NULL;
	struct wd_buf printed;

	if (wd_json_parse(text, MEMORY, &root, NULL) != WD_OK) {
		must(root == NULL);
		return 0;
	}
	must(json_is_object(root) || json_is_array(root));
	wd_buf_init(&printed, MEMORY);
	if (json_dump_callback(
		root, append, &printed, JSON_REAL_PRECISION(17)) == 0) {
		must(wd_json_parse(wd_buf_slice(&printed), 4 * MEMORY, &again,
			 NULL) == WD_OK);
		must(json_equal(root, again));
	}
	wd_buf_release(&printed);
	json_decref(again);
	json_decref(root);
	return 0;
}
