/* PyTorch, TensorRT-LLM and Core ML. The first byte says what the others are:
 * an engine's configuration, a manifest, a compiled model, or a file. */
#include "fuzz/bundle_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t engine[] = { 0x08, 'e', 'n', 'g', 'i', 'n', 'e' };
static const uint8_t config[] = { '{', '}' };

static void
check_folder(const char *name, struct wd_slice bytes, const char *other)
{
	struct fuzz_folder folder = {
		.files = { { name, bytes },
		    { other, { engine, sizeof(engine) } } },
		.count = 2
	};

	fuzz_describe_folder(&folder);
}

static void
check_file(const char *name, struct wd_slice bytes)
{
	struct fuzz_folder folder = {
		.files = { { name, bytes },
		    { "adapter_config.json", { config, sizeof(config) } } },
		.count = 2
	};
	struct wd_source source = wd_source_memory(&folder.files[0].bytes);
	enum wd_bundle_format format = WD_FORMAT_UNKNOWN;

	fuzz_describe(&folder, 0);
	/* What it is told by never fails on bytes in memory. */
	if (wd_bundle_sniff(&source, &format, NULL) != WD_OK)
		__builtin_trap();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "m.pt",
		"pytorch_model-00001-of-00002.bin", "x.mlmodel" };
	struct wd_slice bytes = { data + 1, size - 1 };

	if (size == 0)
		return 0;
	if (data[0] == '0')
		check_folder("config.json", bytes, "rank0.engine");
	else if (data[0] == '1')
		check_folder("Manifest.json", bytes, "model.mlmodel");
	else if (data[0] == '2')
		check_folder("weight.bin", bytes, "coremldata.bin");
	else
		check_file(names[data[0] % 3], bytes);
	return 0;
}
