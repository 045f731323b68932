"""Real engines: llama.cpp (node-llama-cpp) computes behind nginx and haproxy,
which pass its stream on; ONNX Runtime reads its model and closes it."""

import os
import socket
import unittest

from engines import Engine, make_llama, make_onnx
from frontends import FrontendTest, needs_program
from harness import OnceTest, flags, grade


class RealChain(FrontendTest):
    def setUp(self):
        super().setUp()
        self.model = self.path("tiny.gguf")
        self.facts = make_llama(self.model)
        self.engine = Engine(self, "engine", self.model)

    def stream(self, port):
        """A completion that runs: its first token has arrived."""
        client = socket.create_connection(("127.0.0.1", port))
        self.addCleanup(client.close)
        client.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        while b"data: " not in received:
            received += client.recv(4096)

    def assert_worker(self, answer, hop, port):
        self.assertEqual((hop["kind"], hop["port"]), ("KIND_CONNECTION", port))
        return answer.attestation["behind"][hop["group"]]

    def assert_proof_of_engine(self, group):
        (candidate,) = group["candidates"]
        self.assertEqual(grade(candidate), "RESIDENT")
        self.assertEqual(candidate["pids"], [self.engine.pid])
        self.assertEqual(int(candidate["bundle"]["parameterCount"]),
                         self.facts["parameters"])

    def assert_no_proof(self, answer):
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 8, 4), answer.reason)
        self.assertIn("FORWARDER", flags(answer.groups[0]))

    @needs_program("nginx")
    @needs_program("haproxy")
    def test_haproxy_in_front_of_nginx_in_front_of_llama(self):
        nginx = self.nginx(self.engine.port, workers=2)
        haproxy = self.haproxy(nginx.port)
        self.stream(haproxy.port)
        digest = self.sha256(self.model)

        answer = self.once(haproxy.port, "--digest", digest)
        self.assert_no_proof(answer)
        self.assertIn(f"127.0.0.1 port {nginx.port}", answer.reason)
        (hop,) = answer.groups[0]["hops"]
        middle = self.assert_worker(answer, hop, nginx.port)
        self.assertIn("FORWARDER", flags(middle))
        (hop,) = middle["hops"]
        self.assert_proof_of_engine(
            self.assert_worker(answer, hop, self.engine.port))

        answer = self.once(nginx.port, "--digest", digest)
        self.assert_no_proof(answer)
        self.assertIn(f"127.0.0.1 port {self.engine.port}", answer.reason)
        (hop,) = answer.groups[0]["hops"]
        self.assert_proof_of_engine(
            self.assert_worker(answer, hop, self.engine.port))

        # While it streams, the engine's own port is proven.
        answer = self.once(self.engine.port, "--digest", digest)
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assertEqual(answer.owners(), [self.engine.pid])


class OnnxRuntime(OnceTest):
    """U5: it leaves neither a mapping nor a descriptor of its model."""

    def check(self, engine, model):
        for folder in ("fd", "map_files"):
            place = f"/proc/{engine.pid}/{folder}"
            held = [os.readlink(os.path.join(place, name))
                    for name in os.listdir(place)]
            self.assertNotIn(model, held)
        digest = self.sha256(model)
        for options in ((), ("--digest", digest),
                        ("--digest", digest, "--min-grade", "INFERRED")):
            answer = self.once(engine.port, *options)
            self.assertEqual((answer.kind, answer.code), ("UNVERIFIABLE", 4),
                             answer.reason)
            # Too weak; or strong enough for the question, and what else the
            # program does was not to be known.
            self.assertIn(answer.line, (2, 8))
            self.assertEqual(answer.owners(), [engine.pid])
            self.assertIn(answer.grade, ("NONE", "CLAIMED", "INFERRED"))
            self.assertNotIn("FORWARDER", flags(answer.groups[0]))
        return answer

    def engine(self, *arguments, **env):
        return Engine(self, "onnx", *arguments,
                      env={"ORT_DISABLE_TELEMETRY": "1", **env})

    def test_named_on_the_command_line(self):
        model = make_onnx(self.path("m.onnx"))
        self.check(self.engine(model), model)

    def test_named_nowhere_that_is_known(self):
        model = make_onnx(self.path("m.onnx"))
        answer = self.check(self.engine(WD_TEST_MODEL=model), model)
        self.assertEqual(answer.grade, "NONE")
        self.assertIn("what was read and closed cannot be seen; "
                      "have the server map its file", answer.reason)


if __name__ == "__main__":
    unittest.main()
