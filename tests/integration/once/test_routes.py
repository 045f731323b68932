"""Whose weights are these: forwarders, children that serve for themselves."""

import os
import shutil
import socket
import subprocess
import sys
import unittest

from harness import MODELSERVER, OnceTest, flags, grade, needs_root


class Routes(OnceTest):
    def hop_to(self, answer, port):
        """The hop of the asked group that leads to the port."""
        (hop,) = [h for h in answer.groups[0].get("hops", [])
                  if h.get("port") == port]
        return hop

    def behind(self, answer, hop):
        return answer.attestation["behind"][hop["group"]]

    def test_D8_a_forwarder_names_its_worker_and_proves_nothing(self):
        path = self.bundle()
        worker = self.server("0", "--model", path)
        gateway = self.server("0", "--alias", "any")
        gateway.do(f"connect {worker.port}")
        with socket.create_connection(("127.0.0.1", gateway.port)):
            answer = self.once(gateway.port, "--digest", self.sha256(path))
        # A client is where traffic comes from, not where it goes to.
        self.assertEqual([h["port"] for h in answer.groups[0]["hops"]],
                         [worker.port])
        self.assertIn("FORWARDER", flags(answer.groups[0]))
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 8, 4))
        hop = self.hop_to(answer, worker.port)
        self.assertEqual(hop["kind"], "KIND_CONNECTION")
        self.assertEqual(hop["pid"], gateway.pid)
        (candidate,) = self.behind(answer, hop)["candidates"]
        self.assertEqual(grade(candidate), "RESIDENT")
        self.assertEqual(candidate["pids"], [worker.pid])
        self.assertIn(str(worker.port), answer.reason)
        # The upstream changes: the answer follows.
        other = self.server("0", "--model", self.bundle("o.gguf", "--seed",
                                                        "7"))
        gateway.do(f"connect {other.port}")
        answer = self.once(gateway.port)
        self.assertEqual(
            {h["port"] for h in answer.groups[0]["hops"]},
            {worker.port, other.port})

    def test_a_worker_that_is_asked_itself_is_proven(self):
        worker = self.server("0", "--model", self.bundle())
        gateway = self.server("0")
        gateway.do(f"connect {worker.port}")
        answer = self.once(worker.port)
        self.assert_proven(answer, worker.pid)
        self.assertNotIn("hops", answer.groups[0])

    def test_chains_and_circles_end(self):
        worker = self.server("0", "--model", self.bundle())
        first, second = self.server("0"), self.server("0")
        first.do(f"connect {second.port}")
        second.do(f"connect {worker.port}")
        second.do(f"connect {first.port}")
        answer = self.once(first.port)
        hop = self.hop_to(answer, second.port)
        middle = self.behind(answer, hop)
        self.assertIn("FORWARDER", flags(middle))
        (last,) = [h for h in middle["hops"] if h["port"] == worker.port]
        (candidate,) = self.behind(answer, last)["candidates"]
        self.assertEqual(grade(candidate), "RESIDENT")
        self.assertEqual(answer.kind, "UNVERIFIABLE")

    @needs_root
    def test_a_published_port_names_the_container_behind(self):
        inside = self.server_inside()
        self.join_namespace(inside.pid, "10.213.8")
        proxy = self.path("docker-proxy")
        shutil.copy(MODELSERVER, proxy)
        gateway = subprocess.Popen(
            [proxy, "0", "-proto", "tcp", "-host-ip", "127.0.0.1",
             "-container-ip", "10.213.8.2", "-container-port",
             str(inside.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(gateway.stdout.close)
        self.addCleanup(gateway.wait)
        self.addCleanup(gateway.stdin.close)
        answer = self.once(int(gateway.stdout.readline().split()[1]))
        self.assertIn("FORWARDER", flags(answer.groups[0]))
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 8))
        hop = self.hop_to(answer, inside.port)
        self.assertEqual(hop["kind"], "KIND_PUBLISHED")
        self.assertEqual(hop["address"], "10.213.8.2")
        self.assertEqual(
            int(hop["netns"]), os.stat(f"/proc/{inside.pid}/ns/net").st_ino)
        (candidate,) = self.behind(answer, hop)["candidates"]
        self.assertEqual(candidate["pids"], [inside.pid])
        self.assertEqual(grade(candidate), "RESIDENT")

    def parent_of_a_server(self, name, talk):
        """A process that listens and starts a model server as its child."""
        program = self.path(name)
        shutil.copy(MODELSERVER, program)
        parent = subprocess.Popen(
            [sys.executable, "-c", """
import socket, subprocess, sys
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
c = subprocess.Popen([sys.argv[1], "0", "--model", sys.argv[2]],
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
port = int(c.stdout.readline().split()[1])
k = socket.create_connection(("127.0.0.1", port)) if sys.argv[3] else None
print(s.getsockname()[1], port, c.pid, flush=True)
sys.stdin.read()
c.stdin.close(); c.wait()
""", program, self.bundle(), "talk" if talk else ""],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(parent.stdout.close)
        self.addCleanup(parent.wait)
        self.addCleanup(parent.stdin.close)
        numbers = [int(n) for n in parent.stdout.readline().split()]
        return parent.pid, *numbers

    def test_a_child_the_parent_talks_to_serves_for_itself(self):
        parent, port, child_port, child = self.parent_of_a_server(
            "server", talk=True)
        answer = self.once(port)
        self.assertEqual(answer.groups[0]["pids"], [parent])
        self.assertIn("FORWARDER", flags(answer.groups[0]))
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        hop = [h for h in answer.groups[0]["hops"]
               if h["kind"] == "KIND_CHILD"][0]
        self.assertEqual(hop["port"], child_port)
        (candidate,) = self.behind(answer, hop)["candidates"]
        self.assertEqual(candidate["pids"], [child])
        self.assertEqual(grade(candidate), "RESIDENT")

    def test_a_child_that_is_an_engine_serves_for_itself(self):
        _, port, _, child = self.parent_of_a_server(
            "llama-server", talk=False)
        answer = self.once(port)
        self.assertNotIn(child, answer.groups[0]["pids"])
        self.assertEqual(answer.kind, "UNVERIFIABLE")

    def test_an_unknown_child_that_listens_is_capped(self):
        _, port, _, child = self.parent_of_a_server("server", talk=False)
        answer = self.once(port)
        self.assertIn(child, answer.groups[0]["pids"])
        self.assertEqual(grade(answer.groups[0]), "INFERRED")
        self.assertEqual(answer.kind, "UNVERIFIABLE")

    def engine(self, name, *options):
        program = self.path(name)
        shutil.copy(MODELSERVER, program)
        server = subprocess.Popen(
            [program, "0", *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.stdin.close)
        return int(server.stdout.readline().split()[1])

    def test_ranks_elsewhere_are_partial(self):
        port = self.engine("llama-server", "--model", self.bundle(),
                           "--rpc", "10.0.0.2:50052")
        answer = self.once(port)
        self.assertIn("PARTIAL", flags(answer.groups[0]))
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 8))

    def test_the_running_servers_options(self):
        path = self.bundle()
        port = self.engine("llama-server", "-m", path, "-c", "4096",
                           "-np", "2")
        answer = self.once(port, "--setting", "run.context=4096")
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        answer = self.once(port, "--setting", "run.context=8192")
        self.assertEqual((answer.kind, answer.code), ("MISMATCH", 1))

    def test_read_and_closed_by_a_known_engine(self):
        path = self.bundle("m.gguf", "--elements", "65536")
        os.utime(path, (1, 1))
        port = self.engine("llama-server", "-m", path, "--load",
                           "read-close")
        answer = self.once(port, "--min-grade", "INFERRED", "--digest",
                           self.sha256(path))
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        answer = self.once(port, "--digest", self.sha256(path))
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 8))


if __name__ == "__main__":
    unittest.main()
