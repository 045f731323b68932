"""Stand-ins for agents: one that changes questions on their way to the real
server, and one that says whatever a test wants it to say."""

import os
import socket
import ssl
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(
    os.path.abspath(__file__)), "..", "server"))
from lab import (Authority, Lab, Server, context, dial,  # noqa: E402,F401
                 request, secure, send)

WEIGHTCTL = os.path.join(os.environ["WD_BUILD"], "client/weightctl")


class Agent:
    """Answers each connection by `speak(socket)`, in a thread of its own."""

    def __init__(self, speak, pair=None, backlog=16, verify=None):
        self.speak, self.failed = speak, None
        self.tls = None
        if pair:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*pair)
            if verify:
                self.tls.load_verify_locations(verify)
                self.tls.verify_mode = ssl.CERT_REQUIRED
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            try:
                stream = self.socket.accept()[0]
            except OSError:
                return
            with stream:
                try:
                    if self.tls:
                        stream = self.tls.wrap_socket(stream, server_side=True)
                    self.speak(stream)
                except OSError as error:
                    # The client hung up, as many tests want it to.
                    self.failed = error
                finally:
                    stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(60)


def read_message(stream):
    """(head, body) of one request or answer."""
    text = b""
    while b"\r\n\r\n" not in text:
        part = stream.recv(65536)
        if not part:
            raise OSError("no message")
        text += part
    head, body = text.split(b"\r\n\r\n", 1)
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(body) < length:
        body += stream.recv(65536)
    return head + b"\r\n\r\n", body


def says(*parts):
    """Reads the question and says these bytes."""
    def speak(stream):
        read_message(stream)
        for part in parts:
            stream.sendall(part)
    return speak


def fields_of(body):
    """(number, bytes of the whole field, its content) of a message that has
    small numbers and strings alone."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = body[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(body):
        start = at
        key = varint()
        length = varint()
        if key & 7 == 2:
            at += length
        yield key >> 3, body[start:at], body[at - length:at]


def field(number, content):
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def changed(body, number, content):
    """The message with another content of one field; None takes it out."""
    kept = b"".join(whole for n, whole, _ in fields_of(body) if n != number)
    return kept if content is None else kept + field(number, content)


def passes_on(server, lab, change=lambda body: body, during=lambda: None):
    """Passes the question on to the real server, changed on its way, and
    hangs up after the answer, which promises more."""
    def speak(stream):
        head, body = read_message(stream)
        body = change(body)
        during()
        lines = [line for line in head.split(b"\r\n")
                 if not line.lower().startswith(b"content-length:")]
        lines.insert(1, b"Content-Length: %d" % len(body))
        with context(lab, lab.worker).wrap_socket(
                dial(server.port), server_hostname="localhost") as real:
            real.sendall(b"\r\n".join(lines) + body)
            stream.sendall(b"".join(read_message(real)))
    return speak


def run(verb, target, lab, port, *flags, pair=None, ca=None, env=None):
    """weightctl VERB TARGET with the lab's files."""
    certificate, key = pair or lab.worker
    return subprocess.run(
        [WEIGHTCTL, verb, *([target] if isinstance(target, str) else target),
         "--ca", ca or lab.ca.certificate, "--cert", certificate, "--key", key,
         "--agent-port", str(port), *flags],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        env=env)
