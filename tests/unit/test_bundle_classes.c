/* What tensors are for, by their names; the recipe by class. */
#include "bundle/classes.h"

#include <string.h>

#include "base/mem.h"
#include "support/suite.h"

static const struct {
	const char *name;
	enum wd_tensor_class class;
} names[] = {
	/* Hugging Face and MLX */
	{ "model.layers.0.self_attn.q_proj.weight", WD_CLASS_ATTENTION },
	{ "model.layers.0.linear_attn.in_proj.weight", WD_CLASS_ATTENTION },
	{ "model.layers.0.self_attn.indexer.wk.weight", WD_CLASS_ATTENTION },
	{ "bert.encoder.layer.0.attention.self.query.weight",
	    WD_CLASS_ATTENTION },
	{ "model.layers.0.mlp.down_proj.weight", WD_CLASS_FEED_FORWARD },
	{ "model.decoder.layers.0.fc1.weight", WD_CLASS_FEED_FORWARD },
	{ "layers.0.feed_forward.w1.weight", WD_CLASS_FEED_FORWARD },
	{ "model.layers.0.mlp.experts.7.up_proj.weight", WD_CLASS_EXPERTS },
	{ "model.layers.0.mlp.switch_mlp.up_proj.weight", WD_CLASS_EXPERTS },
	{ "model.layers.0.mlp.shared_expert.up_proj.weight", WD_CLASS_EXPERTS },
	{ "model.layers.0.block_sparse_moe.gate.weight", WD_CLASS_EXPERTS },
	{ "model.embed_tokens.weight", WD_CLASS_EMBEDDING },
	{ "transformer.wte.weight", WD_CLASS_EMBEDDING },
	{ "lm_head.weight", WD_CLASS_OUTPUT },
	{ "model.layers.61.shared_head.head.weight", WD_CLASS_OUTPUT },
	{ "model.norm.weight", WD_CLASS_NORM },
	{ "model.layers.0.self_attn.q_norm.weight", WD_CLASS_NORM },
	{ "model.layers.0.post_attention_layernorm.weight", WD_CLASS_NORM },
	{ "transformer.h.0.ln_1.weight", WD_CLASS_NORM },
	{ "vision_tower.blocks.0.attn.qkv.weight", WD_CLASS_TOWER },
	{ "visual.blocks.0.norm1.weight", WD_CLASS_TOWER },
	{ "audio_tower.layers.0.fc1.weight", WD_CLASS_TOWER },
	{ "multi_modal_projector.linear_1.weight", WD_CLASS_TOWER },
	/* GGUF */
	{ "blk.0.attn_q.weight", WD_CLASS_ATTENTION },
	{ "blk.0.attn_norm.weight", WD_CLASS_NORM },
	{ "blk.0.ffn_up.weight", WD_CLASS_FEED_FORWARD },
	{ "blk.0.ffn_up_exps.weight", WD_CLASS_EXPERTS },
	{ "blk.0.ffn_up_shexp.weight", WD_CLASS_EXPERTS },
	{ "token_embd.weight", WD_CLASS_EMBEDDING },
	{ "output.weight", WD_CLASS_OUTPUT },
	{ "output_norm.weight", WD_CLASS_NORM },
	{ "v.blk.0.attn_q.weight", WD_CLASS_TOWER },
	{ "mm.0.weight", WD_CLASS_TOWER },
	/* neither */
	{ "blk.0.ssm_in.weight", WD_CLASS_OTHER },
	{ "rope_freqs.weight", WD_CLASS_OTHER },
	{ "my.output.weight", WD_CLASS_OTHER },
	{ "", WD_CLASS_OTHER },
};

START_TEST(the_class_of_a_name)
{
	ck_assert_str_eq(wd_tensor_class_name(
			     wd_tensor_class(wd_slice_text(names[_i].name))),
	    wd_tensor_class_name(names[_i].class));
}
END_TEST

#define TENSOR(text, of, count, bytes)                                         \
	{                                                                      \
		.name = (text), .name_len = sizeof(text) - 1,                  \
		.encoding = (of), .elements = (count), .parameters = (count),  \
		.size_bytes = (bytes)                                          \
	}

/* By class, then by bytes; helpers are left out. */
START_TEST(the_recipe_by_class)
{
	struct wd_tensor tensors[] = {
		TENSOR("norm.weight", "BF16", 4, 8),
		TENSOR("l.0.mlp.up.weight", "four", 100, 50),
		TENSOR("l.0.self_attn.q.weight", "four", 10, 5),
		TENSOR("l.0.self_attn.o.weight", "eight", 10, 10),
		TENSOR("l.1.self_attn.o.weight", "eight", 10, 10),
		TENSOR("l.0.self_attn.o.scales", "F16", 1, 2),
	};
	struct wd_bundle bundle = { .tensors = tensors, .tensor_count = 6 };
	struct wd_classes classes;

	tensors[5].helper = true;
	ck_assert_int_eq(wd_classes_count(&bundle, &classes, NULL), WD_OK);
	ck_assert_uint_eq(classes.count, 4);
	ck_assert_int_eq(classes.rows[0].class, WD_CLASS_ATTENTION);
	ck_assert_str_eq(classes.rows[0].count.encoding, "eight");
	ck_assert_uint_eq(classes.rows[0].count.tensors, 2);
	ck_assert_uint_eq(classes.rows[0].count.elements, 20);
	ck_assert_uint_eq(classes.rows[0].count.parameters, 20);
	ck_assert_uint_eq(classes.rows[0].count.size_bytes, 20);
	ck_assert_str_eq(classes.rows[1].count.encoding, "four");
	ck_assert_uint_eq(classes.rows[1].count.tensors, 1);
	ck_assert_int_eq(classes.rows[2].class, WD_CLASS_FEED_FORWARD);
	ck_assert_int_eq(classes.rows[3].class, WD_CLASS_NORM);
	wd_classes_release(&classes);
	ck_assert_ptr_null(classes.rows);
}
END_TEST

START_TEST(a_bundle_without_tensors_has_no_classes)
{
	struct wd_bundle bundle = { .tensor_count = 0 };
	struct wd_classes classes;

	ck_assert_int_eq(wd_classes_count(&bundle, &classes, NULL), WD_OK);
	ck_assert_uint_eq(classes.count, 0);
	wd_classes_release(&classes);
}
END_TEST

WD_SUITE_BEGIN("bundle classes")
WD_LOOP(the_class_of_a_name, names);
WD_TEST(the_recipe_by_class);
WD_TEST(a_bundle_without_tensors_has_no_classes);
WD_SUITE_END
