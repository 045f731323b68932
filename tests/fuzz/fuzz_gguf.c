/* GGUF: the bytes as a file alone, and as both shards of a set. */
#include "fuzz/bundle_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wd_slice bytes = { data, size };
	struct fuzz_folder folder = {
		.files = { { "m-00001-of-00002.gguf", bytes },
		    { "m-00002-of-00002.gguf", bytes } },
		.count = 2
	};

	fuzz_describe(&folder, 0);
	fuzz_describe(&folder, 1);
	return 0;
}
