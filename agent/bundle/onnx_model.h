/*
 * onnx_model.h - an ONNX model in the making: what onnx.c (the messages),
 * onnx_tensor.c (one tensor), onnx_nodes.c (operators that pack) and
 * onnx_files.c (external data) share.
 */
#ifndef WD_BUNDLE_ONNX_MODEL_H
#define WD_BUNDLE_ONNX_MODEL_H

#include "bundle/onnx.h"
#include "bundle/protowire.h"

/* A file that external data name. Sorted by name. */
struct wd_onnx_file {
	struct wd_slice location; /* as the model says, in the arena */
	uint32_t id;
};

/* What an operator says of one of its inputs. */
struct wd_onnx_role {
	struct wd_slice name; /* in the arena */
	uint64_t parameters;  /* 0 for scales and the like */
	unsigned bits;        /* of one packed parameter; 0: it is no weight */
	bool by_size;         /* as many as fit at `bits` each */
};

/* A tensor's own name, without where it stands; in step with
 * bundle->tensors while the file is read. */
struct wd_onnx_model {
	struct wd_draft *build;
	struct wd_wire wire;
	struct wd_error *err;
	struct wd_buf text;  /* for one name */
	struct wd_buf place; /* where the present tensor stands */
	struct wd_onnx_file *files;
	size_t file_count;
	size_t file_capacity;
	struct wd_slice *names; /* of the tensors, in step with them */
	size_t name_count;
	size_t name_capacity;
	struct wd_onnx_role *roles;
	size_t role_count;
	size_t role_capacity;
	uint64_t elsewhere; /* tensors that are no initializers of the graph */
	uint64_t elsewhere_elements;
	uint64_t without_data;
	char *first_without_data;
	uint64_t not_understood; /* operators that pack in a way not known */
	char *first_not_understood;
	bool has_training;
};

/* A key and a value (StringStringEntryProto) that end at `end`; the buffers
 * are emptied before. */
enum wd_status wd_onnx_entry(struct wd_onnx_model *model, uint64_t end,
    struct wd_buf *key, struct wd_buf *value) WD_MUST_CHECK;

/* A copy of a text field in the arena. */
enum wd_status wd_onnx_text(struct wd_onnx_model *model,
    const struct wd_wire_field *field, struct wd_slice *text) WD_MUST_CHECK;

/* onnx_tensor.c: a TensorProto that ends at `end`; model->place says where it
 * stands. */
enum wd_status wd_onnx_tensor(
    struct wd_onnx_model *model, uint64_t end) WD_MUST_CHECK;

/* onnx_nodes.c: keeps what the NodeProto says of its inputs, and moves back to
 * its start. */
enum wd_status wd_onnx_node(
    struct wd_onnx_model *model, uint64_t end) WD_MUST_CHECK;

/* onnx_nodes.c: counts the tensors as the nodes use them. */
enum wd_status wd_onnx_apply_roles(struct wd_onnx_model *model) WD_MUST_CHECK;

/* onnx_files.c: the number that a tensor at `location` gets as its file until
 * the files are known: 0 for the model's own, else 1 and more. */
enum wd_status wd_onnx_location(struct wd_onnx_model *model,
    struct wd_slice location, uint32_t *file) WD_MUST_CHECK;

/* onnx_files.c: adds the files, gives the tensors their numbers, and holds
 * offsets against sizes. */
enum wd_status wd_onnx_files(struct wd_onnx_model *model) WD_MUST_CHECK;

#endif
