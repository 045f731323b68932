#!/usr/bin/env python3
"""weightctl bundle diff on real files: what differs, and exit codes."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["WD_BUILD"]
WEIGHTCTL = os.path.join(BUILD, "client/weightctl")
MKBUNDLE = os.path.join(BUILD, "tests/support/wd-mkbundle")


def bytes_read():
    """By this process and the children that it has waited for."""
    with open("/proc/self/io", encoding="ascii") as file:
        return int(file.readline().split()[1])


class Diff(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def make(self, name, *arguments):
        path = os.path.join(self.folder, name)
        subprocess.run([MKBUNDLE, path, *arguments], check=True)
        return path

    def run_it(self, *arguments, **options):
        return subprocess.run([WEIGHTCTL, "bundle", "diff", *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, **options)

    def diff(self, code, *arguments):
        done = self.run_it(*arguments, "--format", "json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_equal_headers_are_not_a_proof(self):
        a, b = self.make("a.gguf"), self.make("b.gguf", "--seed", "2")
        self.assertEqual(self.diff(4, a, b)["result"], "RESULT_HEADERS_EQUAL")
        self.assertEqual(self.diff(0, a, b, "--headers-only")["result"],
                         "RESULT_HEADERS_EQUAL")
        done = self.run_it(a, b)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"tensor data not compared", done.stdout)

    def test_tensor_data_are_compared_when_asked(self):
        a, b = self.make("a.gguf"), self.make("b.gguf", "--seed", "2")
        message = self.diff(1, a, b, "--digests")
        self.assertEqual([fact["field"] for fact in message["facts"]],
                         ["content_digest"])
        same = self.make("c.gguf")
        self.assertEqual(self.diff(0, a, same, "--digests")["result"],
                         "RESULT_EQUAL")

    def test_encodings_differ_by_class_and_by_name(self):
        a = self.make("a.gguf")
        b = self.make("b.gguf", "--encoding", "F16")
        message = self.diff(1, a, b)
        self.assertNotIn("tensors", message)
        self.assertEqual({row["encoding"] for row in message["classes"]},
                         {"F16", "Q8_0"})
        message = self.diff(1, a, b, "--names")
        self.assertEqual(len(message["tensors"]), 4)
        self.assertIn("Q8_0", message["tensors"][0]["a"])
        self.assertIn("F16", message["tensors"][0]["b"])
        done = self.run_it(a, b, "--names")
        self.assertIn(b"Q8_0", done.stdout)

    def test_a_setting_differs_in_words(self):
        a = self.make("a", "--safetensors")
        b = os.path.join(self.folder, "b")
        shutil.copytree(a, b)
        path = os.path.join(b, "config.json")
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        config["attention"] = {"bits": 4}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        message = self.diff(1, a, b)
        self.assertEqual(message["settings"],
                         [{"field": "bundle.attention.bits", "b": "4"}])
        done = self.run_it(a, b)
        self.assertIn(b"bundle.attention.bits: (none) -> 4", done.stdout)

    def test_no_tensor_byte_is_read_unasked(self):
        a = self.make("a.gguf", "--elements", "1073741824", "--sparse")
        b = self.make("b.gguf", "--elements", "1073741824", "--sparse",
                      "--encoding", "F16")
        before = bytes_read()
        self.diff(1, a, b)
        self.assertLess(bytes_read() - before, 4 << 20)

    def test_an_incomplete_bundle_is_never_equal(self):
        a = self.make("a.gguf")
        b = self.make("b.gguf")
        os.truncate(b, os.stat(b).st_size - 1)
        message = self.diff(1, a, b)
        self.assertTrue(message["bIncomplete"])
        shutil.copy(b, a)
        self.assertEqual(self.diff(4, a, b, "--headers-only")["result"],
                         "RESULT_INCOMPLETE")

    def test_usage(self):
        a = self.make("a.gguf")
        for arguments in ([], [a], [a, a, a], [a, ""], [a, a, "--what"],
                          [a, a, "--format"], [a, a, "--format=xml"],
                          [a, a, "--digests", "--headers-only"],
                          [a, os.path.join(self.folder, "none")]):
            done = self.run_it(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, b"", arguments)
            self.assertNotEqual(done.stderr, b"", arguments)

    def test_a_file_of_no_format_is_unverifiable(self):
        path = os.path.join(self.folder, "text")
        with open(path, "w", encoding="ascii") as file:
            file.write("no weights")
        self.assertEqual(self.run_it(path, path).returncode, 4)


if __name__ == "__main__":
    unittest.main()
