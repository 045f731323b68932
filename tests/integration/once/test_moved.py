"""Paths that lead elsewhere since the load: links, folders and mounts that were
set anew under a server which runs on. What lies there now was not loaded."""

import json
import os
import re
import shutil
import subprocess
import time
import unittest

from harness import MODELSERVER, WEIGHTCTL, OnceTest, needs_root


def wait_a_tick():
    """Process starts are known to 10 ms: what follows is surely later."""
    time.sleep(0.1)


def set_link(target, path):
    """As deployments do it: the link is exchanged in one step."""
    os.symlink(target, path + ".new")
    os.rename(path + ".new", path)


class Settings(OnceTest):
    """Weights are mapped; a settings file beside them, older than the process,
    says "other" since."""

    PIN = ("--setting", "bundle.hidden_act=other")

    def release(self, name, *options, other=False):
        folder = self.bundle(name, "--safetensors", *options)
        if other:
            self.change(folder + "/config.json", folder + "/config.json")
        return folder

    def change(self, source, target):
        with open(source) as file:
            config = {**json.load(file), "hidden_act": "other"}
        with open(target, "w") as file:
            json.dump(config, file)

    def twin(self, one, name):
        """The same weights by a hard link, with other settings."""
        two = self.path(*name.split("/"))
        os.mkdir(two)
        os.link(one + "/model.safetensors", two + "/model.safetensors")
        shutil.copy(one + "/tokenizer.json", two)
        self.change(one + "/config.json", two + "/config.json")
        return two

    def serve(self, folder, model=None):
        wait_a_tick()
        server = self.server("0", *(["--model", model] if model else []),
                             "--no-models")
        server.do(f"load mmap {folder}/model.safetensors")
        wait_a_tick()
        return server

    def mount(self, source, target):
        subprocess.run(["mount", "--bind", source, target], check=True)
        self.addCleanup(subprocess.run, ["umount", target], check=True)

    def assert_unverifiable(self, server, *pin):
        answer = self.once(server.port, *(pin or self.PIN))
        self.assertEqual(answer.kind, "UNVERIFIABLE", answer.reason)

    def test_settings_that_did_not_move_are_compared(self):
        one = self.release("all/r/1", other=True)
        current = self.path("all", "r", "current")
        os.symlink("1", current)
        server = self.serve(current, current)
        answer = self.once(server.port, *self.PIN)
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        os.mkdir(self.path("all", "r", "3"))   # beside it, nothing moved
        answer = self.once(server.port, *self.PIN)
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assertTrue(os.path.samefile(one, current))

    def test_link_to_the_release_is_set_anew(self):
        one = self.release("r/1")
        two = self.twin(one, "r/2")
        shown = subprocess.run([WEIGHTCTL, "bundle", two], check=True,
                               stdout=subprocess.PIPE, text=True).stdout
        digest = re.search(r"content\s+(sha256:\w+)", shown).group(1)
        current = self.path("r", "current")
        os.symlink("1", current)
        server = self.serve(current, current)
        set_link("2", current)
        self.assert_unverifiable(server, "--digest", digest)
        self.assert_unverifiable(server)

    def test_settings_through_a_link_that_is_set_anew(self):
        folder = self.release("v")
        for name in ("A", "B"):
            os.mkdir(self.path(name))
        self.change(folder + "/config.json", self.path("B", "config.json"))
        os.rename(folder + "/config.json", self.path("A", "config.json"))
        os.symlink("A", self.path("cfg"))
        os.symlink("../cfg/config.json", folder + "/config.json")
        server = self.serve(folder)
        set_link("B", self.path("cfg"))
        self.assert_unverifiable(server)

    def test_settings_through_a_folder_that_is_exchanged(self):
        folder = self.release("v")
        for name in ("cfg", "B"):
            os.mkdir(self.path(name))
        self.change(folder + "/config.json", self.path("B", "config.json"))
        os.rename(folder + "/config.json", self.path("cfg", "config.json"))
        os.symlink("../cfg/config.json", folder + "/config.json")
        server = self.serve(folder)
        os.rename(self.path("cfg"), self.path("A"))
        os.rename(self.path("B"), self.path("cfg"))
        self.assert_unverifiable(server)

    @needs_root
    def test_mount_over_a_settings_file(self):
        folder = self.release("v")
        self.change(folder + "/config.json", self.path("c.json"))
        server = self.serve(folder)
        self.mount(self.path("c.json"), folder + "/config.json")
        self.assert_unverifiable(server)

    @needs_root
    def test_mount_over_the_folder(self):
        one = self.release("x")
        two = self.twin(one, "y")
        server = self.serve(one)
        self.mount(two, one)
        self.assert_unverifiable(server)

    @needs_root
    def test_mount_of_other_weights_over_the_folder(self):
        one = self.release("x")
        two = self.release("y", "--seed", "2", other=True)
        server = self.serve(one)
        self.mount(two, one)
        self.assert_unverifiable(server)

    def test_loaded_snapshot_is_pruned(self):
        folder = self.release("v")
        self.change(folder + "/config.json", self.path("c.json"))
        repo = self.path("hub", "models--org--name")
        os.makedirs(repo + "/blobs")
        for revision, config in (("1" * 40, folder + "/config.json"),
                                 ("2" * 40, self.path("c.json"))):
            os.makedirs(f"{repo}/snapshots/{revision}")
            for name, path in (
                    ("model.safetensors", folder + "/model.safetensors"),
                    ("tokenizer.json", folder + "/tokenizer.json"),
                    ("config.json", config)):
                blob = self.sha256(path)[7:]
                if not os.path.exists(f"{repo}/blobs/{blob}"):
                    shutil.copy(path, f"{repo}/blobs/{blob}")
                os.symlink(f"../../blobs/{blob}",
                           f"{repo}/snapshots/{revision}/{name}")
        server = self.serve(f"{repo}/snapshots/" + "1" * 40)
        shutil.rmtree(f"{repo}/snapshots/" + "1" * 40)
        self.assert_unverifiable(server)


class Named(OnceTest):
    """An engine that reads its file and closes it: only the name is left."""

    def setUp(self):
        super().setUp()
        self.a = self.bundle("a.gguf", "--seed", "1")
        self.b = self.bundle("b.gguf", "--seed", "2")

    def read(self, path, file=None):
        wait_a_tick()
        program = self.path("llama-server")
        shutil.copy(MODELSERVER, program)
        server = self.server("0", "--model", path, *(
            ["--no-models"] if file else ["--load", "read-close"]),
            program=program)
        if file:
            server.do(f"load read-close {file}")
        wait_a_tick()
        return server

    def ask(self, server, digest):
        return self.once(server.port, "--digest", digest,
                         "--min-grade", "INFERRED").kind

    def folders(self):
        """v1/m.gguf is a, v2/m.gguf is b."""
        for name, path in (("v1", self.a), ("v2", self.b)):
            os.mkdir(self.path(name))
            os.rename(path, self.path(name, "m.gguf"))

    def test_link_is_set_anew(self):
        link = self.path("current.gguf")
        os.symlink("a.gguf", link)
        server = self.read(link)
        self.assertEqual(self.ask(server, self.sha256(self.a)), "MATCH")
        set_link("b.gguf", link)
        self.assertEqual(self.ask(server, self.sha256(self.b)),
                         "UNVERIFIABLE")

    def test_folder_is_exchanged(self):
        self.folders()
        digest = self.sha256(self.path("v2", "m.gguf"))
        server = self.read(self.path("v1", "m.gguf"))
        os.rename(self.path("v1"), self.path("v0"))
        os.rename(self.path("v2"), self.path("v1"))
        self.assertEqual(self.ask(server, digest), "UNVERIFIABLE")

    def test_first_of_a_named_folder_is_removed(self):
        os.mkdir(self.path("m"))
        for name, path in (("1.gguf", self.a), ("2.gguf", self.b)):
            os.rename(path, self.path("m", name))
        digest = self.sha256(self.path("m", "2.gguf"))
        server = self.read(self.path("m"), self.path("m", "1.gguf"))
        os.remove(self.path("m", "1.gguf"))
        self.assertEqual(self.ask(server, digest), "UNVERIFIABLE")

    @needs_root
    def test_mount_over_the_file(self):
        digest = self.sha256(self.b)
        server = self.read(self.a)
        subprocess.run(["mount", "--bind", self.b, self.a], check=True)
        self.addCleanup(subprocess.run, ["umount", self.a], check=True)
        self.assertEqual(self.ask(server, digest), "UNVERIFIABLE")


if __name__ == "__main__":
    unittest.main()
