#!/usr/bin/env python3
"""Proofs through all three processes, and digests that outlive a front and a
reader that are killed while they are made."""

import base64
import datetime
import hashlib
import os
import signal
import subprocess
import sys
import threading

from agent import Agent, call, run, secure, wait_until

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "once"))

from harness import MKBUNDLE, Server  # noqa: E402  (behind the path)

# 2.2 MB at 500 kB a second: long enough to be killed in between.
SLOW = {"digests": {"bytes_per_second": 500000}}


class Model:
    """A server that maps a generated model."""

    def __init__(self, lab, seed):
        self.path = os.path.join(lab.folder, "model-%d.gguf" % seed)
        subprocess.run([MKBUNDLE, self.path, "--name", "m", "--tensors", "16",
                        "--elements", "131072", "--seed", str(seed)],
                       check=True)
        with open(self.path, "rb") as file:
            self.digest = hashlib.sha256(file.read()).digest()

    def __enter__(self):
        self.server = Server("0", "--model", self.path)
        return self

    def __exit__(self, *rest):
        self.server.stop()


def attest(agent, model, wish, timeout_ms=60000, **more):
    with secure(agent) as stream:
        return call(stream, "AttestPort", dict(
            question={"port": model.server.port},
            digests="DIGEST_WISH_" + wish, **more),
            [("Connect-Timeout-Ms", str(timeout_ms))])


def file_of(answer):
    assert answer.status == 200, answer.body
    group = answer.json()["attestation"]["groups"][0]
    return group["candidates"][0]["bundle"]["files"][0]


def state_of(answer):
    return file_of(answer)["digestState"][len("DIGEST_STATE_"):]


def digest_of(answer):
    return base64.b64decode(file_of(answer)["sha256"]["value"])


def weights_are_proven_through_all_processes(lab):
    with Model(lab, 1) as model, Agent(lab) as agent:
        answer = attest(agent, model, "WAIT",
                        expectation={"parameterCount": "2097152"})
        assert state_of(answer) == "COMPUTED", answer.body
        assert digest_of(answer) == model.digest
        assert answer.json()["verdict"]["kind"] == "VERDICT_KIND_MATCH"


def a_digest_outlives_its_front(lab):
    with Model(lab, 2) as model, Agent(lab, SLOW) as agent:
        reader = agent.child("reader")
        assert state_of(attest(agent, model, "START")) == "PENDING"
        front = agent.child("front")
        killed = datetime.datetime.now(datetime.timezone.utc).isoformat()
        os.kill(front, signal.SIGKILL)
        agent.replaced("front", front)
        wait_until(agent.healthy, "a new front answers")
        answer = attest(agent, model, "WAIT")
        assert digest_of(answer) == model.digest
        # Begun for the question of the old front, and never since.
        assert file_of(answer)["digestedAt"] < killed, (answer.body, killed)
        assert agent.child("reader") == reader


def a_question_outlives_its_reader(lab):
    """The call is made once more with a new reader."""
    with Model(lab, 3) as model, Agent(lab, SLOW) as agent:
        assert state_of(attest(agent, model, "START")) == "PENDING"
        answers = []
        asker = threading.Thread(target=lambda: answers.append(
            attest(agent, model, "WAIT")))
        asker.start()
        reader = agent.child("reader")
        os.kill(reader, signal.SIGKILL)
        agent.replaced("reader", reader)
        asker.join()
        assert state_of(answers[0]) == "COMPUTED", answers[0].body
        assert digest_of(answers[0]) == model.digest


def a_reader_that_always_dies_makes_no_match(lab):
    """Honest: without a reader nothing is proven, and the answer says so."""
    with Model(lab, 4) as model, Agent(lab) as agent:
        stop = threading.Event()

        def kill_readers():
            while not stop.is_set():
                try:
                    os.kill(agent.child("reader"), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        killer = threading.Thread(target=kill_readers)
        killer.start()
        try:
            agent.wait_log("reader .* starts after a pause", 3)
            answer = attest(agent, model, "WAIT", 6000)
        finally:
            stop.set()
            killer.join()
        if answer.status == 200:
            assert answer.json()["verdict"]["kind"] == \
                "VERDICT_KIND_UNVERIFIABLE", answer.body
        assert agent.healthy()
        answer = wait_until(lambda: proven(agent, model), "a proof again")
        assert digest_of(answer) == model.digest


def proven(agent, model):
    answer = attest(agent, model, "WAIT")
    if answer.status == 200 and answer.json()["verdict"]["kind"] == \
            "VERDICT_KIND_MATCH":
        return answer
    return None


if __name__ == "__main__":
    run([weights_are_proven_through_all_processes, a_digest_outlives_its_front,
         a_question_outlives_its_reader,
         a_reader_that_always_dies_makes_no_match])
    sys.exit(0)
