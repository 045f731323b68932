#!/usr/bin/env python3
"""weightctl bundle on tags of an Ollama store and on blobs named by digest."""

import hashlib
import json
import os
import subprocess
import tempfile
import unittest

BUILD = os.environ["WD_BUILD"]
WEIGHTCTL = os.path.join(BUILD, "client/weightctl")
MKBUNDLE = os.path.join(BUILD, "tests/support/wd-mkbundle")
LIBRARY = "manifests/registry.ollama.ai/library"
TYPE = "application/vnd.ollama.image."


class Store(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = folder.name
        os.makedirs(os.path.join(self.store, "blobs"))
        self.model = self.put(self.make("--seed", "1"))

    def make(self, *arguments, name="m.gguf"):
        path = os.path.join(self.store, name)
        subprocess.run([MKBUNDLE, path, *arguments], check=True)
        with open(path, "rb") as file:
            return file.read()

    def blob(self, digest):
        return os.path.join(self.store, "blobs", "sha256-" + digest)

    def put(self, data):
        digest = hashlib.sha256(data).hexdigest()
        with open(self.blob(digest), "wb") as file:
            file.write(data)
        return digest

    def tag(self, name, *layers):
        folder = os.path.join(self.store, LIBRARY, name)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "latest")
        rows = [dict({"mediaType": TYPE + layer[0],
                      "digest": "sha256:" + layer[1],
                      "size": os.path.getsize(self.blob(layer[1]))},
                     **({"name": layer[2]} if len(layer) > 2 else {}))
                for layer in layers]
        with open(path, "w") as file:
            json.dump({"schemaVersion": 2, "layers": rows}, file)
        return path

    def run_it(self, *arguments):
        return subprocess.run([WEIGHTCTL, *arguments], timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def message(self, path, *flags, code=0):
        done = self.run_it("bundle", path, "--format", "json", *flags)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout), done.stderr.decode()

    def settings(self, message):
        return {row["key"]: row["value"] for row in message["settings"]}

    def test_a_tag_is_the_bundle_of_its_model(self):
        layers = [("model", self.model),
                  ("params", self.put(b'{"temperature":0.5,"stop":["a"]}')),
                  ("template", self.put(b"{{ .Prompt }}")),
                  ("license", self.put(b"free"))]
        told, _ = self.message(self.tag("a", *layers))
        alone, _ = self.message(self.blob(self.model))
        for key in ("contentDigest", "encodingDigest", "settingsDigest",
                    "derivedRecipe", "parameterCount"):
            self.assertEqual(told[key], alone[key], key)
        settings = self.settings(told)
        self.assertEqual(settings["tag.params.temperature"], "0.5")
        self.assertEqual(settings["tag.params.stop"], '["a"]')
        self.assertEqual(settings["tag.template"], "{{ .Prompt }}")
        self.assertEqual(len(told["files"]), 4)

    def test_tags_that_differ_in_a_parameter(self):
        one = self.tag("a", ("model", self.model),
                       ("params", self.put(b'{"num_ctx":4096}')))
        two = self.tag("b", ("model", self.model),
                       ("params", self.put(b'{"num_ctx":8192}')))
        done = self.run_it("bundle", "diff", one, two)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"tag.params.num_ctx: 4096 -> 8192", done.stdout)

    def test_adapters_and_projectors_are_shown(self):
        other = self.put(self.make("--seed", "2"))
        told, _ = self.message(self.tag(
            "a", ("model", self.model), ("adapter", other)))
        names = [file["name"] for file in told["files"]]
        self.assertEqual(len(names), 2)
        alone, _ = self.message(self.blob(self.model))
        self.assertEqual(told["contentDigest"], alone["contentDigest"])

    def test_C4_layers_with_names_are_a_directory(self):
        folder = os.path.join(self.store, "mlx")
        subprocess.run([MKBUNDLE, folder, "--safetensors", "--packed",
                        "mlx-4", "--elements", "4096"], check=True)
        layers = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                layers.append(("json" if name.endswith("json") else "tensors",
                               self.put(file.read()), name))
        told, _ = self.message(self.tag("mlx", *layers))
        plain, _ = self.message(folder)
        for key in ("parameterCount", "storedElementCount", "contentDigest",
                    "encodingDigest", "derivedRecipe"):
            self.assertEqual(told[key], plain[key], key)
        self.assertTrue(told["parametersKnown"])
        self.assertNotEqual(told["parameterCount"],
                            told["storedElementCount"])

    def test_a_blob_of_other_bytes_is_corrupt(self):
        path = self.tag("a", ("model", self.model))
        with open(self.blob(self.model), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"\x55")
        for given in (path, self.blob(self.model)):
            told, said = self.message(given, code=1)
            self.assertIn("the cache is corrupt", said)
            self.assertIn("the cache is corrupt",
                          " ".join(note["text"] for note in told["notes"]))
        # Names are not looked into without a digest.
        self.message(path, "--headers-only")

    def test_a_snapshot_leads_to_a_corrupt_blob(self):
        data = self.make("--seed", "3")
        hub = os.path.join(self.store, "models--o--n")
        snapshot = os.path.join(hub, "snapshots", "1" * 40)
        os.makedirs(os.path.join(hub, "blobs"))
        os.makedirs(snapshot)
        digest = hashlib.sha256(data).hexdigest()
        blob = os.path.join(hub, "blobs", digest)
        with open(blob, "wb") as file:
            file.write(data)
        link = os.path.join(snapshot, "m.gguf")
        os.symlink(os.path.join("../../blobs", digest), link)
        self.message(link)
        self.message(snapshot)
        with open(blob, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(bytes([data[-1] ^ 1]))
        _, said = self.message(snapshot, code=1)
        self.assertIn(digest, said)

    def test_layers_that_are_missing(self):
        template = self.put(b"x")
        path = self.tag("a", ("model", self.model), ("template", template))
        os.remove(self.blob(template))
        told, _ = self.message(path, code=4)
        self.assertTrue(told["incomplete"])
        os.remove(self.blob(self.model))
        self.assertNotEqual(self.run_it("bundle", path).returncode, 0)

    def test_what_is_no_manifest(self):
        path = self.tag("a", ("license", self.put(b"free")))
        self.assertEqual(self.run_it("bundle", path).returncode, 4)
        for text in ("", "[]", "{}", '{"layers":[{}]}',
                     '{"layers":[{"mediaType":"a","digest":"sha256:../x"}]}'):
            with open(path, "w") as file:
                file.write(text)
            done = self.run_it("bundle", path)
            self.assertEqual(done.returncode, 4, text)
            self.assertEqual(done.stdout, b"")


if __name__ == "__main__":
    unittest.main()
