"""Names against weights: what people call a model, where the name leads now,
and which file is really held. Sections D and E of the field reports, with the
folders as huggingface_hub and Ollama make them."""

import json
import os
import shutil
import time
import unittest

from harness import MODELSERVER, OnceTest, flags, grade, text


def wait_a_tick():
    """Process starts are known to 10 ms: what follows is surely later."""
    time.sleep(0.05)


class Names(OnceTest):
    def named(self, name, path, **env):
        """A server that was told `name` and has `path` mapped."""
        server = self.server("0", "--model", name, "--no-models", env=env)
        server.do(b"load mmap " + os.fsencode(path))
        return server

    def assert_model(self, answer, path):
        """The one model is that file's content, and proven."""
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assertEqual(grade(answer.model), "RESIDENT")

    def moved(self, answer):
        return {m["name"]: m.get("leadsTo", "")
                for m in answer.model.get("movedNames", [])}

    def kept(self, answer):
        return sorted(answer.model.get("keptNames", []))

    def claim(self, answer):
        return answer.groups[0]["claims"][0]


class Hub(Names):
    """A cache of huggingface_hub."""

    def setUp(self):
        super().setUp()
        self.hub = self.path("hub")

    def write(self, path, content):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(content)

    def snapshot(self, revision, files, repo="models--org--name"):
        """files: {name: real file}; they become blobs."""
        folder = os.path.join(self.hub, repo, "snapshots", revision)
        blobs = os.path.join(self.hub, repo, "blobs")
        os.makedirs(folder, exist_ok=True)
        os.makedirs(blobs, exist_ok=True)
        for name, path in files.items():
            blob = self.sha256(path).removeprefix("sha256:")
            if not os.path.exists(os.path.join(blobs, blob)):
                shutil.move(path, os.path.join(blobs, blob))
            os.symlink(os.path.join("..", "..", "blobs", blob),
                       os.path.join(folder, name))
        return folder

    def ref(self, name, revision, repo="models--org--name"):
        self.write(os.path.join(self.hub, repo, "refs", name), revision)

    def test_D14_a_branch_moves_and_the_blob_is_deleted(self):
        folder = self.snapshot("abc", {"m.gguf": self.bundle("a.gguf")})
        path = os.path.join(folder, "m.gguf")
        digest = self.sha256(path)
        self.ref("main", "abc")
        server = self.named("org/name", path, HF_HUB_CACHE=self.hub)
        answer = self.once(server.port, "--digest", digest,
                           "--model", "org/name")
        self.assert_model(answer, path)
        self.assertEqual(self.kept(answer), ["org/name@abc", "org/name@main"])
        self.assertEqual(self.moved(answer), {})
        self.assertEqual(self.claim(answer)["agrees"], "TRISTATE_YES")
        # The hub has something new, which is downloaded.
        wait_a_tick()
        self.snapshot("def", {"m.gguf": self.bundle("b.gguf", "--seed", "2",
                                                    "--elements", "65536")})
        self.ref("main", "def")
        answer = self.once(server.port, "--digest", digest)
        self.assert_model(answer, path)
        self.assertEqual(self.kept(answer), ["org/name@abc"])
        self.assertEqual(self.moved(answer), {"main": "def"})
        self.assertIn("NAME_MOVED", flags(answer.model))
        self.assertNotIn("CONFLICT", flags(answer.model))
        # The old blob is cleared away.
        os.remove(os.path.realpath(path))
        answer = self.once(server.port, "--digest", digest)
        self.assert_model(answer, path)
        self.assertIn("DELETED", flags(answer.model))
        self.assertEqual(self.kept(answer), ["org/name@abc"])
        self.assertEqual(self.moved(answer), {"main": "def"})
        code, shown = self.once_text(server.port)
        self.assertIn("main, leads to def now", shown)

    def test_D14_refs_are_missing(self):
        folder = self.snapshot("abc", {"m.gguf": self.bundle("a.gguf")})
        path = os.path.join(folder, "m.gguf")
        server = self.named("org/name", path, HF_HUB_CACHE=self.hub)
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        self.assertEqual(self.kept(answer), ["org/name@abc"])
        self.assertEqual(self.moved(answer), {})

    def test_D14_a_broken_link_is_incomplete(self):
        made = self.bundle("model", "--safetensors", "--shards", "2",
                           "--tensors", "4")
        folder = self.snapshot(
            "abc", {n: os.path.join(made, n) for n in os.listdir(made)})
        self.ref("main", "abc")
        first, second = sorted(
            os.path.join(folder, n) for n in os.listdir(folder)
            if n.endswith(".safetensors"))
        whole = self.named("org/name", first, HF_HOME=self.folder)
        whole.do(f"load mmap {second}")
        part = self.named("org/name", first, HF_HOME=self.folder)
        self.assert_proven(self.once(whole.port), whole.pid)
        os.remove(os.path.realpath(second))
        answer = self.once(part.port)
        self.assertIn("INCOMPLETE", flags(answer.model))
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 8))
        # Who holds the deleted blob has the whole model.
        answer = self.once(whole.port)
        self.assertNotIn("INCOMPLETE", flags(answer.model))
        self.assertEqual(grade(answer.model), "RESIDENT")
        self.assertEqual(len(answer.model["files"]), 2)

    def test_D15_letter_case_of_folders(self):
        made = self.bundle("a.gguf")
        shutil.copy(made, self.path("b.gguf"))
        digest = self.sha256(made)
        paths = [
            os.path.join(self.snapshot("abc", {"m.gguf": path}, repo),
                         "m.gguf")
            for repo, path in (("models--Org--Name", made),
                               ("models--org--name", self.path("b.gguf")))]
        for path, name in zip(paths, ("Org/Name", "org/name")):
            server = self.named(name, path, HF_HUB_CACHE=self.hub)
            answer = self.once(server.port, "--digest", digest)
            self.assert_model(answer, path)
            self.assertEqual(answer.model["bundle"]["repository"], name)
            self.assertEqual(
                self.once(server.port, "--digest", digest, "--model",
                          name.swapcase()).kind, "MISMATCH")


class Ollama(Names):
    """A store of Ollama."""

    def setUp(self):
        super().setUp()
        self.store = self.path("ollama")

    def blob(self, path):
        digest = self.sha256(path)
        blob = os.path.join(self.store, "blobs", digest.replace(":", "-"))
        os.makedirs(os.path.dirname(blob), exist_ok=True)
        shutil.move(path, blob)
        return blob

    def tag(self, model, tag, blob):
        path = os.path.join(self.store, "manifests", "registry.ollama.ai",
                            "library", model, tag)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        digest = os.path.basename(blob).replace("-", ":")
        with open(path, "w") as file:
            json.dump({"schemaVersion": 2, "layers": [
                {"mediaType": "application/vnd.ollama.image.model",
                 "digest": digest, "size": os.stat(blob).st_size}]}, file)
        return digest

    def test_D11_a_tag_is_pulled_again(self):
        x = self.blob(self.bundle("x.gguf", "--seed", "1"))
        y = self.blob(self.bundle("y.gguf", "--seed", "2",
                                  "--elements", "65536"))
        digest = self.tag("a", "latest", x)
        self.tag("b", "1", x)
        server = self.named("a:latest", x, OLLAMA_MODELS=self.store)
        answer = self.once(server.port, "--digest", digest)
        self.assert_model(answer, x)
        self.assertEqual(self.kept(answer), ["a:latest", "b:1"])
        wait_a_tick()
        new = self.tag("a", "latest", y)
        answer = self.once(server.port, "--digest", digest)
        self.assert_model(answer, x)
        self.assertEqual(self.kept(answer), ["b:1"])
        self.assertEqual(self.moved(answer), {"a:latest": new})
        self.assertNotIn("CONFLICT", flags(answer.model))
        self.assertEqual(self.once(server.port, "--digest", new).kind,
                         "MISMATCH")
        # A tag is no name to pin.
        for name in ("b:1", "b", "a:latest", "a"):
            self.assertEqual(
                self.once(server.port, "--model", name,
                          "--allow-name-only").kind, "MISMATCH", name)


class Lists(Names):
    """Files that name models."""

    def test_a_preset_is_shown_and_proves_nothing(self):
        # The program's name is what tells the engine.
        program = self.path("llama-server")
        shutil.copy(MODELSERVER, program)
        held = self.bundle("held.gguf", "--seed", "1")
        other = self.bundle("other.gguf", "--seed", "2")
        preset = self.path("models.ini")
        with open(preset, "w") as file:
            file.write(f"version = 1\n[one]\nmodel = {held}\n"
                       f"[two]\nmodel = {other}\n")
        server = self.server("0", "--models-preset", preset,
                             program=program)
        server.do(f"load mmap {held}")
        answer = self.once(server.port)
        claims = {c["key"].removeprefix(preset + ": "): c
                  for c in answer.groups[0]["claims"]}
        self.assertEqual(claims["one.model"]["agrees"], "TRISTATE_YES")
        self.assertNotIn("agrees", claims["two.model"])
        self.assertEqual(claims["one.model"]["source"],
                         "SOURCE_CONFIGURATION")
        self.assertEqual(len(answer.models()), 1)
        self.assertNotIn("CONFLICT", flags(answer.model))


class Files(Names):
    """Plain files under several names."""

    def test_D6_another_file_of_the_folder_is_loaded(self):
        self.bundle("d/a.gguf", "--seed", "1")
        b = self.bundle("d/mmproj/b.gguf", "--seed", "2")
        server = self.named(self.path("d"), b)
        answer = self.once(server.port, "--digest", self.sha256(b))
        self.assert_model(answer, b)
        self.assertEqual(text(answer.model["bundle"]["path"]), os.fsencode(b))

    def test_D16_a_link_and_the_file(self):
        real = self.bundle("q4.gguf")
        link = self.path("prod.gguf")
        os.symlink("q4.gguf", link)
        server = self.server("0", "--model", link)
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        # The real file, and the name that was used.
        self.assertEqual(text(answer.model["bundle"]["path"]),
                         os.fsencode(real))
        self.assertEqual(text(self.claim(answer)["value"]), os.fsencode(link))
        self.assertEqual(self.claim(answer)["agrees"], "TRISTATE_YES")
        # The link is set anew: what is held stays.
        other = self.bundle("q8.gguf", "--seed", "2", "--elements", "65536")
        os.remove(link)
        os.symlink("q8.gguf", link)
        answer = self.once(server.port, "--digest", self.sha256(real))
        self.assert_model(answer, real)
        self.assertIn("CONFLICT", flags(answer.model))
        self.assertEqual(
            self.once(server.port, "--digest", self.sha256(other)).kind,
            "MISMATCH")

    def test_E1_rewritten_with_the_old_times(self):
        path = self.bundle("m.gguf", "--seed", "1")
        before = self.sha256(path)
        server = self.server("0", "--model", path)
        self.assertEqual(self.once(server.port, "--digest", before).kind,
                         "MATCH")
        times = os.stat(path)
        wait_a_tick()
        server.do("overwrite")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        answer = self.once(server.port, "--digest", before)
        self.assertIn("CHANGED_SINCE_LOAD", flags(answer.model))
        self.assertNotEqual(answer.kind, "MATCH")

    def test_E11_a_hard_link_and_a_copy(self):
        path = self.bundle("m.gguf")
        os.link(path, self.path("link.gguf"))
        shutil.copy(path, self.path("copy.gguf"))
        digest = self.sha256(path)
        wait_a_tick()
        seen = {}
        for name in ("m.gguf", "link.gguf", "copy.gguf"):
            server = self.server("0", "--model", self.path(name))
            answer = self.once(server.port, "--digest", digest)
            self.assert_model(answer, path)
            (file,) = answer.model["files"]
            seen[name] = file["inode"]
        self.assertEqual(seen["m.gguf"], seen["link.gguf"])
        self.assertNotEqual(seen["m.gguf"], seen["copy.gguf"])

    def test_a_write_through_a_hard_link(self):
        path = self.bundle("m.gguf")
        os.link(path, self.path("link.gguf"))
        wait_a_tick()
        server = self.server("0", "--model", path)
        digest = self.sha256(path)
        self.assertEqual(self.once(server.port, "--digest", digest).kind,
                         "MATCH")
        wait_a_tick()
        with open(self.path("link.gguf"), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))
        answer = self.once(server.port, "--digest", digest)
        self.assertIn("CHANGED_SINCE_LOAD", flags(answer.model))
        self.assertNotEqual(answer.kind, "MATCH")

    def test_E12_rewritten_while_only_open(self):
        path = self.bundle("m.gguf")
        server = self.server("0", "--load", "open-only", "--model", path)
        wait_a_tick()
        server.do("overwrite")
        answer = self.once(server.port)
        self.assertIn("CHANGED_SINCE_LOAD", flags(answer.model))
        self.assertNotEqual(answer.kind, "MATCH")


if __name__ == "__main__":
    unittest.main()
