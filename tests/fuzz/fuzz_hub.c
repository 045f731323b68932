/* The JSON files of a model's directory: the bytes as its index, as its
 * config.json and as another settings file, beside sound weights. */
#include <string.h>

#include "fuzz/bundle_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A header of 72 bytes, and 4 of data. */
static const char weights[] =
    "\x48\0\0\0\0\0\0\0"
    "{\"lm_head.weight\":{\"dtype\":\"F16\",\"shape\":"
    "[1,2],\"data_offsets\":[0,4]}}   \0\0\0";

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "model.safetensors.index.json",
		"config.json", "generation_config.json" };
	struct wd_slice sound = { (const uint8_t *)weights, sizeof(weights) };
	unsigned i;

	for (i = 0; i < 3; i++) {
		struct fuzz_folder folder = {
			.files = { { "model.safetensors", sound },
			    { names[i], { data, size } } },
			.count = 2
		};

		fuzz_describe(&folder, 0);
		fuzz_describe(&folder, 1);
	}
	return 0;
}
