#!/usr/bin/env python3
"""Clients that mean harm: each costs what the limits say and delays nobody.

No test asserts how long something takes; short limits of the server and
counters that must come back to where they were say it instead.
"""

import socket
import ssl
import struct
import sys

from lab import (QUESTION, SERVICE, Server, call, context, dial, request, run,
                 secure, send)

HANG = {"question": {"port": 1}}
LARGE = {"question": {"port": 6}}


def ended(stream):
    """Whether the other side has closed; whatever it sent is read."""
    try:
        while stream.recv(65536):
            pass
    except (ConnectionError, ssl.SSLError):
        pass
    return True


def reset(raw):
    """Closes with RST."""
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()


def others_are_served(server):
    with secure(server) as stream:
        assert call(stream, "GetHost", {}).status == 200


def plaintext_gets_nothing(lab):
    with Server(lab) as server:
        for bytes_ in (b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
                       request("POST", SERVICE + "GetHost", b"{}"),
                       b"\0" * 5000, b"\x16\x03\x01\xff\xff" + b"x" * 5000):
            raw = dial(server.port)
            raw.sendall(bytes_)
            got = b""
            try:
                while True:
                    more = raw.recv(65536)
                    if not more:
                        break
                    got += more
            except ConnectionError:
                pass
            raw.close()
            assert b"HTTP" not in got and len(got) < 100, got
        server.wait_for("open", 0)
        assert server.number("asked") == 0
        others_are_served(server)


def slowloris_ends(lab):
    """Before TLS, in the head, in a body of known length, in chunks, and
    between requests: a byte now and then puts no end off."""
    with Server(lab, "handshake=400", "request=400", "idle=400") as server:
        silent = dial(server.port)
        dribble = dial(server.port)
        dribble.sendall(b"\x16\x03\x01")
        assert ended(silent) and ended(dribble)
        starts = [b"POST " + SERVICE.encode(),
                  request("POST", SERVICE + "GetHost", b"{}")[:-1],
                  b"POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                  b"chunked\r\n\r\n1"]
        for start in starts:
            with secure(server) as stream:
                stream.sendall(start)
                answer = send(stream, b"")
                assert answer.status == 408, (start, answer.status)
                assert answer.headers["Connection"] == "close"
                assert ended(stream)
        with secure(server) as stream:
            assert call(stream, "GetHost", {}).status == 200
            assert ended(stream)
        server.wait_for("open", 0)


def dripping_does_not_help(lab):
    with Server(lab, "request=700") as server, secure(server) as stream:
        stream.settimeout(0.05)
        got = b""
        for _ in range(2000):
            try:
                stream.sendall(b"G")
                got = stream.recv(4096)
                break
            except TimeoutError:
                continue
            except (ConnectionError, ssl.SSLError):
                break
        assert b" 408 " in got, got
        server.wait_for("open", 0)


REFUSED = [
    (b"GET /healthz HTTP/1.0\r\nHost: x\r\n\r\n", 505),
    (b"GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n", 505),
    (b"GET /healthz\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    (b"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
    (b"GET / HTTP/1.1\nHost: x\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: x\0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
     b"Content-Length: 1\r\n\r\nx", 400),
    (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
     b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\nx", 400),
    (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\nx", 400),
    (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n", 413),
    (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked"
     b"\r\n\r\n", 501),
    (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     b"fffffffffffffffff\r\n", 400),
    (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     b"ffffffffffffffff\r\n", 413),
    (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     b"1\r\nxy", 400),
    (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     b"1;" + b"e" * 300 + b"\r\n", 400),
    (b"POST / HTTP/1.1\r\nHost: x\r\nExpect: magic\r\n\r\n", 417),
    (b"GET /" + b"a" * 200 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 20000 + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 4000, 431),
]


def broken_requests_are_refused(lab):
    with Server(lab) as server:
        for bytes_, status in REFUSED:
            with secure(server) as stream:
                answer = send(stream, bytes_)
                assert answer.status == status, (bytes_[:80], answer.status,
                                                 answer.body)
                assert answer.headers["Connection"] == "close"
                assert ended(stream)
        server.wait_for("open", 0)


def endless_input_is_not_kept(lab):
    """An endless chunk line, head and body: the answer comes, and memory does
    not grow with what is sent behind it."""
    with Server(lab, "request=3000") as server:
        others_are_served(server)
        before = server.number("rss")
        for start in (b"POST / HTTP/1.1\r\nHost: x\r\n"
                      b"Transfer-Encoding: chunked\r\n\r\n",
                      b"GET / HTTP/1.1\r\nX: ",
                      b"POST / HTTP/1.1\r\nHost: x\r\n"
                      b"Content-Length: 99999999\r\n\r\n"):
            with secure(server) as stream:
                try:
                    stream.sendall(start)
                    for _ in range(500):
                        stream.sendall(b"1" * 65536)
                except (ConnectionError, ssl.SSLError):
                    pass
        # During a call as well, where nobody asked for more.
        with secure(server) as stream:
            stream.settimeout(2)
            try:
                stream.sendall(request("POST", SERVICE + "AttestPort",
                                       b'{"question":{"port":1}}',
                                       [("Content-Type", "application/json")]))
                for _ in range(500):
                    stream.sendall(b"1" * 65536)
            except (OSError, ssl.SSLError):
                pass
        grown = server.number("rss") - before
        assert grown < 16384, "%d kB more" % grown
        server.wait_for("open", 0)
        server.wait_for("pending", 0)


def an_unread_answer_ends(lab):
    """Large answers that nobody reads are dropped with the connection."""
    with Server(lab, "reply=500", "work_per_minute=0") as server:
        others_are_served(server)
        server.wait_for("open", 0)
        base = server.number("descriptors")
        streams = []
        for _ in range(8):
            stream = secure(server)
            stream.sendall(request(
                "POST", SERVICE + "AttestPort", b'{"question":{"port":6}}',
                [("Content-Type", "application/json")]))
            streams.append(stream)
        others_are_served(server)
        server.wait_for("open", 0)
        for stream in streams:
            stream.close()
        server.wait_for("descriptors", base)


def resets_leave_nothing(lab):
    """RST and half-close at each stage; the descriptors come back (F8)."""
    body = request("POST", SERVICE + "AttestPort", b'{"question":{"port":1}}',
                   [("Content-Type", "application/json")])
    with Server(lab, "work_per_minute=0", "handshake=1000", "reply=1000",
                "connections_per_peer=256") as server:
        others_are_served(server)
        server.wait_for("open", 0)
        base = server.number("descriptors")

        def leave(raw, half):
            if half:
                raw.shutdown(socket.SHUT_WR)
                ended(raw)
                raw.close()
            else:
                reset(raw)

        for round_ in range(60):
            half = round_ % 2 == 1
            leave(dial(server.port), half)
            raw = dial(server.port)
            raw.sendall(b"\x16\x03\x01\x02\x00\x01")
            leave(raw, half)
            stages = [b"", body[:20], body[:-5], body]
            # Large answers take their time to make; some will do.
            if round_ % 10 < 2:
                stages.append(body.replace(b'"port":1', b'"port":6'))
            for bytes_ in stages:
                with secure(server) as stream:
                    stream.sendall(bytes_)
                    raw = socket.socket(fileno=stream.detach())
                raw.settimeout(60)
                leave(raw, half)
        server.wait_for("open", 0)
        server.wait_for("pending", 0)
        server.wait_for("descriptors", base)
        others_are_served(server)


def whoever_leaves_is_not_worked_for(lab):
    with Server(lab) as server:
        stream = secure(server)
        stream.sendall(request("POST", SERVICE + "AttestPort",
                               b'{"question":{"port":1}}',
                               [("Content-Type", "application/json")]))
        server.wait_for("pending", 1)
        stream.close()
        server.wait_for("pending", 0)
        assert server.number("cancelled") == 1


def connections_are_capped(lab):
    with Server(lab, "connections=6", "connections_per_peer=4") as server:
        streams = [dial(server.port) for _ in range(4)]
        server.wait_for("open", 4)
        assert ended(dial(server.port)), "a fifth of one address"
        # Another address has a share of its own, up to the total.
        others = []
        for _ in range(2):
            raw = socket.socket()
            raw.bind(("127.0.0.2", 0))
            raw.connect(("127.0.0.1", server.port))
            others.append(raw)
        server.wait_for("open", 6)
        raw = socket.socket()
        raw.settimeout(60)
        raw.bind(("127.0.0.3", 0))
        raw.connect(("127.0.0.1", server.port))
        assert ended(raw), "a seventh in all"
        for stream in streams + others:
            stream.close()
        server.wait_for("open", 0)
        others_are_served(server)


def ten_thousand_connects(lab):
    with Server(lab) as server:
        others_are_served(server)
        server.wait_for("open", 0)
        base, rss = server.number("descriptors"), server.number("rss")
        for _ in range(100):
            many = []
            for _ in range(100):
                raw = socket.socket()
                raw.setblocking(False)
                raw.connect_ex(("127.0.0.1", server.port))
                many.append(raw)
            for raw in many:
                raw.close()
        server.wait_for("open", 0)
        server.wait_for("descriptors", base)
        assert server.number("rss") - rss < 16384
        others_are_served(server)


def without_descriptors_it_waits(lab):
    """EMFILE neither spins nor fills the log, and passes."""
    with Server(lab) as server:
        used = server.number("descriptors")
        # Counted among them: ".", ".." and the folder that is read.
        server.tell("descriptor-limit %d" % (used - 3))
        cpu = server.number("cpu")
        log = len(server.log())
        waiting = [dial(server.port) for _ in range(5)]
        waiting[0].settimeout(1.5)
        try:
            waiting[0].recv(1)
        except TimeoutError:
            pass
        assert server.number("open") == 0
        # A loop that spins uses all of the 1,500 ms.
        assert server.number("cpu") - cpu < 500
        assert len(server.log()) - log < 2000
        server.tell("descriptor-limit 0")
        server.wait_for("open", 5)
        for raw in waiting:
            raw.close()
        others_are_served(server)


def pipelined_requests_are_answered_in_turn(lab):
    with Server(lab) as server, secure(server) as stream:
        one = request("POST", SERVICE + "GetHost", b"{}",
                      [("Content-Type", "application/json")])
        stream.sendall(one * 5)
        got = b""
        while got.count(b"HTTP/1.1 200 OK") < 5:
            more = stream.recv(65536)
            assert more, got
            got += more


def chunks_and_continue_are_understood(lab):
    with Server(lab) as server, secure(server) as stream:
        head = (b"POST " + SERVICE.encode() + b"AttestPort HTTP/1.1\r\n"
                b"Host: x\r\nContent-Type: application/json\r\n")
        answer = send(stream, head + b"Transfer-Encoding: chunked\r\n\r\n"
                      b"c;x=y\r\n{\"question\":\r\n0000f\r\n{\"port\": 8081}}"
                      b"\r\n0\r\nTrailer: x\r\n\r\n")
        assert answer.status == 200, answer.body
        stream.sendall(head + b"Content-Length: 26\r\n"
                       b"Expect: 100-continue\r\n\r\n")
        assert stream.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert send(stream, b'{"question":{"port":8081}}').status == 200


def one_hostile_client_delays_nobody(lab):
    with Server(lab, "connections_per_peer=200", "work_per_minute=0") as server:
        hung = []
        for _ in range(20):
            stream = secure(server)
            stream.sendall(request("POST", SERVICE + "AttestPort",
                                   b'{"question":{"port":1}}',
                                   [("Content-Type", "application/json")]))
            hung.append(stream)
        hung += [dial(server.port) for _ in range(20)]
        server.wait_for("pending", 20)
        with secure(server) as stream:
            for _ in range(20):
                assert call(stream, "AttestPort", QUESTION).status == 200
        for stream in hung:
            stream.close()


if __name__ == "__main__":
    run([plaintext_gets_nothing, slowloris_ends, dripping_does_not_help,
         broken_requests_are_refused, endless_input_is_not_kept,
         an_unread_answer_ends, resets_leave_nothing,
         whoever_leaves_is_not_worked_for, connections_are_capped,
         ten_thousand_connects, without_descriptors_it_waits,
         pipelined_requests_are_answered_in_turn,
         chunks_and_continue_are_understood, one_hostile_client_delays_nobody])
    sys.exit(0)
