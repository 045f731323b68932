"""The service itself: weightd --config in a folder of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "server"))

import lab as server_lab  # noqa: E402  (behind the path)
from lab import BUILD, call, request, secure, send  # noqa: E402,F401

PROGRAM = os.path.join(BUILD, "agent/weightd")
SECONDS = 60

# Numbers need no entry in the system's list of users.
FRONT, READER = 64801, 64802


def run(tests):
    """Runs each function of `tests`; stops at the first that fails."""
    server_lab.run(tests)


def question(port):
    """A request that makes the observer look."""
    body = json.dumps({"question": {"port": port}}).encode()
    return request("POST", server_lab.SERVICE + "AttestPort", body,
                   [("Content-Type", "application/json")])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(test, what):
    """Until test() is true; the tests' only way to wait. Gives its value."""
    end = time.monotonic() + SECONDS
    while True:
        value = test()
        if value:
            return value
        assert time.monotonic() < end, "it never came true: %s" % what
        time.sleep(0.02)


def children(pid):
    """{name: pid} of the living children, by the role on the command line."""
    found = {}
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        pids = [int(word) for word in file.read().split()]
    for child in pids:
        try:
            with open("/proc/%d/cmdline" % child, "rb") as file:
                arguments = file.read().decode().split("\0")
        except OSError:
            continue
        if len(arguments) > 1 and arguments[1].startswith("--role="):
            found[arguments[1][len("--role="):]] = child
    return found


class Agent:
    """One running service, with a service manager that listens."""

    def __init__(self, lab, change=None, start=True, environment=None,
                 pass_fds=(), prefix=()):
        self.lab = lab
        self.folder = os.path.join(lab.folder, "agent-%d" % time.monotonic_ns())
        os.mkdir(self.folder)
        self.port = free_port()
        self.config_path = os.path.join(self.folder, "weightd.yaml")
        self.log_path = os.path.join(self.folder, "log")
        certificate, key = lab.server
        self.config = {
            "version": 1,
            "listen": {"addresses": ["127.0.0.1"], "port": self.port},
            "tls": {"certificate": certificate, "key": key,
                    "ca": lab.ca.certificate},
            "roles": {"read": ["dns:monitor.lab"], "work": ["dns:bench.lab"]},
            "users": {"front": FRONT, "reader": READER},
            "state_dir": os.path.join(self.folder, "state"),
            "pid_namespace_is_all": "WD_OWN_PIDS" in os.environ,
        }
        for name, value in (change or {}).items():
            if isinstance(value, dict):
                self.config.setdefault(name, {}).update(value)
            else:
                self.config[name] = value
        self.write_config()
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(os.path.join(self.folder, "notify"))
        self.notify.settimeout(SECONDS)
        self.environment = {"PATH": os.environ["PATH"],
                            "NOTIFY_SOCKET": self.notify.getsockname()}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.environment.update(environment or {})
        self.log_file = open(self.log_path, "wb")
        self.process = subprocess.Popen(
            [*prefix, PROGRAM, "--config", self.config_path],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=self.log_file, env=self.environment, pass_fds=pass_fds)
        self.pid = self.process.pid
        if start:
            self.expect("READY=1")

    def write_config(self):
        with open(self.config_path, "w") as file:
            json.dump(self.config, file)
        os.chmod(self.config_path, 0o644)

    def expect(self, word):
        """The next word to the service manager that begins like this."""
        while True:
            try:
                text = self.notify.recv(4096).decode()
            except TimeoutError:
                raise AssertionError("no %s; the log: %s" % (
                    word, self.log())) from None
            if text.startswith(word):
                return text

    def log(self):
        with open(self.log_path, "rb") as file:
            return file.read().decode()

    def wait_log(self, pattern, count=1):
        wait_until(lambda: len(re.findall(pattern, self.log())) >= count,
                   "%s in the log: %s" % (pattern, self.log()))

    def child(self, name):
        """The pid of front or reader, once there is one."""
        return wait_until(lambda: children(self.pid).get(name),
                          "a %s; the log: %s" % (name, self.log()))

    def replaced(self, name, old):
        """Waits for another one than `old`."""
        return wait_until(
            lambda: children(self.pid).get(name, old) != old and
            children(self.pid)[name], "another %s; the log: %s" % (
                name, self.log()))

    def healthy(self):
        """Whether somebody is served now."""
        try:
            with secure(self) as stream:
                return send(stream, request("GET", "/healthz")).status == 200
        except OSError:
            return False

    def signal(self, number):
        os.kill(self.pid, number)

    def end(self, code=0):
        """SIGTERM, and what it ends with."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        got = self.process.wait(SECONDS)
        assert got == code, "it ended with %d: %s" % (got, self.log())

    def wait_end(self):
        return self.process.wait(SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if kind is None and self.process.poll() is None:
            self.end()
        elif self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if kind is not None:
            print(self.log()[-4000:], file=sys.stderr)
        self.log_file.close()
        self.notify.close()
