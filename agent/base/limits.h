/*
 * limits.h - every cap of the project, in one table, each with its reason.
 *
 * Reaching one is never silence: it gives WD_LIMIT, and the answer says what
 * was not looked at.
 */
#ifndef WD_BASE_LIMITS_H
#define WD_BASE_LIMITS_H

/* bundle: a 160-shard model has about 90,000 tensors; a header with ten times
 * as many is not a model any engine loads. */
#define WD_MAX_TENSORS 1000000
#define WD_MAX_TENSOR_DIMS 8     /* GGUF: 4; safetensors: no limit */
#define WD_MAX_TENSOR_NAME 1024  /* GGUF: 64; hub models: below 200 */
#define WD_MAX_BUNDLE_FILES 4096 /* largest seen: 413 shards */
#define WD_MAX_INDEX_FILES 8     /* tried beside one file; one is usual */
#define WD_MAX_ENCODINGS 256     /* in one bundle; ggml has about 40 */
#define WD_MAX_BUNDLE_NOTES 8192
#define WD_MAX_QUANT_RULES 64 /* different bits and groups; a few are usual */
#define WD_MAX_SETTINGS 65536
#define WD_MAX_SETTING_TEXT 65536 /* longer values count by digest */
#define WD_MAX_GGUF_KEYS 65536
#define WD_MAX_GGUF_KEY 65535        /* ggml: 65,535 bytes */
#define WD_MAX_GGUF_ARRAY (1U << 28) /* items; vocabularies: 300,000 */
#define WD_MAX_GGUF_HEADER (512UL << 20)
#define WD_MAX_SAFETENSORS_HEADER (100UL << 20) /* the format's own cap */
#define WD_MAX_ONNX_HEADER (512UL << 20)        /* all that is no tensor data */
#define WD_MAX_ONNX_SNIFF (4UL << 20) /* read to tell whether it is one */
#define WD_MAX_ONNX_FIELDS 65536      /* of the model; functions: hundreds */
#define WD_MAX_ONNX_DEPTH 64          /* messages; four for each subgraph */
#define WD_MAX_ONNX_NAME 4096
#define WD_MAX_ONNX_TEXT (16UL << 20) /* one value of metadata_props */
#define WD_MAX_ZIP_MEMBERS 60000      /* largest seen: 3,000 storages */
#define WD_MAX_ZIP_DIRECTORY (16UL << 20)
#define WD_MAX_ZIP_NAME 1024
#define WD_MAX_JSON_FILE (64UL << 20) /* tokenizer.json: about 30 MB */
#define WD_MAX_JSON_DEPTH 64
#define WD_MAX_JSON_MEMORY (1UL << 30)
#define WD_MAX_PATH 4096

/* YAML: a serving map of a thousand hosts has about 1 MB and 60,000 values */
#define WD_MAX_YAML_FILE (8UL << 20)
#define WD_MAX_YAML_NODES 524288
#define WD_MAX_YAML_DEPTH 32

/* lists of names: an engine's own list of models */
#define WD_MAX_LISTING_FILE (1UL << 20)
#define WD_MAX_LISTED 4096

/* host */
#define WD_MAX_LISTENERS 65536
#define WD_MAX_PROCESSES 4194304 /* the kernel's own pid_max limit */
#define WD_MAX_HOLDERS 1048576
#define WD_MAX_LOCAL_ADDRESSES 8192 /* all namespaces; compared pairwise */
#define WD_MAX_CONNECTIONS 524288   /* 32 MiB; a port range's both ends: 128k */
#define WD_MAX_UNIX_PAIRS 1048576
#define WD_MAX_DEVICE_USES 4096
#define WD_MAX_MAPPINGS 4194304
#define WD_MAX_DESCRIPTORS 4194304
#define WD_MAX_ARGV_BYTES (2UL << 20) /* the kernel allows 6 MB; ample */
#define WD_MAX_ARGUMENTS 16384        /* read as options of an engine; ample */
#define WD_MAX_ENV_BYTES (2UL << 20)
#define WD_MAX_ANCESTORS 128
#define WD_MAX_NAMESPACES 65536
#define WD_MAX_PROC_TEXT (256UL << 20) /* one /proc table: a million rows */

/* store: about 150 bytes each; the oldest go first */
#define WD_MAX_DIGEST_ROWS 1000000
#define WD_MAX_DIGEST_ROWS_IN_MEMORY 10000

/* evidence and output */
#define WD_MAX_CANDIDATE_FILES 4096
#define WD_MAX_DIGEST_JOBS 512 /* each holds a descriptor */
#define WD_MAX_GROUP 65536
#define WD_MAX_MESSAGE (64UL << 20)

/* seam: the facts of a million tensors with names of 60 bytes */
#define WD_MAX_SEAM_MESSAGE (256UL << 20)
#define WD_MAX_SEAM_MEMORY (1UL << 30)
#define WD_MAX_FOLDER_NAMES 1048576
#define WD_MAX_QUESTION 131072 /* a request body and what it is wrapped in */
#define WD_MAX_OPEN_QUESTIONS 1024      /* of one line; connections: 256 */
#define WD_MAX_LINE_QUEUE (128UL << 20) /* answers that wait for the front */

/* wire */
#define WD_MAX_WIRE_DEPTH 16  /* of messages in messages; the schema: 8 */
#define WD_MAX_WIRE_FIELDS 64 /* of one message; the schema: 29 */

/* observer */
#define WD_MAX_ANSWERERS 16
#define WD_MAX_QUESTION_MS 3600000 /* a thread is not held for longer */

/* server */
#define WD_MAX_REQUEST_HEAD 16384         /* request line and headers */
#define WD_MAX_REQUEST_BODY 65536         /* an expectation with 500 settings */
#define WD_MAX_REQUEST_MEMORY (4UL << 20) /* made of one body */
#define WD_MAX_CHUNK_LINE 256             /* size and extensions */
#define WD_MAX_NONCE 64
#define WD_MAX_RATED_CLIENTS 1024 /* whose requests are counted */
#define WD_MAX_ROLE_RULES 4096

/* role */
#define WD_MAX_MATERIAL (16 << 20) /* CRLs grow; others are a few kB */

/* client */
#define WD_MAX_HOSTS 100000
#define WD_MAX_LOOKUP_THREADS 16    /* each may hang for minutes */
#define WD_MAX_CALL 65536           /* what an agent takes of one */
#define WD_MAX_IDLE_CONNECTIONS 256 /* each 40 KB, and a descriptor */
#define WD_MAX_ANSWER_HEAD 16384
#define WD_MAX_ANSWER_BODY (16UL << 20)
#define WD_MAX_ANSWER_MEMORY (64UL << 20) /* made of one body */
#define WD_MAX_ERROR_BODY 65536
#define WD_MAX_PEM_FILE (1UL << 20) /* certificates of many CAs, a long CRL */

#endif
