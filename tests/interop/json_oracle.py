#!/usr/bin/python3
"""Our proto3 JSON against that of Google's Python library.

Random messages of every response type are built from the schema itself, so a
field that is added later is tested without a change here; Kinds has the kinds
of field that the schema does not use. The wire bytes go
through wd-pb2json; parsed, both texts must be equal. Then the other way: the
library's JSON, in each of the forms that it can write, is read by ours.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

try:
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf import json_format, message_factory
except ImportError:
    print("python3-protobuf is not installed")
    sys.exit(77)

SOURCE = os.environ.get("WD_SOURCE", os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ["WD_BUILD"]
PB2JSON = os.path.join(BUILD, "tests/support/wd-pb2json")
ROUNDS = int(os.environ.get("WD_ROUNDS", "600"))
TYPES = ["weightd.v1." + name for name in
         ["AttestPortResponse", "AttestPortRequest", "DescribeBundleResponse",
          "DescribeBundleRequest", "ListServersRequest", "ListServersResponse",
          "GetHostRequest", "GetHostResponse", "Attestation", "Bundle",
          "Expectation", "Verdict"]] + ["weightd.testing.Kinds"]
# Everything but NUL, at which C strings end.
TEXTS = ["", "a", "llama-server", "ü", "模型", "\U0001f999", "\"quoted\"",
         "back\\slash", "a\nb\tc\rd\be\ff", "\x01\x1b[2J\x7f", "\x80\x9b\xa0",
         "\u200b\u202e\u2028\u2029\ufeff", "</script>&'", "\ufffd\uffff",
         "\U000e0041\U0010ffff", "%s%n"]


def load_messages():
    with tempfile.NamedTemporaryFile(suffix=".pb") as out:
        subprocess.run(
            ["protoc", "-I", os.path.join(SOURCE, "proto"),
             "-I", os.path.join(SOURCE, "tests/support"), "--include_imports",
             "--descriptor_set_out=" + out.name, "weightd/v1/service.proto",
             "kinds.proto"],
            check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    found = {}
    for name in TYPES:
        descriptor = pool.FindMessageTypeByName(name)
        found[name] = message_factory.MessageFactory(pool).GetPrototype(descriptor)
    return found


def random_time(rng, message):
    message.seconds = rng.choice([0, -1, 1, -62135596800, 253402300799,
                                  951782399, 951782400, 1709164800,
                                  rng.randrange(-62135596800, 253402300800)])
    message.nanos = rng.choice([0, 1, 999999999, 500000000, 123000, 123456000,
                                1000000, 10, rng.randrange(10 ** 9)])


def random_scalar(rng, field, strange):
    kind = field.cpp_type
    if kind == field.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if kind == field.CPPTYPE_ENUM:
        values = [v.number for v in field.enum_type.values]
        return rng.choice(values + [values[-1] + 7] * strange)
    if kind in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
        real = rng.choice([0.0, 1.0, -1.5, 0.1, 1e300, 5e-324, 1 / 3, 1e15, 1e17,
                           math.inf, -math.inf, math.nan, rng.uniform(-1e6, 1e6)])
        if kind == field.CPPTYPE_FLOAT and math.isfinite(real):
            real = struct.unpack("f", struct.pack("f", max(-3e38, min(3e38, real))))[0]
        return real
    if kind == field.CPPTYPE_STRING and field.type == field.TYPE_BYTES:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(9)))
    if kind == field.CPPTYPE_STRING:
        return "".join(rng.choice(TEXTS) for _ in range(rng.randrange(4)))
    bits = 64 if kind in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else 32
    if kind in (field.CPPTYPE_UINT64, field.CPPTYPE_UINT32):
        return rng.choice([0, 1, 2 ** bits - 1, 2 ** (bits - 1), rng.randrange(2 ** bits)])
    return rng.choice([0, -1, 2 ** (bits - 1) - 1, -2 ** (bits - 1), 7])


def fill(rng, message, depth, strange=True):
    if message.DESCRIPTOR.full_name == "google.protobuf.Timestamp":
        random_time(rng, message)
        return
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.4 or depth > 4:
            continue
        is_message = field.cpp_type == field.CPPTYPE_MESSAGE
        if field.label == field.LABEL_REPEATED:
            for _ in range(rng.randrange(4)):
                if is_message:
                    fill(rng, getattr(message, field.name).add(), depth + 1, strange)
                else:
                    getattr(message, field.name).append(
                        random_scalar(rng, field, strange))
        elif is_message:
            part = getattr(message, field.name)
            part.SetInParent()
            fill(rng, part, depth + 1, strange)
        else:
            setattr(message, field.name, random_scalar(rng, field, strange))


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "a key stands twice: %r" % keys
    return dict(pairs)


def record(name, message):
    return packed(name, message.SerializeToString())


def json_record(rng, name, message):
    text = json_format.MessageToJson(
        message, including_default_value_fields=rng.random() < 0.5,
        preserving_proto_field_name=rng.random() < 0.5,
        use_integers_for_enums=rng.random() < 0.5,
        ensure_ascii=rng.random() < 0.5)
    return packed(name, text.encode())


def packed(name, bytes_):
    name = name.encode()
    return struct.pack("<I", len(name)) + name + struct.pack("<I", len(bytes_)) + bytes_


def ours(records, flags):
    done = subprocess.run([PB2JSON] + flags, input=b"".join(records),
                          stdout=subprocess.PIPE, check=True)
    return done.stdout.decode("utf-8")


def compare(cases, texts):
    assert len(cases) == len(texts), "%d texts for %d messages" % (len(texts), len(cases))
    for (name, message), text in zip(cases, texts):
        wanted = json.loads(json_format.MessageToJson(message))
        got = json.loads(text, object_pairs_hook=no_duplicates)
        if wanted != got:
            print("%s differs\nwanted %s\ngot    %s" % (name, wanted, got))
            sys.exit(1)
        for char in text:
            assert char == "\n" or (ord(char) >= 32 and not 0x7f <= ord(char) < 0xa0), \
                "a control character is not escaped: %r" % char


def make_cases(rng, types, strange):
    cases = [(TYPES[0], types[TYPES[0]]())]
    for round_ in range(ROUNDS):
        name = TYPES[round_ % len(TYPES)]
        message = types[name]()
        fill(rng, message, 0, strange)
        cases.append((name, message))
    return cases


def main():
    rng = random.Random(20261130)
    types = load_messages()
    cases = make_cases(rng, types, True)
    records = [record(*case) for case in cases]
    compare(cases, ours(records, []).split("\n")[:-1])
    compare(cases, ours(records, ["--indented"]).split("\n%\n")[:-1])
    print("%d messages, compact and indented: equal" % len(cases))
    cases = make_cases(rng, types, False)
    records = [json_record(rng, *case) for case in cases]
    compare(cases, ours(records, ["--parse"]).split("\n")[:-1])
    print("%d messages, parsed: equal" % len(cases))


main()
