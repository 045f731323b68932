"""Servers that are not what they seem: a front answers with one model, while a
process that it started holds another."""

import shutil
import socket
import subprocess
import sys
import time
import unittest

from harness import MODELSERVER, OnceTest, needs_root

PARENT = '''
import os, socket, subprocess, sys, time
family, address, program, model, behind = sys.argv[1:6]
l = socket.socket(getattr(socket, family)); l.bind((address, 0)); l.listen()
port = l.getsockname()[1]
child = subprocess.Popen([*sys.argv[6:], program, str(port), "--model", model,
                          "--no-control"], stdout=subprocess.PIPE)
child.stdout.readline()
up = socket.create_connection(("127.0.0.1", int(behind)))
print(port, child.pid, flush=True)
kept = l.accept()
time.sleep(600)
'''
INSIDE = ("unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$0" "$@"')


class Attacks(OnceTest):
    def setUp(self):
        super().setUp()
        self.a = self.bundle("a.gguf", "--seed", "1")
        self.b = self.bundle("b.gguf", "--seed", "2")

    def script(self, code, *args):
        path = self.path("s.py")
        with open(path, "w") as file:
            file.write(code)
        p = subprocess.Popen([sys.executable, path, *args],
                             stdout=subprocess.PIPE, start_new_session=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return [int(n) for n in p.stdout.readline().split()]

    def front(self, program=MODELSERVER, family="AF_INET",
              address="127.0.0.2", inside=()):
        """Listens at its address, passes on to a server of b; its child has
        a, at the same port number of another address or namespace."""
        behind = self.server("0", "--model", self.b)
        port, child = self.script(PARENT, family, address, program, self.a,
                                  str(behind.port), *inside)
        self.addCleanup(self.end, child)
        return port

    def test_child_at_the_same_port_number(self):
        for family, address in (("AF_INET", "127.0.0.2"), ("AF_INET6", "::1")):
            port = self.front(family=family, address=address)
            answer = self.once(port, "--digest", self.sha256(self.a))
            self.assertNotEqual(answer.kind, "MATCH", answer.reason)

    def test_child_that_is_a_known_engine(self):
        program = self.path("llama-server")
        shutil.copy(MODELSERVER, program)
        port = self.front(program)
        answer = self.once(port, "--digest", self.sha256(self.a))
        self.assertNotEqual(answer.kind, "MATCH", answer.reason)

    def by_connection(self, inside=()):
        port = self.front(inside=inside)
        with socket.create_connection(("127.0.0.2", port)) as client:
            time.sleep(0.1)
            end = "%s:%d" % client.getsockname()
            answer = self.once(port, "--connection", end,
                               "--digest", self.sha256(self.a))
        self.assertNotEqual(answer.kind, "MATCH", answer.reason)

    def test_connection_of_the_parent(self):
        self.by_connection()

    @needs_root
    def test_connection_and_child_in_a_namespace(self):
        self.by_connection(INSIDE)


if __name__ == "__main__":
    unittest.main()
