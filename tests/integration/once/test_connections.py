"""Who accepted this very connection: questions bound to one."""

import os
import socket
import subprocess
import sys
import unittest

from harness import OnceTest, flags, needs_root


def end(client):
    """The caller's own end, as --connection takes it."""
    address, port = client.getsockname()[:2]
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


class Connections(OnceTest):
    def connect(self, port, address="127.0.0.1"):
        client = socket.create_connection((address, port), 10)
        self.addCleanup(client.close)
        return client

    def accepted(self, answer):
        return answer.attestation["connection"]

    def outcome(self, answer):
        return self.accepted(answer)["state"].removeprefix(
            "CONNECTION_STATE_")

    def holders(self, answer):
        return [o["pid"] for o in self.accepted(answer).get("owners", [])]

    def ask(self, port, client, *options):
        return self.once(port, "--connection", end(client), *options)

    def accepted_by(self, port, client, *options):
        """Asks until the service has come to accept."""
        while True:
            answer = self.ask(port, client, *options)
            if self.outcome(answer) != "NOT_ACCEPTED":
                return answer

    def test_A1_reuseport_twins_are_told_apart(self):
        a = self.bundle("a.gguf", "--seed", "1")
        b = self.bundle("b.gguf", "--seed", "2")
        one = self.server("0", "--reuseport", "--model", a)
        two = self.server(str(one.port), "--reuseport", "--model", b)
        wanted = {one.pid: a, two.pid: b}
        met = set()
        # The kernel deals connections out by a hash of their ends.
        for _ in range(200):
            client = self.connect(one.port)
            answer = self.accepted_by(one.port, client)
            (pid,) = self.holders(answer)
            self.assert_about(answer, pid, one.port)
            right = self.ask(one.port, client, "--digest",
                             self.sha256(wanted[pid]))
            self.assertEqual(right.kind, "MATCH", right.reason)
            other = next(m for p, m in wanted.items() if p != pid)
            wrong = self.ask(one.port, client, "--digest",
                             self.sha256(other))
            self.assertEqual((wrong.kind, wrong.code), ("MISMATCH", 1))
            met.add(pid)
            if len(met) == 2:
                return
        self.fail("all of 200 connections went to one of the twins")

    def assert_about(self, answer, pid, port):
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assertEqual(self.outcome(answer), "FOUND")
        self.assertEqual(self.accepted(answer)["localPort"], port)
        self.assertEqual(self.holders(answer), [pid])
        self.assertEqual(answer.model["pids"], [pid])
        self.assertIn("CHECK_CONNECTION",
                      answer.attestation["checksPerformed"])

    def test_both_ends_are_rows_and_the_service_is_meant(self):
        server = self.server("0", "--model", self.bundle())
        client = self.connect(server.port)
        answer = self.accepted_by(server.port, client)
        self.assert_about(answer, server.pid, server.port)
        self.assertNotIn(os.getpid(), answer.processes)

    def test_a_client_that_is_a_server_too_is_not_taken(self):
        """The caller's socket has the port as its remote one only."""
        caller = self.server("0", "--model", self.bundle("c.gguf", "--seed",
                                                         "9"))
        server = self.server("0", "--model", self.bundle())
        caller.do(f"connect {server.port}")
        port = self.port_of_a_client(caller.pid, server.port)
        ends = f"127.0.0.1:{port}"
        answer = self.once(server.port, "--connection", ends)
        self.assertEqual(self.holders(answer), [server.pid])
        # The other way round there is nobody: 'caller' accepted nothing.
        answer = self.once(port, "--connection", ends)
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 3))

    def port_of_a_client(self, pid, remote):
        with open(f"/proc/{pid}/net/tcp", encoding="ascii") as table:
            for row in table.readlines()[1:]:
                words = row.split()
                if words[2].endswith(f":{remote:04X}") and words[3] == "01":
                    return int(words[1].split(":")[1], 16)
        self.fail("the connection is not there")

    def test_ipv6_and_dual_stack(self):
        server = self.server("0", "--dual", "--model", self.bundle())
        for address in ("127.0.0.1", "::1"):
            client = self.connect(server.port, address)
            answer = self.accepted_by(server.port, client)
            self.assert_about(answer, server.pid, server.port)
        # The same end, as an IPv6 socket shows it.
        mapped = socket.socket(socket.AF_INET6)
        self.addCleanup(mapped.close)
        mapped.connect(("::ffff:127.0.0.1", server.port))
        answer = self.accepted_by(server.port, mapped)
        self.assert_about(answer, server.pid, server.port)

    def prefork(self, parent_model, child_model):
        """A parent that listens and a child that accepts; each maps a
        model."""
        process = subprocess.Popen(
            [sys.executable, "-c", """
import mmap, os, socket, sys
def hold(path):
    with open(path, "rb") as f:
        return mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
parent = hold(sys.argv[1]) if sys.argv[1] else None
ready, tell = os.pipe()
child = os.fork()
if child == 0:
    parent = None
    mine = hold(sys.argv[2])
    os.write(tell, b"r")
    taken = s.accept()
    sys.stdin.read()
    os._exit(0)
os.read(ready, 1)
print(s.getsockname()[1], child, flush=True)
sys.stdin.read()
os.kill(child, 9)
""", parent_model, child_model],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        port, child = (int(n) for n in process.stdout.readline().split())
        return process.pid, child, port

    def test_prefork_the_child_that_accepted_is_meant(self):
        a = self.bundle("a.gguf", "--seed", "1")
        b = self.bundle("b.gguf", "--seed", "2")
        parent, child, port = self.prefork(a, b)
        # The port has both models behind it ...
        self.assertEqual(self.once(port, "--digest", self.sha256(b)).kind,
                         "UNVERIFIABLE")
        client = self.connect(port)
        answer = self.accepted_by(port, client, "--digest", self.sha256(b))
        # ... and the connection one.
        self.assert_about(answer, child, port)
        self.assertEqual(answer.groups[0]["pids"], [child])
        self.assertNotIn(parent, answer.processes)

    def test_a_connection_that_several_hold(self):
        server = self.server("0", "--model", self.bundle())
        client = self.connect(server.port)
        self.accepted_by(server.port, client)
        child = [int(p) for p in server.do("fork-holders 1").split()][0]
        answer = self.ask(server.port, client)
        self.assertIn(server.pid, self.holders(answer))
        if child in self.holders(answer):
            self.assertIn(child, answer.groups[0]["pids"])
        self.assertEqual(len(answer.groups), 1)
        self.assertEqual(answer.kind, "MATCH", answer.reason)

    def test_not_accepted_yet(self):
        listener = socket.socket()
        self.addCleanup(listener.close)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        client = self.connect(port)
        answer = self.ask(port, client)
        self.assertEqual(self.outcome(answer), "NOT_ACCEPTED")
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 5, 4))
        self.assertIn("accepted", answer.reason)

    def test_a_connection_that_is_not_there_is_never_missing(self):
        server = self.server("0", "--model", self.bundle())
        client = self.connect(server.port)
        self.accepted_by(server.port, client)
        there = end(client)
        client.close()
        self.assertEqual(self.once(server.port).kind, "MATCH")
        answer = self.once(server.port, "--connection", there)
        self.assertEqual(self.outcome(answer), "NONE")
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 3, 4))
        port = server.port
        server.stop()
        self.assertEqual(self.once(port).kind, "MISSING")
        answer = self.once(port, "--connection", there)
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 3))

    def test_a_callers_port_at_two_services(self):
        a = self.server("0", "--model", self.bundle("a.gguf", "--seed", "1"))
        b = self.server("0", "--model", self.bundle("b.gguf", "--seed", "2"))
        first, second = socket.socket(), socket.socket()
        for client in (first, second):
            self.addCleanup(client.close)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        first.bind(("127.0.0.1", 0))
        second.bind(first.getsockname())
        first.connect(("127.0.0.1", a.port))
        second.connect(("127.0.0.1", b.port))
        for server in (a, b):
            answer = self.accepted_by(server.port, first)
            self.assert_about(answer, server.pid, server.port)

    def test_a_forwarder_that_accepted_proves_nothing(self):
        path = self.bundle()
        worker = self.server("0", "--model", path)
        gateway = self.server("0")
        gateway.do(f"connect {worker.port}")
        client = self.connect(gateway.port)
        answer = self.accepted_by(gateway.port, client, "--digest",
                                  self.sha256(path))
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 8))
        self.assertIn("FORWARDER", flags(answer.groups[0]))
        self.assertEqual([h["port"] for h in answer.groups[0]["hops"]],
                         [worker.port])

    def test_the_listener_is_closed_and_the_connection_stays(self):
        """A service that shuts down still serves whom it has accepted."""
        server = self.server("0", "--model", self.bundle())
        client = self.connect(server.port)
        self.accepted_by(server.port, client)
        server.do(f"close {server.port}")
        answer = self.ask(server.port, client)
        self.assertEqual(answer.listeners, [])
        self.assert_about(answer, server.pid, server.port)

    @needs_root
    def test_another_namespace(self):
        inside = self.server_inside()
        self.join_namespace(inside.pid, "10.213.7")
        client = self.connect(inside.port, "10.213.7.2")
        answer = self.accepted_by(inside.port, client)
        self.assert_about(answer, inside.pid, inside.port)
        netns = os.stat(f"/proc/{inside.pid}/ns/net").st_ino
        self.assertEqual(int(self.accepted(answer)["netns"]), netns)
        self.assert_about(
            self.ask(inside.port, client, "--netns", str(netns)),
            inside.pid, inside.port)
        own = os.stat("/proc/self/ns/net").st_ino
        answer = self.ask(inside.port, client, "--netns", str(own))
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 3))

    @needs_root
    def test_a_port_that_is_translated(self):
        """The kernel's table of connections proves where it leads."""
        inside = self.server_inside()
        net = ["nsenter", "-t", str(inside.pid), "-n"]
        asked = 4242 if inside.port != 4242 else 4243
        self.run_or_skip(*net, "nft", "add table ip nat")
        for rule in ("add chain ip nat out { type nat hook output "
                     "priority -100; }",
                     f"add rule ip nat out tcp dport {asked} redirect to "
                     f":{inside.port}"):
            self.run_or_skip(*net, "nft", rule)
        client = subprocess.Popen(
            [*net, sys.executable, "-c", """
import socket, sys
c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
print(c.getsockname()[1], flush=True)
sys.stdin.read()
""", str(asked)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(client.stdout.close)
        self.addCleanup(client.wait)
        self.addCleanup(client.stdin.close)
        ends = f"127.0.0.1:{int(client.stdout.readline())}"
        answer = self.once(asked, "--connection", ends)
        self.assert_about(answer, inside.pid, inside.port)
        self.assertTrue(self.accepted(answer)["translated"])
        self.assertEqual(answer.listeners, [])
        # Without the rule's port in the question nothing leads there.
        answer = self.once(asked + 10, "--connection", ends)
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 3))
        self.assertIn(f"port {inside.port}", answer.reason)

    @needs_root
    def test_the_same_ends_in_two_namespaces(self):
        port, client_port = self.free_port(), self.free_port()
        talk = """
import socket, sys
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen()
c = socket.socket(); c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
c.bind(("127.0.0.1", int(sys.argv[2])))
c.connect(s.getsockname())
taken = s.accept()
print("ready", flush=True)
sys.stdin.read()
"""
        pids = []
        for wrapper in ([], ["unshare", "-n", "sh", "-c",
                             'ip link set lo up; exec "$0" "$@"']):
            one = subprocess.Popen(
                [*wrapper, sys.executable, "-c", talk, str(port),
                 str(client_port)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.addCleanup(one.stdout.close)
            self.addCleanup(one.wait)
            self.addCleanup(one.stdin.close)
            self.assertEqual(one.stdout.readline(), b"ready\n")
            pids.append(one.pid)
        ends = f"127.0.0.1:{client_port}"
        answer = self.once(port, "--connection", ends)
        self.assertEqual(self.outcome(answer), "SEVERAL")
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 3))
        for pid in pids:
            netns = os.stat(f"/proc/{pid}/ns/net").st_ino
            answer = self.once(port, "--connection", ends, "--netns",
                               str(netns))
            self.assertEqual(self.holders(answer), [pid])

    def free_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def test_text_says_which_connection(self):
        server = self.server("0", "--model", self.bundle())
        client = self.connect(server.port)
        self.accepted_by(server.port, client)
        code, text = self.once_text(server.port, "--connection", end(client))
        self.assertEqual(code, 0, text)
        self.assertIn(f"from {end(client)}, found at "
                      f"127.0.0.1:{server.port}", text)
        self.assertIn(f"held by      pid {server.pid}", text)

    def test_bad_ends_are_usage(self):
        for text in ("127.0.0.1", "127.0.0.1:", ":80", "::1:80", "[::1]",
                     "[127.0.0.1]:80", "127.0.0.1:0", "127.0.0.1:65536",
                     "127.0.0.1:80x", "host:80", "[fe80::1%lo]:80",
                     "0.0.0.0:80", "[::]:80"):
            answer = self.once(8080, "--connection", text)
            self.assertEqual(answer.code, 2, text)
            self.assertIn("127.0.0.1", answer.err)


if __name__ == "__main__":
    unittest.main()
