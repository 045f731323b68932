/*
 * wd-mkbundle - writes a bundle with known counts, for tests, demonstrations
 * and benchmarks. The same arguments give the same bytes.
 *
 *   wd-mkbundle OUT.gguf [options]              one GGUF file
 *   wd-mkbundle OUT.gguf --split N [options]    OUT-00001-of-0000N.gguf, ...
 *   wd-mkbundle DIR --safetensors [options]     a directory with config.json
 *
 * --seed N         tensor bytes depend on it (1)
 * --tensors N      number of tensors (4)
 * --elements N     elements of each tensor (4096)
 * --encoding NAME  Q8_0, F16, ... (Q8_0; safetensors F16)
 * --packed SCHEME  safetensors: weights quantised as mlx-2, -3, -4, -5, -6, -8,
 *                  mlx-mxfp4, gptq-4, awq-4, ct-4, nf4, mxfp4 or fp8;
 * --elements counts parameters, in multiples of 2048
 * --name NAME      the name inside the bundle ("generated")
 * --vocab N        tokens in the tokenizer (16)
 * --shards N       safetensors files, with an index when above 1 (1)
 * --sparse         tensor data is a hole: costs no disk
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "support/bundle_make.h"
#include "support/packed_make.h"

struct plan {
	const char *out;
	const char *encoding;
	const char *name;
	uint64_t seed;
	uint64_t tensors;
	uint64_t elements;
	uint64_t vocab;
	uint64_t split;
	uint64_t shards;
	const struct make_scheme *scheme; /* NULL: not packed */
	bool safetensors;
	bool sparse;
};

static int
usage(const char *why, const char *what)
{
	fprintf(stderr,
	    "wd-mkbundle: %s%s\n"
	    "usage: wd-mkbundle OUT.gguf|DIR [--safetensors] [--seed N] "
	    "[--tensors N] [--elements N] [--encoding NAME] [--packed SCHEME] "
	    "[--name NAME] "
	    "[--vocab N] [--split N | --shards N] [--sparse]\n",
	    why, what);
	return 2;
}

/* Random bytes in steps of one mebibyte; the state runs on between them. */
static int
write_data(FILE *file, uint64_t seed, uint64_t len)
{
	static uint8_t chunk[1 << 20];

	while (len > 0) {
		size_t part = len < sizeof(chunk) ? (size_t)len : sizeof(chunk);

		make_random(&seed, chunk, part);
		if (fwrite(chunk, 1, part, file) != part)
			return -1;
		len -= part;
	}
	return 0;
}

static int
write_file(const char *path, const struct wd_buf *header, uint64_t data,
    uint64_t seed, bool sparse)
{
	FILE *file = fopen(path, "wb");
	int failed;

	if (file == NULL || header->status != WD_OK) {
		fprintf(stderr, "wd-mkbundle: cannot write %s: %s\n", path,
		    file == NULL ? strerror(errno) : "out of memory");
		if (file != NULL)
			fclose(file);
		return 1;
	}
	failed = fwrite(header->data, 1, header->len, file) != header->len;
	if (!sparse)
		failed |= write_data(file, seed, data) != 0;
	failed |= fflush(file) != 0;
	if (sparse)
		failed |=
		    ftruncate(fileno(file), (off_t)(header->len + data)) != 0;
	failed |= fclose(file) != 0;
	if (failed)
		fprintf(stderr, "wd-mkbundle: cannot write %s: %s\n", path,
		    strerror(errno));
	return failed;
}

/* [rows, 256] where the elements allow it, else one row. */
static uint32_t
dims_of(uint64_t elements, uint64_t dims[2])
{
	dims[0] = elements;
	dims[1] = 1;
	if (elements == 0 || elements % 256 != 0)
		return 1;
	dims[0] = 256;
	dims[1] = elements / 256;
	return 2;
}

static void
gguf_keys(const struct plan *plan, struct make_gguf *gguf)
{
	make_gguf_string(gguf, "general.architecture", "llama");
	make_gguf_string(gguf, "general.name", plan->name);
	make_gguf_u32(gguf, "llama.block_count", (uint32_t)plan->tensors);
	make_gguf_f32(gguf, "llama.attention.layer_norm_rms_epsilon", 1e-5F);
	make_gguf_string(gguf, "tokenizer.ggml.model", "gpt2");
	make_gguf_strings(gguf, "tokenizer.ggml.tokens", "token", plan->vocab);
}

static void
split_keys(const struct plan *plan, struct make_gguf *gguf, uint64_t shard)
{
	make_gguf_number(gguf, "split.no", MAKE_U16, shard);
	make_gguf_number(gguf, "split.count", MAKE_U16, plan->split);
	make_gguf_number(gguf, "split.tensors.count", MAKE_I32, plan->tensors);
}

static void
gguf_tensors(const struct plan *plan, struct make_gguf *gguf, uint64_t first,
    uint64_t count)
{
	uint64_t dims[2];
	uint32_t dim_count = dims_of(plan->elements, dims);
	char name[64];
	uint64_t i;

	for (i = first; i < first + count; i++) {
		(void)snprintf(name, sizeof(name), "blk.%llu.ffn_up.weight",
		    (unsigned long long)i);
		(void)make_gguf_tensor(
		    gguf, name, plan->encoding, dims, dim_count);
	}
}

/* The first tensor of a shard, when all get about as many. */
static uint64_t
first_of(const struct plan *plan, uint64_t shard, uint64_t shards)
{
	return plan->tensors * shard / shards;
}

static void
gguf_name(const struct plan *plan, uint64_t shard, char *path, size_t size)
{
	if (plan->split == 0)
		(void)snprintf(path, size, "%s", plan->out);
	else
		(void)snprintf(path, size, "%.*s-%05u-of-%05u.gguf",
		    (int)(strlen(plan->out) - strlen(".gguf")), plan->out,
		    (unsigned)shard + 1, (unsigned)plan->split);
}

static int
write_gguf(const struct plan *plan, uint64_t shard)
{
	uint64_t shards = plan->split > 0 ? plan->split : 1;
	uint64_t first = first_of(plan, shard, shards);
	struct make_gguf gguf;
	struct wd_buf header;
	char path[WD_MAX_PATH];
	int status;

	gguf_name(plan, shard, path, sizeof(path));
	make_gguf_init(&gguf);
	wd_buf_init(&header, MAKE_MAX_BYTES);
	if (shard == 0)
		gguf_keys(plan, &gguf);
	if (plan->split > 0)
		split_keys(plan, &gguf, shard);
	gguf_tensors(
	    plan, &gguf, first, first_of(plan, shard + 1, shards) - first);
	(void)make_gguf_header(&gguf, &header);
	status = write_file(
	    path, &header, gguf.data_size, plan->seed + shard, plan->sparse);
	wd_buf_release(&header);
	make_gguf_release(&gguf);
	return status;
}

static int
run_gguf(const struct plan *plan)
{
	const struct make_encoding *how = make_encoding(plan->encoding);
	size_t len = strlen(plan->out);
	uint64_t i;

	if (how == NULL)
		return usage("unknown encoding ", plan->encoding);
	if (plan->elements % how->block != 0)
		return usage("--elements is no multiple of the block of ",
		    plan->encoding);
	if (plan->split > 0 &&
	    (len < 6 || strcmp(plan->out + len - 5, ".gguf") != 0))
		return usage(
		    "--split needs a name that ends in .gguf: ", plan->out);
	for (i = 0; i < (plan->split > 0 ? plan->split : 1); i++)
		if (write_gguf(plan, i) != 0)
			return 1;
	return 0;
}

static void
shard_name(const struct plan *plan, uint64_t shard, char *name, size_t size)
{
	if (plan->shards == 1)
		(void)snprintf(name, size, "model.safetensors");
	else
		(void)snprintf(name, size, "model-%05u-of-%05u.safetensors",
		    (unsigned)shard + 1, (unsigned)plan->shards);
}

static int
write_in(const struct plan *plan, const char *name, const struct wd_buf *bytes,
    uint64_t data, uint64_t seed)
{
	char path[WD_MAX_PATH];

	(void)snprintf(path, sizeof(path), "%s/%s", plan->out, name);
	return write_file(path, bytes, data, seed, plan->sparse);
}

static void
index_tensor(struct wd_buf *index, const char *name, const char *file)
{
	const char *before = index->data[index->len - 1] == '{' ? "" : ",";

	(void)wd_buf_printf(index, "%s\n  \"%s\": \"%s\"", before, name, file);
}

static void
packed_tensors(const struct plan *plan, uint64_t shard, const char *file,
    struct make_safetensors *st, struct wd_buf *index)
{
	uint64_t end = first_of(plan, shard + 1, plan->shards), i;
	uint64_t rows = plan->elements / MAKE_PACKED_COLUMNS;
	char stem[64], name[160];
	size_t part;

	for (i = first_of(plan, shard, plan->shards); i < end; i++) {
		(void)snprintf(stem, sizeof(stem),
		    "model.layers.%llu.mlp.down_proj", (unsigned long long)i);
		for (part = 0; make_packed_part(st, plan->scheme, part, stem,
			 rows, name, sizeof(name));
		     part++)
			index_tensor(index, name, file);
	}
}

static void
shard_tensors(const struct plan *plan, uint64_t shard, const char *file,
    struct make_safetensors *st, struct wd_buf *index)
{
	uint64_t width = strcmp(plan->encoding, "F32") == 0 ? 4 : 2;
	uint64_t end = first_of(plan, shard + 1, plan->shards), dims[2], i;
	uint32_t dim_count = dims_of(plan->elements, dims);
	char name[64], shape[64];

	if (dim_count == 1)
		(void)snprintf(shape, sizeof(shape), "[%llu]",
		    (unsigned long long)dims[0]);
	else
		(void)snprintf(shape, sizeof(shape), "[%llu,%llu]",
		    (unsigned long long)dims[1], (unsigned long long)dims[0]);
	for (i = first_of(plan, shard, plan->shards); i < end; i++) {
		(void)snprintf(name, sizeof(name), "model.layers.%llu.weight",
		    (unsigned long long)i);
		make_safetensors_tensor(
		    st, name, plan->encoding, shape, plan->elements * width);
		index_tensor(index, name, file);
	}
}

static int
write_shard(const struct plan *plan, uint64_t shard, struct wd_buf *index)
{
	struct make_safetensors st;
	struct wd_buf header;
	char file[64];
	int status;

	shard_name(plan, shard, file, sizeof(file));
	make_safetensors_init(&st);
	make_safetensors_raw(&st, "\"__metadata__\":{\"format\":\"pt\"}");
	if (plan->scheme != NULL)
		packed_tensors(plan, shard, file, &st, index);
	else
		shard_tensors(plan, shard, file, &st, index);
	wd_buf_init(&header, MAKE_MAX_BYTES);
	(void)make_safetensors_header(&st, &header);
	status =
	    write_in(plan, file, &header, st.data_size, plan->seed + shard);
	wd_buf_release(&header);
	make_safetensors_release(&st);
	return status;
}

static int
write_config(const struct plan *plan)
{
	struct wd_buf text;
	uint64_t i;
	int status;

	wd_buf_init(&text, MAKE_MAX_BYTES);
	(void)wd_buf_printf(&text,
	    "{\n \"model_type\": \"llama\",\n \"num_hidden_layers\": %llu,\n"
	    " \"rms_norm_eps\": 1e-05,\n \"vocab_size\": %llu%s%s\n}\n",
	    (unsigned long long)plan->tensors, (unsigned long long)plan->vocab,
	    plan->scheme == NULL ? "" : ",\n ",
	    plan->scheme == NULL ? "" : plan->scheme->config);
	status = write_in(plan, "config.json", &text, 0, 0);
	wd_buf_reset(&text);
	(void)wd_buf_text(&text, "{\"model\":{\"vocab\":{");
	for (i = 0; i < plan->vocab; i++)
		(void)wd_buf_printf(&text, "%s\"token%llu\":%llu",
		    i > 0 ? "," : "", (unsigned long long)i,
		    (unsigned long long)i);
	(void)wd_buf_text(&text, "}}}\n");
	status |= write_in(plan, "tokenizer.json", &text, 0, 0);
	wd_buf_release(&text);
	return status;
}

static int
run_safetensors(const struct plan *plan)
{
	struct wd_buf index;
	int status = 0;
	uint64_t i;

	if (strcmp(plan->encoding, "F32") != 0 &&
	    strcmp(plan->encoding, "F16") != 0 &&
	    strcmp(plan->encoding, "BF16") != 0)
		return usage("--safetensors writes F32, F16 and BF16, not ",
		    plan->encoding);
	if (plan->scheme != NULL &&
	    plan->elements % (8 * MAKE_PACKED_COLUMNS) != 0)
		return usage("--elements is no multiple of 2048", "");
	if (mkdir(plan->out, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "wd-mkbundle: cannot make %s: %s\n", plan->out,
		    strerror(errno));
		return 1;
	}
	wd_buf_init(&index, MAKE_MAX_BYTES);
	(void)wd_buf_text(&index, "{\n \"metadata\": {},\n \"weight_map\": {");
	for (i = 0; i < plan->shards; i++)
		status |= write_shard(plan, i, &index);
	(void)wd_buf_text(&index, "\n }\n}\n");
	if (plan->shards > 1)
		status |= write_in(
		    plan, "model.safetensors.index.json", &index, 0, 0);
	wd_buf_release(&index);
	return status | write_config(plan);
}

static int
read_number(const char *text, uint64_t *number)
{
	return wd_slice_number(wd_slice_text(text), 10, number) ? 0 : -1;
}

/* One option with its value; 0, or the exit status of a usage error. */
static int
option(struct plan *plan, const char *key, const char *value)
{
	const struct {
		const char *key;
		uint64_t *number;
	} numbers[] = {
		{ "--seed", &plan->seed },
		{ "--tensors", &plan->tensors },
		{ "--elements", &plan->elements },
		{ "--vocab", &plan->vocab },
		{ "--split", &plan->split },
		{ "--shards", &plan->shards },
	};
	size_t i;

	if (value == NULL)
		return usage("no value for ", key);
	if (strcmp(key, "--encoding") == 0) {
		plan->encoding = value;
		return 0;
	}
	if (strcmp(key, "--name") == 0) {
		plan->name = value;
		return 0;
	}
	if (strcmp(key, "--packed") == 0) {
		plan->scheme = make_scheme(value);
		return plan->scheme != NULL ? 0 :
					      usage("no such scheme: ", value);
	}
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(key, numbers[i].key) == 0)
			return read_number(value, numbers[i].number) == 0 ?
			    0 :
			    usage("no number: ", value);
	return usage("unknown option ", key);
}

static int
read_arguments(struct plan *plan, int argc, char **argv)
{
	int i, status;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--safetensors") == 0) {
			plan->safetensors = true;
		} else if (strcmp(argv[i], "--sparse") == 0) {
			plan->sparse = true;
		} else if (argv[i][0] != '-' && plan->out == NULL) {
			plan->out = argv[i];
		} else {
			status = option(plan, argv[i], argv[i + 1]);
			if (status != 0)
				return status;
			i++;
		}
	}
	if (plan->out == NULL)
		return usage("no output named", "");
	if (plan->shards == 0 || plan->shards > 99999 || plan->split > 65535)
		return usage("--shards or --split out of range", "");
	if (plan->shards > 1 && plan->tensors < plan->shards)
		return usage("fewer --tensors than --shards", "");
	if (plan->tensors > WD_MAX_TENSORS)
		return usage("too many --tensors", "");
	return 0;
}

int
main(int argc, char **argv)
{
	struct plan plan = { .name = "generated",
		.seed = 1,
		.tensors = 4,
		.elements = 4096,
		.vocab = 16,
		.shards = 1 };
	int status = read_arguments(&plan, argc, argv);

	if (status != 0)
		return status;
	if (plan.encoding == NULL)
		plan.encoding = plan.safetensors ? "F16" : "Q8_0";
	return plan.safetensors ? run_safetensors(&plan) : run_gguf(&plan);
}
