"""What the server tests share: throw-away certificates, the server, clients."""

import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["WD_BUILD"]
PROGRAM = os.path.join(BUILD, "tests/support/wd-testserver")
SERVICE = "/weightd.v1.AttestationService/"
QUESTION = {"question": {"port": 8081}}

CA_CONFIG = """
[ca]
default_ca = lab
[lab]
database = {folder}/index
new_certs_dir = {folder}
serial = {folder}/serial
default_md = sha256
policy = any
unique_subject = no
default_crl_days = 30
copy_extensions = copy
[any]
commonName = supplied
"""


def openssl(*arguments):
    done = subprocess.run(("openssl",) + arguments, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError("openssl %s: %s" % (arguments, done.stderr))


class Authority:
    """A CA in a folder of its own."""

    def __init__(self, folder, name):
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        self.certificate = os.path.join(self.folder, "ca.crt")
        self.key = os.path.join(self.folder, "ca.key")
        self.crl = os.path.join(self.folder, "ca.crl")
        self.config = os.path.join(self.folder, "ca.cnf")
        with open(self.config, "w") as file:
            file.write(CA_CONFIG.format(folder=self.folder))
        open(os.path.join(self.folder, "index"), "w").close()
        with open(os.path.join(self.folder, "serial"), "w") as file:
            file.write("1000\n")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name,
                "-days", "30", "-keyout", self.key, "-out", self.certificate)

    def issue(self, name, san="", usage="clientAuth,serverAuth",
              start="", end=""):
        """(certificate, key); start and end as YYYYMMDDHHMMSSZ."""
        base = os.path.join(self.folder, name)
        extra = ["-addext", "extendedKeyUsage=" + usage] if usage else []
        extra += ["-addext", "subjectAltName=" + san] if san else []
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name,
                "-keyout", base + ".key", "-out", base + ".csr", *extra)
        dates = ["-startdate", start] if start else []
        dates += ["-enddate", end] if end else ["-days", "20"]
        openssl("ca", "-batch", "-config", self.config, "-cert",
                self.certificate, "-keyfile", self.key, "-in", base + ".csr",
                "-out", base + ".crt", "-notext", *dates)
        return base + ".crt", base + ".key"

    def revoke(self, certificate):
        openssl("ca", "-config", self.config, "-cert", self.certificate,
                "-keyfile", self.key, "-revoke", certificate)
        self.publish()

    def publish(self):
        openssl("ca", "-config", self.config, "-cert", self.certificate,
                "-keyfile", self.key, "-gencrl", "-out", self.crl)


class Lab:
    """Certificates that every test needs, in a folder that goes away."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="wd-server-")
        self.ca = Authority(self.folder, "lab-ca")
        self.server = self.ca.issue("server", "DNS:localhost,IP:127.0.0.1")
        self.worker = self.ca.issue("bench", "DNS:bench.lab")
        self.reader = self.ca.issue("monitor", "DNS:monitor.lab")

    def close(self):
        shutil.rmtree(self.folder)


class Server:
    """The program under test, and its standard input and output."""

    def __init__(self, lab, *options, crl="-", pair=None):
        certificate, key = pair or lab.server
        self.lab = lab
        self.log_path = os.path.join(lab.folder, "log")
        self.log_file = open(self.log_path, "wb")
        self.process = subprocess.Popen(
            [PROGRAM, certificate, key, lab.ca.certificate, crl,
             "rule=dns:bench.lab=3", "rule=dns:monitor.lab=1", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log_file, text=True, bufsize=1,
            # A sanitizer that keeps what was freed would look like a leak.
            env=dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1:" +
                     os.environ.get("ASAN_OPTIONS", "")))
        line = self.process.stdout.readline()
        assert line.startswith("port "), "the server did not start: %r, %s" % (
            line, self.log())
        self.port = int(line.split()[1])

    def log(self):
        with open(self.log_path, "rb") as file:
            return file.read().decode()

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        return self.process.stdout.readline().strip()

    def number(self, command):
        return int(self.tell(command))

    def wait_for(self, command, wanted, seconds=60):
        """Until the command answers `wanted`; the tests' only way to wait."""
        end = time.monotonic() + seconds
        while True:
            got = self.number(command)
            if got == wanted:
                return
            assert time.monotonic() < end, "%s stays %d, not %d" % (
                command, got, wanted)
            time.sleep(0.02)

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(60)
        self.log_file.close()
        assert code == 0, "the server ended with %d: %s" % (code, self.log())

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if kind is None:
            self.close()
        else:
            self.process.kill()
            self.process.wait()
            print(self.log()[-4000:], file=sys.stderr)


def context(lab, pair=None, ca=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.load_verify_locations(ca or lab.ca.certificate)
    if pair:
        made.load_cert_chain(*pair)
    return made


def dial(port):
    raw = socket.create_connection(("127.0.0.1", port), timeout=60)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return raw


def secure(server, pair=None):
    """A socket behind a handshake, with the worker's certificate."""
    return context(server.lab, pair or server.lab.worker).wrap_socket(
        dial(server.port), server_hostname="localhost")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json()["code"]


def send(stream, bytes_):
    """Sends raw bytes and reads one answer."""
    stream.sendall(bytes_)
    reply = http.client.HTTPResponse(stream)
    reply.begin()
    return Answer(reply.status, reply.headers, reply.read())


def request(method, path, body=b"", headers=()):
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: localhost"]
    lines += ["%s: %s" % pair for pair in headers]
    if method == "POST":
        lines.append("Content-Length: %d" % len(body))
    return "\r\n".join(lines + ["", ""]).encode() + body


def call(stream, method, message, headers=(), path=None):
    """One call in JSON over an open stream."""
    body = message if isinstance(message, bytes) else \
        json.dumps(message).encode()
    return send(stream, request(
        "POST", path or SERVICE + method, body,
        [("Content-Type", "application/json")] + list(headers)))


def run(tests):
    """Runs each function of `tests`; stops at the first that fails."""
    lab = Lab()
    try:
        for test in tests:
            print(test.__name__, flush=True)
            test(lab)
    finally:
        lab.close()
