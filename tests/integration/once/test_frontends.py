"""nginx and haproxy, as Debian has them, in front of servers of weights.

What a proxy leads to is seen only while it passes requests on: here the
servers keep requests waiting, as an engine does that computes.
"""

import os
import secrets
import signal
import subprocess
import unittest

from frontends import (FrontendTest, children, connections_to, free_port,
                       needs_program, reply, request, wait_until)
from harness import flags, grade, needs_root


class Frontends(FrontendTest):
    def behind(self, answer, hop):
        return answer.attestation["behind"][hop["group"]]

    def hops(self, answer):
        return answer.groups[0].get("hops", [])

    def assert_forwards(self, answer, *workers):
        """It proves nothing, and names every worker with its own proof."""
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 8, 4), answer.reason)
        self.assertIn("FORWARDER", flags(answer.groups[0]))
        self.assertEqual(grade(answer.groups[0]), "NONE")
        self.assertEqual(sorted(hop["port"] for hop in self.hops(answer)),
                         sorted(worker.port for worker in workers))
        for hop in self.hops(answer):
            (worker,) = [w for w in workers if w.port == hop["port"]]
            self.assertEqual(hop["kind"], "KIND_CONNECTION")
            self.assertEqual(hop["address"], "127.0.0.1")
            (candidate,) = self.behind(answer, hop)["candidates"]
            self.assertEqual(grade(candidate), "RESIDENT")
            self.assertEqual(candidate["pids"], [worker.pid])
            self.assertIn(f"127.0.0.1 port {worker.port}", answer.reason)

    def check_in_front(self, start):
        """Also the right digest, through a single worker, is no match."""
        path = self.bundle()
        worker = self.server("0", "--model", path)
        frontend = start(worker.port)
        (client,) = self.hold(frontend, worker)
        self.assert_forwards(self.once(
            frontend.port, "--digest", self.sha256(path)), worker)
        code, text = self.once_text(frontend.port)
        self.assertEqual(code, 4)
        self.assertRegex(text, f"passes on to +127.0.0.1 port {worker.port}: "
                               "[^\n]+ RESIDENT\n")
        worker.do("release")
        self.assertIn("200 OK", reply(client))
        # And at the worker's own port it is proven.
        self.assert_proven(self.once(worker.port, "--digest",
                                     self.sha256(path)), worker.pid)
        return frontend

    @needs_program("nginx")
    def test_nginx_in_front_of_one_worker(self):
        frontend = self.check_in_front(
            lambda port: self.nginx(port, workers=2))
        answer = self.once(frontend.port)
        # A2: one socket in three processes is one listener.
        self.assertEqual(len(answer.listeners), 1)
        self.assertEqual(answer.owners(), sorted(
            [frontend.pid, *children(frontend.pid)]))
        # Nothing passes through it now: that is no proof of anything.
        self.assertEqual(self.hops(answer), [])
        self.assertIn("FORWARDER", flags(answer.groups[0]))
        self.assertIn("none was seen", answer.reason)
        self.assertEqual(answer.code, 4)
        # The padding of a title is not shown.
        self.assertIn('"nginx: worker process" (a title',
                      self.once_text(frontend.port)[1])

    @needs_program("haproxy")
    def test_haproxy_in_front_of_one_worker(self):
        frontend = self.check_in_front(self.haproxy)
        answer = self.once(frontend.port)
        self.assertEqual(answer.owners(), [frontend.pid])
        self.assertIn("FORWARDER", flags(answer.groups[0]))
        self.assertEqual(answer.code, 4)

    @needs_program("haproxy")
    def test_two_workers_behind_one_name(self):
        first = self.server("0", "--model", self.bundle())
        other = self.server("0", "--model",
                            self.bundle("o.gguf", "--seed", "7"))
        frontend = self.haproxy(first.port, other.port)
        self.hold(frontend, first, other)
        self.assert_forwards(self.once(frontend.port), first, other)

    @needs_program("nginx")
    def test_nobody_behind_it(self):
        frontend = self.nginx(free_port())
        self.assertIn("502", reply(request(frontend.port)))
        answer = self.once(frontend.port)
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 8, 4))
        self.assertIn("FORWARDER", flags(answer.groups[0]))
        self.assertNotIn("behind", answer.attestation)
        self.assertIn("none was seen", answer.reason)

    @needs_program("nginx")
    def test_a_worker_behind_a_unix_socket(self):
        path, at = self.bundle(), self.path("worker.sock")
        worker = self.server("0", "--model", path)
        worker.do(f"listen-unix {at}")
        worker.do("hold")
        frontend = self.nginx(f"unix:{at}")
        client = request(frontend.port)
        self.addCleanup(client.close)

        def seen():
            with open("/proc/net/unix") as rows:
                # Its listener, and a connection that was accepted.
                return sum(row.rstrip().endswith(at) for row in rows) > 1
        wait_until(seen, "the request reaches the worker")
        answer = self.once(frontend.port, "--digest", self.sha256(path))
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 8, 4), answer.reason)
        (hop,) = self.hops(answer)
        self.assertEqual(hop["kind"], "KIND_UNIX_SOCKET")
        self.assertEqual(hop["peerPid"], worker.pid)
        self.assertNotIn("port", hop)
        (candidate,) = self.behind(answer, hop)["candidates"]
        self.assertEqual(candidate["pids"], [worker.pid])
        self.assertEqual(grade(candidate), "RESIDENT")
        self.assertIn(f"pid {worker.pid} by a unix socket", answer.reason)
        self.assertRegex(self.once_text(frontend.port)[1],
                         f"passes on to +pid {worker.pid} by a unix socket: ")

    @needs_program("nginx")
    def test_a_reload_leaves_old_workers(self):
        first = self.server("0", "--model", self.bundle())
        other = self.server("0", "--model",
                            self.bundle("o.gguf", "--seed", "7"))
        frontend = self.nginx(first.port)
        self.hold(frontend, first)
        (old,) = children(frontend.pid)
        configuration = frontend.configuration
        frontend.configuration = lambda port: configuration(port).replace(
            f"127.0.0.1:{first.port};", f"127.0.0.1:{other.port};")
        frontend.write(frontend.port)
        os.kill(frontend.pid, signal.SIGHUP)
        wait_until(lambda: len(children(frontend.pid)) == 2, "the reload")

        def left():
            return self.once(frontend.port).owners() == sorted(
                {frontend.pid, *children(frontend.pid)} - {old})
        wait_until(left, "the old worker closes the listener")
        self.hold(frontend, other)
        answer = self.once(frontend.port)
        # It belongs to nginx and is no server of its own.
        self.assertIn(old, answer.groups[0]["pids"])
        self.assert_forwards(answer, first, other)
        self.assertEqual(
            {hop["port"]: hop["pid"] == old for hop in self.hops(answer)},
            {first.port: True, other.port: False})

    @needs_program("nginx")
    @needs_program("haproxy")
    def test_a_circle_ends(self):
        worker = self.server("0", "--model", self.bundle())
        port = free_port()
        second = self.nginx(port, worker.port)
        first = self.haproxy(second.port)
        # nginx's other upstream is the haproxy in front of it.
        configuration = second.configuration
        second.configuration = lambda p: configuration(p).replace(
            f":{port};", f":{first.port};")
        second.write(second.port)
        old = children(second.pid)
        os.kill(second.pid, signal.SIGHUP)
        wait_until(lambda: children(second.pid) and
                   not set(children(second.pid)) & set(old), "the reload")
        worker.do("hold")
        clients = [request(first.port) for _ in range(2)]
        for client in clients:
            self.addCleanup(client.close)
        wait_until(lambda: connections_to(worker.port) > 0 and
                   connections_to(first.port) > 2, "the circle")
        answer = self.once(first.port)
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 8, 4))
        (hop,) = self.hops(answer)
        self.assertEqual(hop["port"], second.port)
        back = {h["port"]: h for h in self.behind(answer, hop)["hops"]}
        self.assertEqual(set(back), {worker.port, first.port})
        # The first one is the group asked about, and not told twice.
        self.assertNotIn("group", back[first.port])
        self.assertEqual(len(answer.attestation["behind"]), 2)

    @needs_root
    @needs_program("haproxy")
    def test_a_worker_on_another_host(self):
        number = secrets.randbelow(1 << 14)
        space = f"wd{number}"
        net = f"198.{18 + number // 8192}.{number // 32 % 256}."
        here, there = (net + str(number % 32 * 4 + i) for i in (1, 2))
        for command in (
                f"ip netns add {space}",
                f"ip link add {space}a type veth peer name {space}b "
                f"netns {space}",
                f"ip addr add {here}/30 dev {space}a",
                f"ip link set {space}a up",
                f"ip -n {space} addr add {there}/30 dev {space}b",
                f"ip -n {space} link set {space}b up"):
            made = subprocess.run(command.split(), stderr=subprocess.PIPE)
            if made.returncode != 0:
                self.skipTest(made.stderr.decode())
            if "netns add" in command:
                self.addCleanup(subprocess.run,
                                ["ip", "netns", "del", space])
        worker = self.server("0", "--address", there, "--model",
                             self.bundle(),
                             wrapper=["ip", "netns", "exec", space])
        worker.do("hold")
        frontend = self.haproxy(f"{there}:{worker.port}")
        self.addCleanup(request(frontend.port).close)
        wait_until(lambda: connections_to(worker.port) > 0,
                   "the request leaves for the other host")
        answer = self.once(frontend.port)
        (hop,) = self.hops(answer)
        self.assertEqual((hop["kind"], hop["address"], hop["port"]),
                         ("KIND_REMOTE", there, worker.port))
        self.assertNotIn("group", hop)
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("UNVERIFIABLE", 8, 4))
        self.assertIn(f"{there} port {worker.port}", answer.reason)


if __name__ == "__main__":
    unittest.main()
