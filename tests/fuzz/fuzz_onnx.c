/* ONNX: the bytes as a model, beside a file of external data. */
#include "fuzz/bundle_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t zeros[64];
	struct fuzz_folder folder = {
		.files = { { "model.onnx", { data, size } },
		    { "data", { zeros, sizeof(zeros) } } },
		.count = 2
	};
	struct wd_source source = wd_source_memory(&folder.files[0].bytes);
	enum wd_bundle_format format = WD_FORMAT_UNKNOWN;

	fuzz_describe(&folder, 0);
	/* What it is told by never fails on bytes in memory. */
	if (wd_bundle_sniff(&source, &format, NULL) != WD_OK)
		__builtin_trap();
	return 0;
}
