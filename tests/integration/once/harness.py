"""What the tests of `weightd --once` share: servers, bundles, answers.

Every server is tests/support/modelserver: it does on command what inference
engines do by themselves, and has done it when the command is answered.
"""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

BUILD = os.environ["WD_BUILD"]
WEIGHTD = os.path.join(BUILD, "agent", "weightd")
WEIGHTCTL = os.path.join(BUILD, "client", "weightctl")
MODELSERVER = os.path.join(BUILD, "tests", "support", "wd-modelserver")
MKBUNDLE = os.path.join(BUILD, "tests", "support", "wd-mkbundle")

# run.sh puts the tests into a pid namespace of their own: some machines have
# processes into which even root may not look (a container's first process),
# and then no answer about owners is ever complete.
NAMESPACE = ["--pid-namespace-is-all"] if os.environ.get("WD_OWN_PIDS") else []


def text(value):
    """A bytes field of the proto3 JSON, as bytes."""
    return base64.b64decode(value)


class Server:
    """One wd-modelserver; ends with the test."""

    def __init__(self, *options, wrapper=(), exec_as=None, env=None,
                 program=MODELSERVER):
        command = [*wrapper, program, *options]
        if exec_as is not None:
            command = ["bash", "-c", 'exec -a "$0" "$@"', exec_as, *command]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **(env or {})}, start_new_session=True)
        line = self.process.stdout.readline().split()
        if len(line) != 3 or line[0] != b"ready":
            raise AssertionError(f"the server did not start: {line}")
        self.port = int(line[1])
        self.pid = int(line[2])

    def do(self, command):
        """Sends one command and returns the words behind "ok"."""
        if isinstance(command, str):
            command = os.fsencode(command)
        self.process.stdin.write(command + b"\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline().decode().strip()
        if not reply.startswith("ok"):
            raise AssertionError(f"{command!r}: {reply}")
        return reply[2:].strip()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        self.process.stdout.close()


class Answer:
    """What weightd --once printed, with short ways to its parts."""

    def __init__(self, code, out, err):
        self.code = code
        self.err = err
        self.json = json.loads(out) if out else {}
        self.attestation = self.json.get("attestation", {})
        self.verdict = self.json.get("verdict", {})

    @property
    def kind(self):
        return self.verdict.get("kind", "").removeprefix("VERDICT_KIND_")

    @property
    def line(self):
        return self.verdict.get("line")

    @property
    def reason(self):
        return self.verdict.get("reason", "")

    @property
    def listeners(self):
        return self.attestation.get("listeners", [])

    @property
    def groups(self):
        return self.attestation.get("groups", [])

    @property
    def processes(self):
        return {p["identity"]["pid"]: p
                for p in self.attestation.get("processes", [])}

    def owners(self, listener=0):
        return [o["pid"] for o in self.listeners[listener].get("owners", [])]

    def models(self, group=0):
        return self.groups[group].get("candidates", [])

    @property
    def model(self):
        """The only model of the only group."""
        (group,) = self.groups
        (candidate,) = group.get("candidates", [])
        return candidate

    @property
    def grade(self):
        return self.attestation.get("grade", "").removeprefix("GRADE_")

    @property
    def flags(self):
        return flags(self.attestation)

    @property
    def blind(self):
        return " | ".join(
            f"{b.get('what')}: {b.get('reason')}: {b.get('remedy')}"
            for b in self.attestation.get("blindSpots", []))


def flags(part):
    """Flags of an answer, group, candidate, file or process."""
    return {f.removeprefix("FLAG_") for f in part.get("flags", [])}


def grade(part):
    return part.get("grade", "").removeprefix("GRADE_")


class OnceTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        # /tmp changes all the time, and so may the folder of a test: with
        # none between them that stays as it is, either could have been
        # exchanged as a whole (agent/host/way.h).
        outer = tempfile.mkdtemp(prefix="wd-once-")
        self.addCleanup(shutil.rmtree, outer, ignore_errors=True)
        self.folder = os.path.join(outer, "t")
        os.mkdir(self.folder)
        self.state = os.path.join(self.folder, "state")

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def bundle(self, name="m.gguf", *options):
        """Generates a bundle; the path of its (first) file or directory."""
        out = self.path(name)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        subprocess.run([MKBUNDLE, out, *options], check=True)
        return out

    def server(self, *options, **more):
        server = Server(*options, **more)
        self.addCleanup(server.stop)
        return server

    def server_inside(self, address="0.0.0.0"):
        """A model server in a network namespace of its own."""
        return self.server(
            "0", "--address", address, "--model", self.bundle(),
            wrapper=("unshare", "-n", "sh", "-c",
                     'ip link set lo up; exec "$0" "$@"'))

    def join_namespace(self, pid, network):
        """NETWORK.1 here and NETWORK.2 in the process's namespace."""
        near = f"wd{pid % 100000}a"
        net = ["nsenter", "-t", str(pid), "-n"]
        self.run_or_skip("ip", "link", "add", near, "type", "veth", "peer",
                         "name", "wdpeer", "netns", str(pid))
        self.addCleanup(subprocess.run, ["ip", "link", "del", near],
                        stderr=subprocess.DEVNULL, check=False)
        for command in (["ip", "addr", "add", f"{network}.1/24", "dev", near],
                        ["ip", "link", "set", near, "up"],
                        [*net, "ip", "addr", "add", f"{network}.2/24", "dev",
                         "wdpeer"],
                        [*net, "ip", "link", "set", "wdpeer", "up"]):
            subprocess.run(command, check=True)

    def run_or_skip(self, *command):
        done = subprocess.run(command, stderr=subprocess.PIPE)
        if done.returncode != 0:
            self.skipTest(f"{command}: {done.stderr.decode()}")

    def once(self, port, *options, wrapper=()):
        done = subprocess.run(
            [*wrapper, WEIGHTD, "--once", str(port), "--format", "json",
             "--state-dir", self.state, *NAMESPACE, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return Answer(done.returncode, done.stdout.decode(),
                      done.stderr.decode())

    def once_text(self, port, *options):
        done = subprocess.run(
            [WEIGHTD, "--once", str(port), "--state-dir", self.state,
             *NAMESPACE, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=120)
        return done.returncode, done.stdout.decode()

    def sha256(self, path):
        import hashlib
        with open(path, "rb") as file:
            return "sha256:" + hashlib.sha256(file.read()).hexdigest()

    def assert_proven(self, answer, pid):
        """The port is proven: one owner, one model, resident."""
        self.assertEqual(answer.code, 0, answer.reason)
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assertEqual(answer.grade, "RESIDENT")
        self.assertEqual(answer.owners(), [pid])

    def end(self, pid):
        """Ends a process that a server started and left behind."""
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def needs_root(test):
    return unittest.skipUnless(os.geteuid() == 0, "needs root")(test)
