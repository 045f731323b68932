"""Section A of the field reports: from a port to its owners."""

import os
import socket
import subprocess
import sys
import time
import unittest

from harness import MODELSERVER, OnceTest, flags, grade, needs_root


class Ports(OnceTest):
    def test_A1_reuseport_twins_are_ambiguous(self):
        a = self.bundle("a.gguf", "--seed", "1")
        b = self.bundle("b.gguf", "--seed", "2")
        one = self.server("0", "--reuseport", "--model", a)
        two = self.server(str(one.port), "--reuseport", "--model", b)
        answer = self.once(one.port, "--digest", self.sha256(a))
        self.assertEqual(len(answer.listeners), 2)
        self.assertEqual({answer.owners(0)[0], answer.owners(1)[0]},
                         {one.pid, two.pid})
        self.assertIn("AMBIGUOUS", answer.flags)
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        self.assertEqual(answer.line, 7)
        self.assertEqual(answer.code, 4)

    def test_A2_one_inherited_socket_is_one_service(self):
        server = self.server("0", "--model", self.bundle())
        server.do("fork-holders 2")
        answer = self.once(server.port)
        self.assertEqual(len(answer.listeners), 1)
        self.assertEqual(len(answer.owners()), 3)
        self.assertEqual(len(answer.groups), 1)
        self.assertNotIn("AMBIGUOUS", answer.flags)

    def test_A3_five_holders_in_stable_order(self):
        server = self.server("0", "--model", self.bundle())
        server.do("fork-holders 4")
        first = self.once(server.port)
        self.assertEqual(len(first.owners()), 5)
        self.assertEqual(first.owners(), sorted(first.owners()))
        for _ in range(3):
            self.assertEqual(self.once(server.port).owners(), first.owners())
        for pid in first.owners():
            if pid != server.pid:
                self.assertEqual(first.processes[pid]["parentPid"],
                                 server.pid)

    def test_A4_a_client_is_no_owner(self):
        server = self.server("0", "--model", self.bundle())
        with socket.create_connection(("127.0.0.1", server.port)):
            answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        self.assertNotIn(os.getpid(), answer.processes)

    def test_A6_ports_are_numbers_and_local(self):
        model = self.bundle()
        server = self.server("0", "--model", model)
        # A listener whose number contains the other's digits.
        for candidate in (server.port * 10, server.port // 10):
            if 1024 < candidate < 65536:
                try:
                    self.server(str(candidate), "--model", model)
                except AssertionError:
                    pass
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            # The client's end has the port as its remote one only.
            local = client.getsockname()[1]
            self.assertEqual(self.once(local).kind, "MISSING")
            self.assert_proven(self.once(server.port), server.pid)

    @needs_root
    def test_A8_A9_other_namespaces(self):
        model = self.bundle()
        inside = self.server(
            "0", "--model", model,
            wrapper=("unshare", "-n", "sh", "-c",
                     'ip link set lo up; exec "$0" "$@"'))
        netns = os.stat(f"/proc/{inside.pid}/ns/net").st_ino
        answer = self.once(inside.port)
        self.assertEqual(answer.kind, "MISSING", answer.reason)
        self.assertEqual(answer.code, 1)
        answer = self.once(inside.port, "--netns", "all")
        self.assert_proven(answer, inside.pid)
        self.assertEqual(int(answer.listeners[0]["netns"]), netns)
        self.assert_proven(
            self.once(inside.port, "--netns", str(netns)), inside.pid)
        outside = self.server(str(inside.port), "--model", model)
        answer = self.once(inside.port)
        self.assert_proven(answer, outside.pid)
        answer = self.once(inside.port, "--netns", "all")
        self.assertEqual(len(answer.listeners), 2)

    @needs_root
    def test_a_namespace_that_is_not_there_is_no_negative(self):
        answer = self.once(1, "--netns", "4026000000")
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        self.assertEqual(answer.line, 3)

    def test_A11_activator_is_told_from_the_service(self):
        model = self.bundle()
        server = self.server("0", "--model", model)
        child = int(server.do("activate"))
        answer = self.once(server.port)
        self.assertEqual(sorted(answer.owners()), sorted([server.pid, child]))
        self.assertEqual(answer.processes[server.pid]["role"],
                         "PROCESS_ROLE_ACTIVATOR")
        self.assertEqual(answer.processes[child]["role"],
                         "PROCESS_ROLE_OWNER")
        self.assertEqual(answer.model["pids"], [child])
        self.assertEqual(answer.kind, "MATCH", answer.reason)

    def test_A11_before_the_service_starts(self):
        """Only the activator is there: a listener, and no serving process."""
        socket_unit = subprocess.Popen(
            ["bash", "-c", 'exec -a systemd python3 -c "$0"', """
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True)
sys.stdin.read()
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(socket_unit.stdout.close)
        self.addCleanup(socket_unit.wait)
        self.addCleanup(socket_unit.stdin.close)
        answer = self.once(int(socket_unit.stdout.readline()))
        self.assertEqual(answer.owners(), [socket_unit.pid])
        self.assertEqual(answer.models(), [])
        self.assertEqual((answer.kind, answer.code), ("UNVERIFIABLE", 4))

    def test_A12_orphan_holder_is_no_server(self):
        server = self.server("0", "--model", self.bundle())
        child = int(server.do("orphan"))
        self.addCleanup(self.end, child)
        server.do("exit leave")
        server.process.wait(10)
        answer = self.once(server.port)
        self.assertEqual(answer.owners(), [child])
        self.assertIn("ORPHAN_HOLDER", flags(answer.groups[0]))
        self.assertIn("ORPHAN_HOLDER", flags(answer.processes[child]))
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        self.assertEqual(answer.models(), [])

    def test_A13_a_holder_that_exits_does_not_spoil_the_answer(self):
        server = self.server("0", "--model", self.bundle())
        for _ in range(10):
            children = [int(p) for p in server.do("fork-holders 3").split()]
            victim = subprocess.Popen(
                ["sh", "-c", f"kill -9 {children[0]}"])
            answer = self.once(server.port)
            victim.wait()
            self.assertIn(server.pid, answer.owners())
            self.assertEqual(answer.model["grade"], "GRADE_RESIDENT")
            for child in children:
                self.end(child)

    def test_A15_a_listener_that_flickers(self):
        server = self.server("0", "--model", self.bundle())
        flicker = subprocess.Popen(
            [sys.executable, "-c", """
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); p = s.getsockname()[1]
print(p, flush=True); s.close()
end = time.time() + 20
while time.time() < end:
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", p)); s.listen(); time.sleep(0.002); s.close()
"""], stdout=subprocess.PIPE)
        self.addCleanup(flicker.stdout.close)
        self.addCleanup(flicker.wait)
        self.addCleanup(flicker.kill)
        port = int(flicker.stdout.readline())
        for _ in range(5):
            self.assert_proven(self.once(server.port), server.pid)
            answer = self.once(port)
            self.assertIn(answer.kind, ("UNVERIFIABLE", "MISSING"))
            for index in range(len(answer.listeners)):
                self.assertIn(answer.owners(index), ([], [flicker.pid]))

    def test_A18_dual_stack(self):
        model = self.bundle()
        dual = self.server("0", "--dual", "--address", "::", "--model", model)
        answer = self.once(dual.port, "--address", "127.0.0.1")
        self.assert_proven(answer, dual.pid)
        self.assertEqual(answer.listeners[0]["dualStack"], "TRISTATE_YES")
        v6 = self.server("0", "--v6only", "--address", "::", "--model", model)
        answer = self.once(v6.port, "--address", "127.0.0.1")
        self.assertEqual(answer.kind, "MISSING", answer.reason)
        answer = self.once(v6.port)
        self.assert_proven(answer, v6.pid)
        self.assertEqual(answer.listeners[0]["dualStack"], "TRISTATE_NO")

    def test_A19_addresses_of_the_v6_table(self):
        for address in ("::1", "::ffff:127.0.0.1"):
            server = self.server("0", "--dual", "--address", address,
                                 "--model", self.bundle())
            answer = self.once(server.port)
            self.assert_proven(answer, server.pid)
            self.assertEqual(answer.listeners[0]["address"], address)
        self.assert_proven(
            self.once(server.port, "--address", "127.0.0.1"), server.pid)

    def test_the_ipv4_wildcard_in_the_v6_table(self):
        server = self.server("0", "--dual", "--address", "::ffff:0.0.0.0",
                             "--model", self.bundle())
        self.assert_proven(
            self.once(server.port, "--address", "127.0.0.1"), server.pid)

    def test_A23_time_wait_is_no_listener(self):
        server = self.server("0", "--model", self.bundle())
        port = server.port
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"GET / HTTP/1.0\r\n\r\n")
                while client.recv(4096):
                    pass
        server.stop()
        answer = self.once(port)
        self.assertEqual(answer.kind, "MISSING", answer.reason)
        self.assertEqual(answer.code, 1)

    def test_A25_other_ports_are_folded(self):
        server = self.server("0", "--model", self.bundle())
        ports = sorted(int(server.do("listen 0")) for _ in range(59))
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        self.assertEqual(
            sorted(answer.processes[server.pid]["otherPorts"]), ports)
        code, shown = self.once_text(server.port)
        self.assertEqual(code, 0)
        lines = [line for line in shown.splitlines() if str(ports[0]) in line]
        self.assertEqual(len(lines), 1, shown)

    def test_A26_weights_in_a_child_and_after_its_parent(self):
        model = self.bundle()
        server = self.server("0", "--model", model)
        child = int(server.do("fork-worker"))
        self.addCleanup(self.end, child)
        answer = self.once(server.port)
        self.assertEqual(answer.owners(), [server.pid])
        self.assertEqual(answer.model["pids"], [child])
        self.assertEqual(answer.processes[child]["role"],
                         "PROCESS_ROLE_DESCENDANT")
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        server.kill()
        answer = self.once(server.port)
        self.assertEqual(answer.kind, "MISSING", answer.reason)
        self.assertIn("ORPHAN_WEIGHTS", answer.flags)
        (orphan,) = [o for o in answer.attestation["orphans"]
                     if o["pids"] == [child]]
        self.assertIn("ORPHAN_WEIGHTS", flags(orphan))
        self.assertEqual(grade(orphan), "RESIDENT")

    def test_mptcp_listener_is_found_and_marked(self):
        try:
            server = self.server("0", "--mptcp", "--model", self.bundle())
        except AssertionError:
            self.skipTest("this kernel has no MPTCP")
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        self.assertTrue(answer.listeners[0].get("mptcp"))

    def test_a_thread_with_its_own_descriptor_table(self):
        server = self.server("0", "--model", self.bundle())
        server.do("thread-files")
        answer = self.once(server.port)
        self.assertEqual(set(answer.owners()), {server.pid})
        self.assertEqual(answer.kind, "MATCH", answer.reason)

    def test_a_dead_leader_is_read_through_a_live_thread(self):
        server = self.server("0", "--model", self.bundle())
        server.do("leader-exit")
        time.sleep(0.1)
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)

    def test_a_hidden_owner_is_not_an_absent_one(self):
        server = self.server("0", "--model", self.bundle())
        answer = self.once(
            server.port, "--state-dir", "/nonexistent-state",
            wrapper=("setpriv", "--reuid=65534", "--regid=65534",
                     "--clear-groups", "--inh-caps=-all",
                     "--bounding-set=-all"))
        self.assertEqual(answer.kind, "UNVERIFIABLE", answer.reason)
        self.assertEqual(answer.line, 5)
        self.assertEqual(answer.code, 4)
        self.assertEqual(answer.listeners[0]["ownersState"],
                         "OWNERS_STATE_HIDDEN")
        self.assertIn("CAP_SYS_PTRACE", answer.blind)

    def test_U4_bound_but_not_listening(self):
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            answer = self.once(bound.getsockname()[1])
        self.assertEqual(answer.kind, "MISSING")

    def test_U9_a_specific_address_wins_over_a_wildcard(self):
        a = self.bundle("a.gguf", "--seed", "1")
        b = self.bundle("b.gguf", "--seed", "2")
        wild = self.server("0", "--reuseport", "--address", "0.0.0.0",
                           "--model", a)
        exact = self.server(str(wild.port), "--reuseport", "--address",
                            "127.0.0.1", "--model", b)
        answer = self.once(wild.port, "--digest", self.sha256(a))
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        answer = self.once(wild.port, "--address", "127.0.0.1")
        self.assert_proven(answer, exact.pid)
        answer = self.once(wild.port, "--address", "127.0.0.2")
        self.assert_proven(answer, wild.pid)


if __name__ == "__main__":
    unittest.main()
