#!/usr/bin/env python3
"""make_onnx.py OUT: a small ONNX model, y = x W with W of 512 x 512, in the
wire format of Protocol Buffers (onnx.proto, IR version 8, opset 13)."""
import random
import struct
import sys

WIDTH = 512
FLOAT = 1


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, body):
    body = body.encode() if isinstance(body, str) else body
    return varint(field << 3 | 2) + varint(len(body)) + body


def value_info(name):
    shape = b"".join(block(1, number(1, size)) for size in (1, WIDTH))
    tensor = number(1, FLOAT) + block(2, shape)
    return block(1, name) + block(2, block(1, tensor))


def model():
    source = random.Random(1)
    data = b"".join(struct.pack("<f", source.uniform(-1, 1))
                    for _ in range(WIDTH * WIDTH))
    weight = number(1, WIDTH) + number(1, WIDTH) + number(2, FLOAT) + \
        block(8, "W") + block(9, data)
    node = block(1, "x") + block(1, "W") + block(2, "y") + block(4, "MatMul")
    graph = block(1, node) + block(2, "tiny") + block(5, weight) + \
        block(11, value_info("x")) + block(12, value_info("y"))
    return number(1, 8) + block(2, "weightd") + block(7, graph) + \
        block(8, block(1, "") + number(2, 13))


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(model())
