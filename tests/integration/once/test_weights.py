"""Section B of the field reports: from a process to its weights."""

import os
import shutil
import subprocess
import time
import unittest

from harness import MODELSERVER, OnceTest, flags, grade, needs_root, text


class Weights(OnceTest):
    def proven(self, *options, path=None, **more):
        path = path or self.bundle()
        server = self.server("0", "--model", path, *options, **more)
        return server, self.once(server.port)

    def assert_names(self, answer, path):
        self.assertEqual(text(answer.model["bundle"]["path"]),
                         os.fsencode(os.path.realpath(path)))

    def overlay(self):
        """A mounted overlay whose lower folder has m.gguf."""
        lower, upper, work, merged = (
            self.path(p) for p in ("lower", "upper", "work", "merged"))
        for folder in (lower, upper, work, merged):
            os.mkdir(folder)
        self.bundle("lower/m.gguf", "--seed", "1")
        mount = subprocess.run(
            ["mount", "-t", "overlay", "overlay", "-o",
             f"lowerdir={lower},upperdir={upper},workdir={work}", merged])
        if mount.returncode != 0:
            self.skipTest("this kernel mounts no overlay here")
        self.addCleanup(subprocess.run, ["umount", "-l", merged])
        return os.path.join(merged, "m.gguf")

    @needs_root
    def test_B1_overlay(self):
        server = self.server("0", "--model", self.overlay())
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        self.assertEqual(answer.model["onOverlay"], "TRISTATE_YES")
        server.stop()

    @needs_root
    def test_copied_up_while_it_is_mapped(self):
        """A write makes a copy in the upper folder: the path then leads to new
        bytes, and the mapping keeps those of the lower file."""
        path = self.overlay()
        before = self.sha256(path)
        server = self.server("0", "--model", path)
        other = self.bundle("other.gguf", "--seed", "2")
        with open(other, "rb") as new, open(path, "r+b") as file:
            file.write(new.read())
        self.assertTrue(os.path.exists(self.path("upper", "m.gguf")))
        after = self.sha256(path)
        self.assertNotEqual(before, after)
        answer = self.once(server.port, "--digest", after)
        self.assertNotEqual(answer.kind, "MATCH", answer.reason)
        seen = set(flags(answer.model))
        for file in answer.model["files"]:
            seen |= set(flags(file))
        self.assertTrue(seen & {"CHANGED_SINCE_LOAD", "REPLACED"}, seen)
        # What is mapped may be proven, and is never said to be wrong.
        answer = self.once(server.port, "--digest", before)
        self.assertNotEqual(answer.kind, "MISMATCH", answer.reason)
        server.stop()

    def test_B4_B6_deleted_and_another_file_of_that_name(self):
        path = self.bundle("m.gguf", "--seed", "1")
        digest = self.sha256(path)
        server = self.server("0", "--model", path)
        server.do("unlink")
        answer = self.once(server.port, "--digest", digest)
        self.assertIn("DELETED", flags(answer.model))
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.bundle("m.gguf", "--seed", "2")
        other = self.sha256(path)
        answer = self.once(server.port, "--digest", digest)
        self.assertIn("REPLACED", flags(answer.model))
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        answer = self.once(server.port, "--digest", other)
        self.assertNotEqual(answer.kind, "MATCH")
        self.assertNotEqual(answer.code, 0)

    def test_B7_renamed_over(self):
        path = self.bundle("m.gguf", "--seed", "1")
        digest = self.sha256(path)
        new = self.bundle("new.gguf", "--seed", "2")
        server = self.server("0", "--model", path)
        server.do(f"replace {new}")
        answer = self.once(server.port, "--digest", digest)
        self.assertIn("REPLACED", flags(answer.model))
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assertNotEqual(
            self.once(server.port, "--digest", self.sha256(path)).kind,
            "MATCH")

    def test_B8_spaces(self):
        path = self.bundle(" My  Models/ a  b .gguf")
        server, answer = self.proven(path=path)
        self.assert_proven(answer, server.pid)
        self.assert_names(answer, path)

    def test_B10_titles_change_nothing(self):
        other = self.bundle("other.gguf", "--seed", "9")
        path = self.bundle()
        server = self.server("0", "--model", path)
        server.do(f"title python --model {other}")
        answer = self.once(server.port, "--digest", self.sha256(path))
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assert_names(answer, path)
        self.assertTrue(answer.processes[server.pid]["argvOverwritten"])

    def test_B13_a_long_command_line_is_whole(self):
        path = self.bundle()
        padding = [f"--pad-{i}=" + "x" * 1000 for i in range(100)]
        server = self.server("0", *padding, "--model", path)
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        argv = answer.processes[server.pid]["argv"]
        self.assertEqual(text(argv[-1]), os.fsencode(path))
        self.assertFalse(answer.processes[server.pid].get("argvTruncated"))

    def test_B14_bytes_that_are_no_text(self):
        path = os.path.join(os.fsencode(self.folder), b"\xff\xfe.gguf")
        os.rename(self.bundle(), path)
        server = self.server("0", "--model", path)
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        self.assertEqual(text(answer.model["bundle"]["path"]), path)
        code, shown = self.once_text(server.port)
        self.assertEqual(code, 0)
        self.assertIn("\\xff\\xfe.gguf", shown)

    @needs_root
    def test_B16_B17_chroot(self):
        root = self.path("root")
        self.bundle("root/m.gguf")
        server = Chroot.server(self, root)
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        self.assertNotIn("REPLACED", flags(answer.model))
        self.assertNotIn("DELETED", flags(answer.model))

    def test_B18_memfd(self):
        path = self.bundle()
        server = self.server("0")
        server.do(f"memfd {path}")
        answer = self.once(server.port, "--digest", self.sha256(path),
                           "--min-grade", "RESIDENT")
        (file,) = answer.model["files"]
        self.assertTrue(file["inMemory"])
        self.assertNotIn("DELETED", flags(answer.model))
        self.assertEqual(grade(answer.model), "RESIDENT")

    def test_B22_argv0_is_no_identity(self):
        server = self.server("0", "--model", self.bundle(),
                             exec_as="/usr/bin/llama-server")
        answer = self.once(server.port)
        executable = answer.processes[server.pid]["executable"]
        self.assertTrue(text(executable["path"]).endswith(b"wd-modelserver"))

    def test_U1_a_name_that_looks_like_an_escape(self):
        for name in ("a\\012b.gguf", "a\nb.gguf"):
            path = self.path(name)
            os.rename(self.bundle("plain.gguf"), path)
            server = self.server("0", "--model", path)
            answer = self.once(server.port)
            self.assert_proven(answer, server.pid)
            self.assert_names(answer, path)
            code, shown = self.once_text(server.port)
            self.assertNotIn("a\nb", shown)
            server.stop()

    def test_U5_read_and_closed_is_no_mapping(self):
        path = self.bundle("m.gguf", "--elements", "65536")
        server, answer = self.proven("--load", "read-close", path=path)
        self.assertEqual(grade(answer.model), "INFERRED")
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        self.assertEqual(answer.line, 8)
        self.assertEqual(answer.code, 4)

    def test_named_and_never_read_is_only_a_claim(self):
        path = self.bundle("m.gguf", "--elements", "1048576")
        server, answer = self.proven("--load", "none", path=path)
        self.assertEqual(grade(answer.model), "CLAIMED")
        self.assertEqual(answer.kind, "UNVERIFIABLE")

    def test_open_is_not_load(self):
        path = self.bundle("m.gguf", "--elements", "1048576")
        server = self.server("0", "--load", "open-only", "--model", path)
        answer = self.once(server.port)
        self.assertNotEqual(answer.kind, "MATCH")
        self.assertLess(["BLIND", "NONE", "CLAIMED", "INFERRED",
                         "WITNESSED"].index(grade(answer.model)), 4)

    def test_a_partial_mapping_is_inferred(self):
        path = self.bundle("m.gguf", "--elements", "65536")
        size = os.stat(path).st_size
        server, answer = self.proven(
            "--load", f"partial-map={size // 2}", path=path)
        self.assertEqual(grade(answer.model), "INFERRED")
        (file,) = answer.model["files"]
        self.assertLess(int(file["tensorsMapped"]), int(file["tensorCount"]))

    def test_a_mapping_from_the_tensor_data_on_is_resident(self):
        server, answer = self.proven("--load", "map-from-tensor-data")
        self.assert_proven(answer, server.pid)

    def test_private_pages_that_were_written(self):
        path = self.bundle()
        server = self.server("0", "--model", path, "--load", "mmap-private")
        self.assert_proven(self.once(server.port), server.pid)
        server.do("write-private")
        answer = self.once(server.port, "--digest", self.sha256(path))
        self.assertIn("MODIFIED_IN_MEMORY", flags(answer.model))
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        self.assertEqual(answer.line, 8)

    def test_overwritten_in_place(self):
        path = self.bundle("m.gguf", "--seed", "1")
        before = self.sha256(path)
        server = self.server("0", "--model", path)
        self.assertEqual(self.once(server.port, "--digest", before).kind,
                         "MATCH")
        server.do("overwrite")
        answer = self.once(server.port, "--digest", before)
        self.assertIn("CHANGED_SINCE_LOAD", flags(answer.model))
        self.assertNotEqual(answer.kind, "MATCH")
        self.assertNotEqual(answer.code, 0)
        # The pages are those of the file, and show the new content; what
        # computes may be a copy that was made of the old at load.
        answer = self.once(server.port, "--digest", self.sha256(path))
        self.assertEqual(answer.kind, "UNVERIFIABLE", answer.reason)

    def test_overwritten_under_an_engine_that_makes_no_copies(self):
        path = self.bundle("m.gguf", "--seed", "1")
        program = self.path("llama-server")
        shutil.copy(MODELSERVER, program)
        server = self.server("0", "--model", path, "--no-repack", "-",
                             program=program)
        time.sleep(0.05)  # starts are known to 10 ms
        server.do("overwrite")
        answer = self.once(server.port, "--digest", self.sha256(path))
        self.assertIn("CHANGED_SINCE_LOAD", flags(answer.model))
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        # Without a pin on the content nobody can tell.
        self.assertEqual(self.once(server.port).kind, "UNVERIFIABLE")

    def test_somebody_could_be_writing(self):
        path = self.bundle()
        os.utime(path, (1, 1))
        writer = self.server("0")
        server = self.server("0", "--model", path)
        writer.do(f"shared-writable {path}")
        for _ in range(2):
            answer = self.once(server.port, "--digest", self.sha256(path))
            (file,) = answer.model["bundle"]["files"]
            self.assertEqual(file["digestState"], "DIGEST_STATE_COMPUTED")

    def test_mapped_shared_and_writable_may_change_at_any_moment(self):
        path = self.bundle()
        server = self.server("0")
        server.do(f"shared-writable {path}")
        answer = self.once(server.port, "--digest", self.sha256(path))
        self.assertEqual(grade(answer.model), "INFERRED")
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 8))

    def test_a_named_model_that_was_read_beside_a_mapped_one(self):
        good = self.bundle("good.gguf", "--seed", "1")
        bad = self.bundle("bad.gguf", "--seed", "2", "--elements", "65536")
        server = self.server("0", "--model", bad, "--load", "read-close")
        server.do(f"load mmap {good}")
        answer = self.once(server.port, "--digest", self.sha256(good))
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 7))

    def test_exec_starts_a_new_generation(self):
        a = self.bundle("a.gguf", "--seed", "1")
        server = self.server("0", "--model", a)
        first = self.once(server.port).processes[server.pid]["identity"]
        b = self.bundle("b.gguf", "--seed", "2")
        server.do(f"exec-self --no-models --model {b}")
        answer = self.once(server.port)
        second = answer.processes[server.pid]["identity"]
        self.assertEqual(first["start"], second["start"])
        self.assertNotEqual(first, second)
        self.assert_names(answer, b)

    def test_D1_swapped_on_request(self):
        a = self.bundle("a.gguf", "--seed", "1")
        b = self.bundle("b.gguf", "--seed", "2")
        server = self.server("0", "--model", a)
        server.do(f"swap {b}")
        answer = self.once(server.port, "--digest", self.sha256(b))
        self.assert_names(answer, b)
        self.assertIn("CONFLICT", flags(answer.model))
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        answer = self.once(server.port, "--digest", self.sha256(a))
        self.assertEqual(answer.kind, "MISMATCH", answer.reason)
        self.assertEqual(answer.code, 1)

    def test_the_name_in_an_answer_is_no_evidence(self):
        path = self.bundle("m.gguf", "--name", "small")
        server = self.server("0", "--model", path, "--alias", "large-80b")
        answer = self.once(server.port, "--model", "large-80b",
                           "--allow-name-only")
        self.assertEqual(answer.kind, "MISMATCH", answer.reason)
        answer = self.once(server.port, "--model", "small",
                           "--allow-name-only")
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        answer = self.once(server.port, "--model", "small")
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 11))

    def test_two_models_are_ambiguous(self):
        a = self.bundle("a.gguf", "--seed", "1")
        b = self.bundle("b.gguf", "--seed", "2")
        server = self.server("0", "--model", a, "--model", b)
        answer = self.once(server.port, "--digest", self.sha256(a))
        self.assertIn("AMBIGUOUS", flags(answer.groups[0]))
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 7))

    def test_a_split_set(self):
        self.bundle("s.gguf", "--split", "3", "--tensors", "7")
        parts = [self.path(f"s-0000{i}-of-00003.gguf") for i in (1, 2, 3)]
        options = [o for part in parts for o in ("--model", part)]
        server = self.server("0", *options)
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        self.assertEqual(len(answer.model["files"]), 3)
        digest = answer.model["bundle"]["contentDigest"]
        # One shard that nobody holds: not resident, whatever its path says.
        part = self.server("0", *options[:4])
        answer = self.once(part.port)
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        self.assertNotEqual(grade(answer.model), "RESIDENT")
        # The second shard replaced after the load: the held one counts.
        self.bundle("t.gguf", "--split", "3", "--tensors", "7", "--seed", "5")
        os.rename(self.path("t-00002-of-00003.gguf"), parts[1])
        answer = self.once(server.port)
        self.assertEqual(answer.model["bundle"]["contentDigest"], digest)
        self.assertIn("REPLACED", flags(answer.model))
        # And one that is gone.
        os.remove(parts[2])
        answer = self.once(part.port)
        self.assertIn("INCOMPLETE", flags(answer.model))

    def test_a_safetensors_directory(self):
        folder = self.bundle("model", "--safetensors", "--shards", "3",
                             "--tensors", "9")
        shards = sorted(os.path.join(folder, name)
                        for name in os.listdir(folder)
                        if name.endswith(".safetensors"))
        server = self.server(
            "0", *[o for shard in shards for o in ("--model", shard)])
        answer = self.once(server.port, "--model", "model",
                           "--allow-name-only")
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assertEqual(int(answer.model["bundle"]["tensorCount"]), 9)
        # A settings file that is newer than the process.
        with open(os.path.join(folder, "config.json"), "a") as config:
            config.write("\n")
        answer = self.once(server.port)
        self.assertIn("SETTINGS_STALE", flags(answer.model))
        answer = self.once(server.port, "--setting", "bundle.x=1")
        self.assertEqual(answer.kind, "UNVERIFIABLE")

    def test_E5_a_hollow_file(self):
        path = self.bundle("m.gguf", "--sparse", "--elements", "16777216")
        server = self.server("0", "--model", path)
        # Gigabytes of nothing: the holes are seen without reading them.
        answer = self.once(server.port, "--headers-only")
        self.assertIn("INCOMPLETE", flags(answer.model))
        self.assertEqual(answer.kind, "UNVERIFIABLE")

    def test_C26_a_cut_file(self):
        path = self.bundle()
        os.truncate(path, os.stat(path).st_size - 1)
        server, answer = self.proven(path=path)
        self.assertIn("INCOMPLETE", flags(answer.model))
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        self.assertEqual(answer.code, 4)

    def test_weights_are_known_by_content(self):
        path = self.path("weights.bin")
        os.rename(self.bundle(), path)
        server, answer = self.proven(path=path)
        self.assert_proven(answer, server.pid)
        junk = self.path("junk.gguf")
        with open(junk, "wb") as file:
            file.write(b"x" * (2 << 20))
        server = self.server("0", "--model", junk)
        answer = self.once(server.port)
        self.assertEqual(answer.models(), [])
        self.assertEqual(answer.grade, "BLIND")
        self.assertIn("junk.gguf", answer.blind)

    def test_secrets_do_not_leave(self):
        server = self.server(
            "0", "--model", self.bundle(), "--api-key", "s3cr3t-one",
            env={"HF_TOKEN": "hf_s3cr3t_two"})
        answer = self.once(server.port)
        import json
        everything = json.dumps(answer.json)
        import base64
        for secret in (b"s3cr3t-one", b"hf_s3cr3t_two"):
            for process in answer.attestation["processes"]:
                for argument in process.get("argv", []):
                    self.assertNotIn(secret, base64.b64decode(argument))
                for variable in process.get("environment", []):
                    self.assertNotIn(
                        secret, base64.b64decode(variable.get("value", "")))
            self.assertNotIn(secret.decode(), everything)
        self.assertTrue(answer.processes[server.pid]["argvRedacted"])

    def test_mismatch_says_what_differs(self):
        path = self.bundle("m.gguf", "--encoding", "Q8_0")
        server = self.server("0", "--model", path)
        answer = self.once(server.port, "--params", "12345")
        self.assertEqual(answer.kind, "MISMATCH")
        self.assertEqual(answer.code, 1)
        (difference,) = answer.verdict["differences"]
        self.assertEqual(difference["field"], "parameter_count")
        self.assertEqual(difference["expected"], "12345")


class Chroot:
    @staticmethod
    def server(test, root):
        """A server whose root is `root`, statically reachable programs in."""
        import shutil
        from harness import MODELSERVER
        os.makedirs(os.path.join(root, "bin"), exist_ok=True)
        shutil.copy(MODELSERVER, os.path.join(root, "bin/server"))
        libraries = subprocess.run(["ldd", MODELSERVER],
                                   stdout=subprocess.PIPE).stdout.decode()
        for word in libraries.split():
            if word.startswith("/"):
                target = root + word
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(word, target)
        os.makedirs(os.path.join(root, "dev"), exist_ok=True)
        open(os.path.join(root, "dev/null"), "w").close()
        return test.server("0", "--model", "/m.gguf", wrapper=(
            "python3", "-c",
            "import os,sys;os.chroot(sys.argv[1]);os.chdir('/');"
            "os.execv('/bin/server',['/bin/server']+sys.argv[3:])", root))


if __name__ == "__main__":
    unittest.main()
