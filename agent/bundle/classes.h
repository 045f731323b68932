/*
 * classes.h - what a tensor is for, told from its name: attention,
 * feed-forward, experts and so on. For people and for comparisons; no count
 * and no digest depends on it. The names are those of GGUF files and of
 * Hugging Face and MLX models; what none of them fits is "other".
 */
#ifndef WD_BUNDLE_CLASSES_H
#define WD_BUNDLE_CLASSES_H

#include "base/error.h"
#include "bundle/bundle.h"

enum wd_tensor_class {
	WD_CLASS_ATTENTION,
	WD_CLASS_FEED_FORWARD,
	WD_CLASS_EXPERTS,
	WD_CLASS_EMBEDDING,
	WD_CLASS_OUTPUT,
	WD_CLASS_NORM,
	WD_CLASS_TOWER, /* all of a vision or audio part, and its projector */
	WD_CLASS_OTHER,
	WD_CLASS_COUNT,
};

/* The class of a tensor. Pure. */
enum wd_tensor_class wd_tensor_class(struct wd_slice name);

/* "attention", "feed-forward", ...; static. */
const char *wd_tensor_class_name(enum wd_tensor_class class);

/* One encoding within a class; its name is the bundle's. */
struct wd_class_count {
	enum wd_tensor_class class;
	struct wd_encoding_count count;
};

struct wd_classes {
	struct wd_class_count *rows;
	size_t count;
	size_t capacity; /* private */
};

/* Counts the bundle's tensors but helpers (scales, zero points): for each
 * class, in the order of the enumeration, its encodings, that of most bytes
 * first, then by name. Errors: WD_LIMIT, WD_NOMEM; there is nothing to release
 * then. */
enum wd_status wd_classes_count(const struct wd_bundle *bundle,
    struct wd_classes *classes, struct wd_error *err) WD_MUST_CHECK;

/* A valid WD_CLEANUP handler; also of a zeroed struct. */
void wd_classes_release(struct wd_classes *classes);

#endif
