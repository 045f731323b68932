/*
 * bundle.h - what an engine loads as one model, as facts read from its files.
 *
 * A bundle is described from its headers alone; no tensor byte is read for
 * it. File digests come later (wd_bundle_set_digest) and complete the content
 * digest. Every part of the fingerprint stands on its own, so that a
 * difference says what differs. The canonical forms, byte for byte, are in
 * agent/bundle/README.md.
 *
 * Texts that come out of a file (names, setting keys and values, labels) are
 * kept in the escaped form of base/escape.h, which is injective: two different
 * byte strings never become one text, a NUL never cuts one, and every text is
 * valid UTF-8.
 *
 * A bundle owns all its memory. Arrays are in canonical order: tensors by
 * (name bytes), files by (name bytes, for split sets by shard number),
 * settings by key bytes, encodings by name bytes.
 */
#ifndef WD_BUNDLE_BUNDLE_H
#define WD_BUNDLE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/limits.h"
#include "bundle/source.h"

enum wd_bundle_format {
	WD_FORMAT_UNKNOWN, /* not a weight file that we know */
	WD_FORMAT_GGUF,
	WD_FORMAT_SAFETENSORS,
	WD_FORMAT_ONNX,
	/* These three at file level; see file_level.h. */
	WD_FORMAT_PYTORCH,
	WD_FORMAT_TENSORRT,
	WD_FORMAT_COREML,
};

/* What the bundle is for, as its own metadata says; a model by default. */
enum wd_bundle_kind {
	WD_KIND_MODEL,
	WD_KIND_ADAPTER,   /* LoRA */
	WD_KIND_PROJECTOR, /* mmproj */
	WD_KIND_DRAFT,     /* known only from how it is used */
};

enum wd_file_role {
	WD_ROLE_WEIGHTS,
	WD_ROLE_INDEX,     /* model.safetensors.index.json */
	WD_ROLE_SETTINGS,  /* config.json, generation_config.json, ... */
	WD_ROLE_TOKENIZER, /* tokenizer.json, ... */
};

/* One tensor. `encoding` is the name of its storage ("F16", "Q4_K",
 * "unknown(9999)"), of a packed weight that of its scheme
 * ("mlx-affine-4bit-g64"); static or owned by the bundle. */
struct wd_tensor {
	const char *name; /* bytes, NUL-terminated, owned by the bundle */
	size_t name_len;
	const char *encoding;
	uint64_t shape[WD_MAX_TENSOR_DIMS]; /* as the format writes it */
	unsigned dims;
	uint32_t file;       /* index into files */
	uint64_t offset;     /* of its first byte, in that file */
	uint64_t size_bytes; /* 0 and !sized: the encoding is not known */
	bool sized;
	uint64_t elements;   /* product of the shape */
	uint64_t parameters; /* logical; 0 for scales and the like */
	bool helper; /* scales, zero points, ...: it has no parameters of its
		      * own and serves to read another tensor */
};

struct wd_bundle_file {
	char *name; /* bundle-relative, a single component (Core ML: a
		     * path); for a single file the name it was opened
		     * under */
	size_t name_len;
	char *stored_name; /* as it lies on disk, when that is another name
			    * (a layer of an Ollama tag); or NULL */
	enum wd_file_role role;
	uint32_t shard; /* 1-based in a split set; 0 when not one */
	bool present;   /* false: the bundle needs it and it is not there */
	bool counted;   /* on the format's list: part of content_digest */
	uint64_t size_bytes;   /* as found; 0 when absent */
	uint64_t needed_bytes; /* what its header promises; 0: no promise */
	uint64_t data_offset;  /* first tensor byte; weights only */
	bool has_digest;
	struct wd_sha256 sha256;
};

/* A setting's value is text in canonical form: numbers in decimal as JSON
 * would write the shortest equal double, booleans "true"/"false", strings as
 * they are, arrays and objects as compact JSON with sorted keys, values above
 * WD_MAX_SETTING_TEXT as "sha256:HEX" of that text. */
struct wd_setting {
	char *key; /* "bundle." and the format's own key */
	char *value;
};

struct wd_encoding_count {
	const char *encoding;
	uint64_t tensors;
	uint64_t elements;
	uint64_t parameters;
	uint64_t size_bytes;
};

/* What is wrong with the bundle or worth knowing, in words. */
enum wd_note_kind {
	WD_NOTE_INCOMPLETE, /* a shard is missing, a file is cut or hollow */
	WD_NOTE_MALFORMED,  /* a file breaks its format; the note says whether
			     * its tensors were counted */
	WD_NOTE_UNKNOWN,    /* an encoding or scheme that we cannot count */
	WD_NOTE_DECLARED,   /* a label in the bundle disagrees with it */
	WD_NOTE_NOT_PART,   /* a file that lies there but does not belong */
};
struct wd_note {
	enum wd_note_kind kind;
	char *text; /* escaped, ready to show */
};

struct wd_bundle {
	enum wd_bundle_format format;
	enum wd_bundle_kind kind;
	unsigned format_version; /* GGUF: 2 or 3; else 0 */
	bool big_endian;
	bool incomplete;  /* some WD_NOTE_INCOMPLETE note says why */
	bool single_file; /* one file is the whole bundle */

	char *inner_name;      /* general.name, or NULL */
	char *architecture;    /* general.architecture, model_type; or NULL */
	char *declared_recipe; /* id the bundle declares; or NULL */
	char derived_recipe[128]; /* "derived:" and the id; "" before finish */

	struct wd_tensor *tensors;
	size_t tensor_count;
	struct wd_bundle_file *files;
	size_t file_count;
	struct wd_setting *settings;
	size_t setting_count;
	struct wd_encoding_count *encodings;
	size_t encoding_count;
	struct wd_note *notes;
	size_t note_count;

	/* The format's tensors are not read: there is neither an encoding
	 * digest nor a derived recipe, and of a weight file all bytes count as
	 * one tensor where coverage is measured. */
	bool tensors_unread;
	bool parameters_known; /* false: some tensor could not be counted */
	uint64_t parameter_count;
	uint64_t stored_elements;
	uint64_t tensor_bytes;

	struct wd_sha256 encoding_digest;
	struct wd_sha256 settings_digest;
	bool has_tokenizer; /* false: the bundle carries none */
	struct wd_sha256 tokenizer_digest;
	bool has_content_digest; /* every counted file has its digest */
	struct wd_sha256 content_digest;

	struct wd_arena *arena; /* private to the room: names and texts */
};

/* What can be set about a description. Keys and names are the caller's and
 * must outlive the call. */
struct wd_bundle_options {
	/* The settings that may hold the id of the recipe which the bundle
	 * declares; the first that is there and holds one counts. */
	const char *const *recipe_keys;
	size_t recipe_key_count;
	/* Files beside safetensors that hold a recipe, as YAML or, named
	 * .json, as JSON; their members become settings. */
	const char *const *recipe_files;
	size_t recipe_file_count;
};

/* The defaults, listed in README.md ("Settings"); static. */
const struct wd_bundle_options *wd_bundle_options_default(void);

/* What the first bytes of a file say it is; never its name. `*format` is
 * WD_FORMAT_UNKNOWN for anything else. Errors: those of read. */
enum wd_status wd_bundle_sniff(const struct wd_source *source,
    enum wd_bundle_format *format, struct wd_error *err) WD_MUST_CHECK;

/* Describes the bundle that the file `name` of `folder` belongs to: any of
 * its files will do (a split GGUF from any shard, a safetensors directory
 * from a shard, its index or its config.json). `source` is that very file as
 * somebody holds it, and is used for it instead of what the folder has under
 * that name. `folder` may be NULL when it is not known: the file is then
 * described alone, incomplete if it says it is one of several, and always
 * incomplete when it is safetensors: settings and index that belong to it may
 * exist. So is a safetensors file whose `name` does not end in .safetensors
 * (a blob of a hub cache). `options` may be NULL: the defaults.
 *
 * WD_OK also for a bundle with notes; look at `incomplete` and the notes.
 * Errors: WD_UNSUPPORTED when the file is no weight file we know;
 * WD_MALFORMED, WD_TRUNCATED, WD_LIMIT when it is one and cannot be read at
 * all; WD_NOMEM; those of read. On error `*bundle` is untouched. */
enum wd_status wd_bundle_describe(const struct wd_source *source,
    struct wd_slice name, const struct wd_folder *folder,
    const struct wd_bundle_options *options, struct wd_bundle **bundle,
    struct wd_error *err) WD_MUST_CHECK;

/* Describes the bundle that lies in `folder`, when nobody holds a file of it
 * yet. Errors: as wd_bundle_describe; WD_NOTFOUND when there are no weights
 * in it; WD_INVALID when there are several bundles (the message names them). */
enum wd_status wd_bundle_describe_folder(const struct wd_folder *folder,
    const struct wd_bundle_options *options, struct wd_bundle **bundle,
    struct wd_error *err) WD_MUST_CHECK;

/* Gives the SHA-256 of one file (index into files); when every counted file
 * has one, the content digest is computed. Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_bundle_set_digest(struct wd_bundle *bundle, size_t file,
    const struct wd_sha256 *sha256, struct wd_error *err) WD_MUST_CHECK;

/* How a set of byte ranges of one weight file covers its tensors. */
struct wd_range {
	uint64_t offset;
	uint64_t size_bytes;
};
struct wd_coverage {
	uint64_t tensors;         /* in that file */
	uint64_t tensors_covered; /* wholly */
	uint64_t tensor_bytes;
	uint64_t bytes_covered; /* also of partly covered tensors */
	bool all_sized;         /* false: some tensor's size is not known */
};

/* Measures `ranges` (any order, may overlap) against the tensors of file
 * `file`. A tensor without bytes counts as covered. When a tensor's size is
 * not known it reaches to the next tensor or the end of the file. A weight
 * file whose tensors are not read counts as one tensor. Errors:
 * WD_NOMEM. */
enum wd_status wd_bundle_coverage(const struct wd_bundle *bundle, size_t file,
    const struct wd_range *ranges, size_t range_count,
    struct wd_coverage *coverage) WD_MUST_CHECK;

/* Names for people and for messages; static. */
const char *wd_bundle_format_name(enum wd_bundle_format format);
const char *wd_bundle_kind_name(enum wd_bundle_kind kind);

/* Accepts NULL and half-built bundles; sets NULL. */
void wd_bundle_free(struct wd_bundle **bundle);

#endif
