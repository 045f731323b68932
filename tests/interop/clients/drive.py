#!/usr/bin/env python3
"""Starts the server and lets each client talk to it: drive.py NODE WORK
PROMTOOL."""

import json
import os
import subprocess
import sys

SOURCE = os.environ["WD_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests/integration/server"))

from lab import (QUESTION, SERVICE, Server, call, request, run,  # noqa: E402
                 secure, send)  # noqa: E402

NODE, WORK, PROMTOOL = sys.argv[1:]


def finish(command):
    """The client's output; when it fails that is shown instead."""
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    return done.stdout


def connect_node_understands(lab):
    with Server(lab) as server:
        said = finish([NODE, os.path.join(WORK, "ask.mjs"), str(server.port),
                       lab.ca.certificate, *lab.worker,
                       os.path.join(WORK, "es")])
        assert "oneConnectionServesMany" in said, said


def python_understands(lab):
    with Server(lab) as server:
        finish(["/usr/bin/python3",
                os.path.join(SOURCE, "tests/interop/clients/ask.py"),
                str(server.port), lab.ca.certificate, *lab.worker,
                os.path.join(WORK, "python")])


def curl_understands(lab):
    with Server(lab) as server:
        base = ["curl", "-sS", "--fail-with-body", "--cacert",
                lab.ca.certificate, "--cert", lab.worker[0], "--key",
                lab.worker[1]]
        url = "https://localhost:%d" % server.port
        answer = json.loads(finish(base + [
            "--json", json.dumps({"question": {"port": 8081}, "expectation": {
                "parameterCount": "7615616512"}}),
            url + SERVICE + "AttestPort"]))
        assert answer["verdict"]["kind"] == "VERDICT_KIND_MATCH", answer
        assert finish(base + [url + "/healthz"]) == "ok\n"


def promtool_finds_nothing_to_mend(lab):
    with Server(lab) as server, secure(server) as stream:
        call(stream, "AttestPort", QUESTION)
        call(stream, "AttestPort", {})
        page = send(stream, request("GET", "/metrics")).body
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=page,
                              capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, b""), done.stderr
        # It does find what is wrong.
        done = subprocess.run([PROMTOOL, "check", "metrics"],
                              input=page + b"a_counter 1\n",
                              capture_output=True, timeout=120)
        assert b"a_counter" in done.stderr, done.stderr


run([connect_node_understands, python_understands, curl_understands,
     promtool_finds_nothing_to_mend])
