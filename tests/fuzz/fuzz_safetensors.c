/* safetensors: the bytes as a weight file, alone in its folder. */
#include "fuzz/bundle_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_folder folder = {
		.files = { { "model.safetensors", { data, size } } }, .count = 1
	};

	fuzz_describe(&folder, 0);
	return 0;
}
