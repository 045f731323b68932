"""Process shapes of real engines, played by the test server under the names
that those engines' programs and titles have."""

import os
import shutil
import socket
import unittest

from frontends import free_port, wait_until
from harness import MODELSERVER, OnceTest, flags, grade, text


class EnginesTest(OnceTest):
    def program(self, *names):
        path = self.path(*names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(MODELSERVER, path)
        return path

    def large(self, name="m.gguf"):
        """More bytes than a program reads to start: so nothing suggests that
        the process read the file."""
        return self.bundle(name, "--elements", "4194304")

    def behind(self, answer, hop):
        return answer.attestation["behind"][hop["group"]]

    def hops(self, answer):
        return {h.get("port", 0): h for h in answer.groups[0].get("hops", [])}

    def assert_unverifiable(self, answer):
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 8, 4), answer.reason)


class Vllm(EnginesTest):
    """The server has the port, its children over pipes have the weights, and
    those are on the device: nothing is mapped or open any more."""

    def start(self, *argv, title=None):
        # The kernel knows a Python program; the rest is words.
        server = self.server(*argv, "--load", "none",
                             program=self.program("venv", "python3.11"))
        if title is not None:
            server.do(f"title {title}")
        children = [int(server.do(f"fork-reader {name}")) for name in (
            "VLLM::EngineCore", "VLLM::Worker_TP0", "VLLM::Worker_TP1")]
        return server, children

    def check(self, answer, server, children):
        self.assert_unverifiable(answer)
        self.assertEqual(answer.owners(), [server.pid])
        self.assertEqual(set(answer.groups[0]["pids"]),
                         {server.pid, *children})
        self.assertNotIn("FORWARDER", flags(answer.groups[0]))
        for child in children:
            self.assertTrue(answer.processes[child]["argvOverwritten"])

    def test_titles_hide_every_name(self):
        path = self.bundle()
        server, children = self.start("--model", path,
                                      title="VLLM::APIServer")
        for options in ((), ("--digest", self.sha256(path)),
                        ("--digest", self.sha256(path),
                         "--min-grade", "INFERRED")):
            answer = self.once(server.port, *options)
            self.check(answer, server, children)
            self.assertEqual(answer.grade, "NONE")
            self.assertIn("what was read and closed cannot be seen",
                          answer.reason)

    def test_the_command_line_is_a_claim(self):
        path = self.large()
        server, children = self.start("/venv/bin/vllm", "serve",
                                      "--model", path)
        for options in ((), ("--digest", self.sha256(path),
                             "--min-grade", "INFERRED")):
            answer = self.once(server.port, *options)
            self.check(answer, server, children)
            self.assertEqual(answer.grade, "CLAIMED")
            # It is seconds old and has read nothing: it may still begin to.
            self.assertIn("LOADING", answer.reason)

    def test_a_worker_that_still_maps_is_the_servers(self):
        path = self.bundle()
        server = self.server("--model", path,
                             program=self.program("venv", "python3.11"))
        worker = int(server.do("fork-worker"))
        server.do("title VLLM::APIServer")
        answer = self.once(server.port)
        self.assertEqual(answer.model["pids"], [worker])
        self.assertEqual(grade(answer.model), "RESIDENT")
        self.assertEqual(set(answer.groups[0]["pids"]), {server.pid, worker})


class Companions(EnginesTest):
    """llama-server: what it sleeps through, and drafts that it only names."""

    def start(self, *options, path=None):
        self.model = path or self.large()
        return self.server("--model", self.model, *options,
                           program=self.program("bin", "llama-server"))

    def kinds(self, answer):
        return {c["bundle"]["kind"]: c for c in answer.models()}

    def test_asleep(self):
        server = self.start("--sleep-idle-seconds", "60")
        digest = ("--digest", self.sha256(self.model))
        answer = self.once(server.port, *digest)
        self.assertEqual(grade(answer.model), "RESIDENT")
        self.assertIn("sleeps when idle", answer.model["notes"][0])
        server.do("unload")
        answer = self.once(server.port, *digest, "--min-grade", "INFERRED")
        self.assert_unverifiable(answer)
        self.assertEqual(grade(answer.model), "CLAIMED")
        self.assertIn("MUTABLE", flags(answer.groups[0]))
        self.assertIn("next request loads what the path leads to then",
                      answer.model["notes"][1])
        code, shown = self.once_text(server.port)
        self.assertEqual(code, 4)
        self.assertIn("note         asleep", shown)

    def test_a_draft_that_is_named(self):
        draft = self.large("draft.gguf")
        server = self.start("-md", draft)
        answer = self.once(server.port)
        self.assertEqual(self.kinds(answer)["BUNDLE_KIND_DRAFT"]["inUse"],
                         "TRISTATE_NO")
        answer = self.once(server.port, "--digest", self.sha256(self.model),
                           "--with", "draft=any")
        self.assertEqual((answer.kind, answer.line), ("MISMATCH", 9))
        self.assertIn("is named and not in use", answer.reason)

    def test_a_draft_that_is_mapped(self):
        draft = self.bundle("draft.gguf", "--seed", "2")
        server = self.start("-md", draft)
        server.do(f"load mmap {draft}")
        answer = self.once(server.port, "--digest", self.sha256(self.model),
                           "--with", "draft=any")
        self.assertEqual(self.kinds(answer)["BUNDLE_KIND_DRAFT"]["inUse"],
                         "TRISTATE_YES")
        self.assertEqual(answer.kind, "MATCH", answer.reason)


class Router(EnginesTest):
    """llama-server without a model, and one llama-server on a random port of
    127.0.0.1 for each model that was asked for."""

    def start(self, *names):
        self.executable = self.program("bin", "llama-server")
        self.router = self.server("--models-dir", self.folder,
                                  program=self.executable)
        self.ports, self.pids = [], []
        for seed, name in enumerate(names):
            model = self.bundle(f"{name}.gguf", "--seed", str(seed + 1))
            self.add(name, model)

    def add(self, name, model):
        for _ in range(8):
            port = free_port()
            try:
                pid = int(self.router.do(
                    f"spawn {self.executable} --port {port} --alias {name} "
                    f"--model {model}"))
            except AssertionError:
                continue
            break
        self.addCleanup(self.end, pid)
        self.ports.append(port)
        self.pids.append(pid)

    def check(self, answer):
        self.assert_unverifiable(answer)
        self.assertEqual(answer.groups[0]["pids"], [self.router.pid])
        self.assertEqual(grade(answer.groups[0]), "NONE")
        self.assertLessEqual({"FORWARDER", "MUTABLE"},
                             flags(answer.groups[0]))
        self.assertEqual(set(self.hops(answer)), set(self.ports))
        for port, pid in zip(self.ports, self.pids):
            hop = self.hops(answer)[port]
            self.assertEqual((hop["kind"], hop["address"], hop["peerPid"]),
                             ("KIND_CHILD", "127.0.0.1", pid))
            (candidate,) = self.behind(answer, hop)["candidates"]
            self.assertEqual(candidate["pids"], [pid])
            self.assertEqual(grade(candidate), "RESIDENT")
            self.assertIn(f"127.0.0.1 port {port}", answer.reason)

    def test_one_child_is_no_proof_of_the_router(self):
        self.start("one")
        digest = self.sha256(self.path("one.gguf"))
        self.check(self.once(self.router.port, "--digest", digest))
        # At its own port it is one.
        answer = self.once(self.ports[0], "--digest", digest)
        self.assert_proven(answer, self.pids[0])

    def test_children_between_and_during_requests(self):
        self.start("one", "two")
        self.check(self.once(self.router.port))
        self.router.do(f"connect {self.ports[1]}")
        answer = self.once(self.router.port)
        self.check(answer)
        self.assertGreater(self.hops(answer)[self.ports[1]]["samples"],
                           self.hops(answer)[self.ports[0]].get("samples", 0))

    def test_children_outlive_the_router(self):
        self.start("one", "two")
        self.router.kill()
        self.router.process.stdin.close()
        wait_until(lambda: self.adopted(self.pids[0]), "init adopts them")
        answer = self.once(self.router.port)
        self.assertEqual((answer.kind, answer.code), ("MISSING", 1))
        # A26: nobody has the port, and the weights are still held.
        self.assertEqual(
            {pid for group in answer.attestation.get("orphans", [])
             for pid in group["pids"]}, set(self.pids))
        for group in answer.attestation["orphans"]:
            self.assertIn("ORPHAN_WEIGHTS", flags(group))
        for port, pid in zip(self.ports, self.pids):
            self.assert_proven(self.once(port), pid)

    def adopted(self, pid):
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1]) != \
                self.router.pid


class Ollama(EnginesTest):
    def start(self, runner, *arguments):
        model = self.bundle("m.gguf")
        digest = self.sha256(model).removeprefix("sha256:")
        self.blob = self.path("models", "blobs", f"sha256-{digest}")
        os.makedirs(os.path.dirname(self.blob))
        os.rename(model, self.blob)
        os.utime(self.blob, (1, 1))
        ollama = self.program("bin", "ollama")
        self.ollama = self.server("serve", program=ollama)
        self.port = free_port()
        self.runner = int(self.ollama.do(
            f"spawn {self.program('lib', runner)} {' '.join(arguments)} "
            f"--model {self.blob} --port {self.port}"))
        return f"sha256:{digest}"

    def check(self, digest):
        answer = self.once(self.ollama.port, "--digest", digest)
        self.assert_unverifiable(answer)
        self.assertLessEqual({"FORWARDER", "MUTABLE"},
                             flags(answer.groups[0]))
        self.assertEqual(answer.groups[0]["pids"], [self.ollama.pid])
        hop = self.hops(answer)[self.port]
        self.assertEqual((hop["kind"], hop["peerPid"]),
                         ("KIND_CHILD", self.runner))
        (candidate,) = self.behind(answer, hop)["candidates"]
        self.assertEqual(grade(candidate), "RESIDENT")
        self.assertEqual(text(candidate["bundle"]["path"]).decode(),
                         self.blob)
        answer = self.once(self.port, "--digest", digest)
        self.assertEqual(answer.owners(), [self.runner])
        self.assertEqual(answer.grade, "RESIDENT")
        return answer

    def test_llama_server_as_the_runner(self):
        answer = self.check(self.start("llama-server"))
        self.assertEqual((answer.kind, answer.code), ("MATCH", 0))

    def test_ollama_as_its_own_runner(self):
        answer = self.check(self.start("ollama", "runner",
                                       "--ollama-engine", "yes"))
        # It loads on POST /load, and nobody watched that it did not.
        self.assert_unverifiable(answer)
        self.assertIn("MUTABLE", answer.reason)


class Gateway(EnginesTest):
    def litellm(self, *upstreams):
        """A Python program that was given the script litellm."""
        gateway = self.server("/venv/bin/litellm", "--config", "/c.yaml",
                              program=self.program("venv", "python3.11"))
        for upstream in upstreams:
            gateway.do(f"connect {upstream}")
        return gateway

    def test_D8_a_fallback_is_shown_beside_the_deployment(self):
        path = self.bundle()
        first = self.server("--model", path)
        spare = self.server("--model", self.bundle("o.gguf", "--seed", "7"))
        gateway = self.litellm(first.port)
        answer = self.once(gateway.port, "--digest", self.sha256(path))
        self.assert_unverifiable(answer)
        self.assertEqual(set(self.hops(answer)), {first.port})
        # The deployment fails: the gateway turns to the other one.
        first.stop()
        gateway.do(f"connect {spare.port}")
        answer = self.once(gateway.port, "--digest", self.sha256(path))
        self.assert_unverifiable(answer)
        self.assertIn("PARTIAL", flags(answer.groups[0]))
        (hop,) = [h for p, h in self.hops(answer).items() if p == spare.port]
        (candidate,) = self.behind(answer, hop)["candidates"]
        self.assertEqual(candidate["pids"], [spare.pid])
        # D7: what was asked for is not what answers now.
        answer = self.once(spare.port, "--digest", self.sha256(path))
        self.assertEqual((answer.kind, answer.code), ("MISMATCH", 1))


class Names(EnginesTest):
    def ask(self, port, name):
        """The model's name in the reply to a request for `name`."""
        import json
        body = json.dumps({"model": name})
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(f"POST /v1/completions HTTP/1.1\r\n"
                           f"Content-Length: {len(body)}\r\n\r\n{body}"
                           .encode())
            reply = client.makefile("rb").read().decode()
        return json.loads(reply.partition("\r\n\r\n")[2])["model"]

    def test_D2_the_reply_carries_the_name_of_the_request(self):
        path = self.bundle()
        server = self.server("--model", path, "--alias", "*")
        self.assertEqual(self.ask(server.port, "gpt-oss-120b"),
                         "gpt-oss-120b")
        answer = self.once(server.port, "--model", "gpt-oss-120b",
                           "--allow-name-only")
        self.assertEqual((answer.kind, answer.code), ("MISMATCH", 1))
        self.assert_proven(self.once(server.port, "--digest",
                                     self.sha256(path)), server.pid)

    def test_D3_an_unknown_tag_is_answered_by_the_resident_model(self):
        path = self.bundle()
        other = self.bundle("o.gguf", "--seed", "7")
        server = self.server("--model", path, "--alias", "qwen3:4b")
        self.assertEqual(self.ask(server.port, "no-such:70b"), "qwen3:4b")
        answer = self.once(server.port, "--digest", self.sha256(other))
        self.assertEqual((answer.kind, answer.code), ("MISMATCH", 1))
        # The name that the server goes by is a claim, and no model's name.
        answer = self.once(server.port, "--model", "qwen3:4b",
                           "--allow-name-only")
        self.assertEqual((answer.kind, answer.code), ("MISMATCH", 1))

    def test_D7_another_quantisation_under_the_displayed_name(self):
        small = self.bundle("m-Q4_0.gguf", "--encoding", "Q4_0")
        large = self.bundle("m-Q8_0.gguf", "--encoding", "Q8_0")
        server = self.server("--model", small, "--alias", "m-Q8_0")
        answer = self.once(server.port, "--digest", self.sha256(large))
        self.assertEqual((answer.kind, answer.code), ("MISMATCH", 1))
        self.assertEqual(text(answer.model["bundle"]["path"]).decode(), small)

    def test_D17_loaded_they_say_and_nobody_holds_a_model(self):
        path = self.large()
        server = self.server("--model", path)
        child = int(server.do("fork-holders 1").split()[0])
        self.assertEqual(grade(self.once(server.port).model), "RESIDENT")
        server.do("unload")
        self.assertEqual(self.ask(server.port, "m"), "demo")
        answer = self.once(server.port, "--digest", self.sha256(path))
        self.assert_unverifiable(answer)
        self.assertEqual(set(answer.owners()), {server.pid, child})
        # What was proven a moment ago is no answer for now.
        self.assertEqual(answer.grade, "CLAIMED")


if __name__ == "__main__":
    unittest.main()
