#!/usr/bin/env python3
"""Writes a small GGUF file that llama.cpp really loads.

    make_llama.py OUT [--encoding F16|Q8_0|Q4_K] [--name NAME] [--seed N]

Two layers of 256, a byte tokenizer, random weights: about 3 MB in F16. The
same arguments give the same bytes. Prints what weightd must find, as JSON:
parameters, tensors, the offset of the tensor data, and the size.
"""
import argparse
import json
import random
import struct

EMBED, LAYERS, FEED, HEADS, HEADS_KV, VOCAB = 256, 2, 512, 8, 4, 512
ALIGN = 32
U32, I32, F32, STRING, ARRAY = 4, 5, 6, 8, 9

# name: (ggml type, elements in a block, bytes of a block)
ENCODINGS = {
    "F32": (0, 1, 4),
    "F16": (1, 1, 2),
    "Q8_0": (8, 32, 34),
    "Q4_K": (12, 256, 144),
}


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def key(name, kind, value):
    pack = {U32: "<I", I32: "<i", F32: "<f"}
    body = text(value) if kind == STRING else struct.pack(pack[kind], value)
    return text(name) + struct.pack("<I", kind) + body


def key_array(name, kind, values):
    head = text(name) + struct.pack("<IIQ", ARRAY, kind, len(values))
    pack = {I32: "<i", F32: "<f"}
    return head + b"".join(
        text(v) if kind == STRING else struct.pack(pack[kind], v)
        for v in values)


def vocabulary():
    """SentencePiece: three control tokens, every byte, and fillers."""
    tokens = ["<unk>", "<s>", "</s>"]
    types = [2, 3, 3]
    for byte in range(256):
        tokens.append("<0x%02X>" % byte)
        types.append(6)
    for filler in range(VOCAB - len(tokens)):
        tokens.append("\u2581w%d" % filler)
        types.append(1)
    return tokens, types


def settings(name):
    tokens, types = vocabulary()
    return [
        key("general.architecture", STRING, "llama"),
        key("general.name", STRING, name),
        key("general.alignment", U32, ALIGN),
        key("llama.context_length", U32, 128),
        key("llama.embedding_length", U32, EMBED),
        key("llama.block_count", U32, LAYERS),
        key("llama.feed_forward_length", U32, FEED),
        key("llama.attention.head_count", U32, HEADS),
        key("llama.attention.head_count_kv", U32, HEADS_KV),
        key("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
        key("llama.rope.dimension_count", U32, EMBED // HEADS),
        key("llama.vocab_size", U32, VOCAB),
        key("tokenizer.ggml.model", STRING, "llama"),
        key_array("tokenizer.ggml.tokens", STRING, tokens),
        key_array("tokenizer.ggml.scores", F32,
                  [-float(i) for i in range(VOCAB)]),
        key_array("tokenizer.ggml.token_type", I32, types),
        key("tokenizer.ggml.unknown_token_id", U32, 0),
        key("tokenizer.ggml.bos_token_id", U32, 1),
        key("tokenizer.ggml.eos_token_id", U32, 2),
    ]


def tensors(encoding):
    """(name, shape with the fastest dimension first, encoding)."""
    kv = EMBED // HEADS * HEADS_KV
    rows = [("token_embd.weight", (EMBED, VOCAB), encoding),
            ("output_norm.weight", (EMBED,), "F32"),
            ("output.weight", (EMBED, VOCAB), encoding)]
    for layer in range(LAYERS):
        block = "blk.%d." % layer
        rows += [
            (block + "attn_norm.weight", (EMBED,), "F32"),
            (block + "attn_q.weight", (EMBED, EMBED), encoding),
            (block + "attn_k.weight", (EMBED, kv), encoding),
            (block + "attn_v.weight", (EMBED, kv), encoding),
            (block + "attn_output.weight", (EMBED, EMBED), encoding),
            (block + "ffn_norm.weight", (EMBED,), "F32"),
            (block + "ffn_gate.weight", (EMBED, FEED), encoding),
            (block + "ffn_up.weight", (EMBED, FEED), encoding),
            (block + "ffn_down.weight", (FEED, EMBED), encoding),
        ]
    return rows


def elements(shape):
    count = 1
    for dimension in shape:
        count *= dimension
    return count


def block(source, encoding):
    """One block of small random weights; scales are small and positive."""
    if encoding == "F32":
        return struct.pack("<f", 1.0)
    if encoding == "F16":
        return struct.pack("<e", source.uniform(-0.05, 0.05))
    if encoding == "Q8_0":
        return struct.pack("<e", 0.0005) + source.randbytes(32)
    return struct.pack("<ee", 0.0002, 0.0001) + source.randbytes(140)


def data(source, shape, encoding):
    _, per_block, _ = ENCODINGS[encoding]
    return b"".join(block(source, encoding)
                    for _ in range(elements(shape) // per_block))


def padding(length):
    return b"\0" * (-length % ALIGN)


def build(name, encoding, seed):
    source = random.Random(seed)
    rows = tensors(encoding)
    keys = settings(name)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(rows), len(keys))
    head += b"".join(keys)
    bodies, offset = [], 0
    for tensor, shape, kind in rows:
        body = data(source, shape, kind)
        head += text(tensor) + struct.pack("<I", len(shape))
        head += struct.pack("<%dQ" % len(shape), *shape)
        head += struct.pack("<IQ", ENCODINGS[kind][0], offset)
        bodies.append(body + padding(len(body)))
        offset += len(bodies[-1])
    head += padding(len(head))
    facts = {
        "parameters": sum(elements(shape) for _, shape, _ in rows),
        "tensors": len(rows),
        "data_offset": len(head),
        "size_bytes": len(head) + offset,
    }
    return head + b"".join(bodies), facts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--encoding", default="F16",
                        choices=["F16", "Q8_0", "Q4_K"])
    parser.add_argument("--name", default="tiny llama")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    content, facts = build(args.name, args.encoding, args.seed)
    with open(args.out, "wb") as file:
        file.write(content)
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
