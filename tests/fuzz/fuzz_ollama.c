/* A tag of an Ollama store: the bytes as its manifest, beside four blobs whose
 * names are one digit throughout. */
#include <stdlib.h>

#include "bundle/ollama.h"
#include "fuzz/bundle_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEN(digit) digit digit digit digit digit digit digit digit digit digit
#define BLOB(digit)                                                            \
	"sha256-" TEN(digit) TEN(digit) TEN(digit) TEN(digit) TEN(digit)       \
	    TEN(digit) digit digit digit digit

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t gguf[24] = { 'G', 'G', 'U', 'F', 3 };
	static const uint8_t safetensors[10] = { 2, [8] = '{', '}' };
	static const uint8_t params[] = { '{', '"', 'a', '"', ':', '1', '}' };
	struct fuzz_folder folder = {
		.files = { { BLOB("0"), { gguf, sizeof(gguf) } },
		    { BLOB("1"), { params, sizeof(params) } },
		    { BLOB("2"), { safetensors, sizeof(safetensors) } },
		    { BLOB("3"), { data, size } } },
		.count = 4
	};
	struct wd_folder blobs = fuzz_folder_of(&folder);
	struct wd_source source = wd_source_memory(&folder.files[3].bytes);
	struct wd_bundle *bundle = NULL;
	enum wd_status st =
	    wd_ollama_describe(&source, &blobs, NULL, &bundle, NULL);

	if ((st == WD_OK) != (bundle != NULL) || folder.open_now != 0)
		abort();
	wd_bundle_free(&bundle);
	return 0;
}
