"""Real engines for the tests, on Node.js by npm (tests/support/node.sh)."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from harness import BUILD

INTEGRATION = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUPPORT = os.path.join(os.path.dirname(INTEGRATION), "support")
CACHE = os.environ.get("WD_CACHE", os.path.join(BUILD, "cache"))

FETCH = '''
. "$1/node.sh"
need_node "$1" "$2" >&2 && need_modules "$3" "$4" >&2 && echo "$node"
'''


def engine(name):
    """The path of Node.js and a folder with what tests/integration/NAME pins
    and serve.mjs; skips without them, and fails where CI must have them."""
    source = os.path.join(INTEGRATION, name)
    place = os.path.join(CACHE, name)
    done = subprocess.run(
        ["bash", "-c", FETCH, "bash", SUPPORT, CACHE, source, place],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        if os.environ.get("CI") == "true":
            raise AssertionError(done.stderr.decode())
        raise unittest.SkipTest(f"{name}: {done.stderr.decode()}")
    # Where node looks for the packages; the same for every test at once.
    copy = os.path.join(place, f"serve-{os.getpid()}-{os.urandom(4).hex()}.mjs")
    shutil.copy(os.path.join(source, "serve.mjs"), copy)
    return done.stdout.decode().strip(), copy


def make_llama(path, *options):
    """A small GGUF that llama.cpp really loads; the facts about it."""
    script = os.path.join(INTEGRATION, "engine", "make_llama.py")
    done = subprocess.run([sys.executable, script, path, *options],
                          stdout=subprocess.PIPE, check=True)
    os.utime(path, (1, 1))
    return json.loads(done.stdout)


def make_onnx(path):
    script = os.path.join(INTEGRATION, "onnx", "make_onnx.py")
    subprocess.run([sys.executable, script, path], check=True)
    os.utime(path, (1, 1))
    return path


class Engine:
    """serve.mjs of an engine with these arguments; ends with the test."""

    def __init__(self, test, name, *arguments, env=None):
        node, script = engine(name)
        test.addCleanup(os.unlink, script)
        self.process = subprocess.Popen(
            [node, script, *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, **(env or {})})
        test.addCleanup(self.stop)
        line = self.process.stdout.readline().split()
        if len(line) != 3 or line[0] != b"ready":
            raise AssertionError(f"{name} did not start: {line}")
        self.port, self.pid = int(line[1]), int(line[2])

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
