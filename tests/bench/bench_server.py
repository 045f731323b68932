#!/usr/bin/env python3
"""Processor time of the server for a handshake and for a call, beside
`openssl s_server`, in the same run: WD_BUILD=build/release
tests/bench/bench_server.py [ROUNDS].

The server is the real one before an observer that plays, so what is shown is
the network's share of a call. Every figure is processor time of the serving
process (user and system), median of five rounds that take turns.
"""

import os
import socket
import statistics
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tests/integration/server"))

from lab import (QUESTION, Lab, Server, call, context, dial)  # noqa: E402

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
HANDSHAKES, CALLS = 400, 4000


def processor_seconds(pid):
    with open("/proc/%d/schedstat" % pid) as file:
        return int(file.read().split()[0]) / 1e9


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def peer_server(lab):
    """openssl s_server with the same certificates and the same rules."""
    port = free_port()
    process = subprocess.Popen(
        ["openssl", "s_server", "-accept", str(port), "-tls1_3", "-Verify",
         "2", "-verify_return_error", "-cert", lab.server[0], "-key",
         lab.server[1], "-CAfile", lab.ca.certificate, "-www", "-quiet"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except ConnectionRefusedError:
            time.sleep(0.02)
    raise RuntimeError("openssl s_server did not start")


def ask_page(stream):
    stream.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return stream.recv(4096)


def handshakes(made, port, resume):
    session = None
    for _ in range(HANDSHAKES):
        with made.wrap_socket(dial(port), server_hostname="localhost",
                              session=session) as stream:
            assert ask_page(stream)
            if resume:
                assert session is None or stream.session_reused
                session = stream.session


def calls(lab, server):
    with context(lab, lab.worker).wrap_socket(
            dial(server.port), server_hostname="localhost") as stream:
        for _ in range(CALLS):
            assert call(stream, "AttestPort", QUESTION).status == 200


def measure(pid, count, work, *arguments):
    before = processor_seconds(pid)
    work(*arguments)
    return (processor_seconds(pid) - before) / count * 1e6


def main():
    lab = Lab()
    peer, peer_port = peer_server(lab)
    figures = {}
    try:
        with Server(lab, "work_per_minute=0") as server:
            made = context(lab, lab.worker)
            own = server.process.pid
            for _ in range(ROUNDS):
                for name, pid, count, *work in (
                        ("peer full", peer.pid, HANDSHAKES, handshakes, made,
                         peer_port, False),
                        ("own full", own, HANDSHAKES, handshakes, made,
                         server.port, False),
                        ("own resumed", own, HANDSHAKES, handshakes, made,
                         server.port, True),
                        ("own call", own, CALLS, calls, lab, server)):
                    figures.setdefault(name, []).append(
                        measure(pid, count, *work))
    finally:
        peer.kill()
        peer.wait()
        lab.close()
    middle = {name: statistics.median(f) for name, f in figures.items()}
    for name, what in (
            ("peer full", "openssl s_server: full handshake and a page"),
            ("own full", "weightd: full handshake and a page"),
            ("own resumed", "weightd: session taken up and a page"),
            ("own call", "weightd: AttestPort in JSON, connection kept")):
        print("%-46s %8.1f us  %8.0f a second and core" % (
            what, middle[name], 1e6 / middle[name]))
    print("handshakes a second against openssl s_server: %.2fx" % (
        middle["peer full"] / middle["own full"]))
    print("taken up against full: %.2fx" % (
        middle["own full"] / middle["own resumed"]))


main()
