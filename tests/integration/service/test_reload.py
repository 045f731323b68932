#!/usr/bin/env python3
"""SIGHUP and files that change: certificates, CA, CRL, roles, and what stays
as it was when they are broken."""

import os
import shutil
import signal
import ssl
import sys

from agent import Agent, question, request, run, secure, send, wait_until

GET = request("GET", "/healthz")


def serial(agent):
    with secure(agent) as stream:
        return stream.getpeercert()["serialNumber"]


def copied(lab, agent_folder, pair):
    """Files that the test may replace."""
    paths = [os.path.join(agent_folder, name) for name in ("own.crt",
                                                           "own.key")]
    for source, target in zip(pair, paths):
        shutil.copy(source, target + ".new")
        os.rename(target + ".new", target)
    return paths


def own_files(lab):
    folder = os.path.join(lab.folder, "own")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    certificate, key = copied(lab, folder, lab.server)
    return folder, {"tls": {"certificate": certificate, "key": key}}


def a_new_certificate_is_used(lab):
    """F1: no restart; connections that are open go on."""
    folder, change = own_files(lab)
    fresh = lab.ca.issue("fresh", "DNS:localhost")
    with Agent(lab, change) as agent:
        before = serial(agent)
        front = agent.child("front")
        old = secure(agent)
        assert send(old, GET).status == 200
        copied(lab, folder, fresh)
        agent.signal(signal.SIGHUP)
        assert "MONOTONIC_USEC=" in agent.expect("RELOADING=1")
        agent.expect("READY=1")
        assert serial(agent) != before
        assert send(old, GET).status == 200
        old.close()
        assert agent.child("front") == front


def a_broken_pair_is_refused(lab):
    """One line in the log; the old certificate stays, also for a front that
    is started later."""
    folder, change = own_files(lab)
    with Agent(lab, change) as agent:
        before = serial(agent)
        copied(lab, folder, (lab.ca.issue("half", "DNS:localhost")[0],
                             lab.server[1]))
        agent.signal(signal.SIGHUP)
        agent.expect("RELOADING=1")
        agent.expect("READY=1")
        assert serial(agent) == before
        lines = [l for l in agent.log().splitlines() if "refused" in l]
        assert len(lines) == 1, lines
        assert "not the key of the certificate" in lines[0], lines
        front = agent.child("front")
        os.kill(front, signal.SIGKILL)
        agent.replaced("front", front)
        wait_until(agent.healthy, "the new front has the old certificate")
        assert serial(agent) == before
        # And then it is mended.
        copied(lab, folder, lab.ca.issue("mended", "DNS:localhost"))
        agent.signal(signal.SIGHUP)
        agent.expect("RELOADING=1")
        agent.expect("READY=1")
        assert serial(agent) != before


def files_are_looked_at_now_and_then(lab):
    folder, change = own_files(lab)
    with Agent(lab, dict(change, check_seconds=1)) as agent:
        before = serial(agent)
        copied(lab, folder, lab.ca.issue("later", "DNS:localhost"))
        wait_until(lambda: serial(agent) != before, "the new one is used")
        # A broken one is said once, not with every look.
        copied(lab, folder, (lab.server[0], lab.ca.key))
        agent.wait_log("refused")
        copied(lab, folder, lab.ca.issue("last", "DNS:localhost"))
        agent.wait_log("weightd: settings", 3)
        assert agent.log().count("refused") == 1, agent.log()


def a_file_that_is_gone_changes_nothing(lab):
    folder, change = own_files(lab)
    with Agent(lab, change) as agent:
        os.remove(os.path.join(folder, "own.crt"))
        agent.signal(signal.SIGHUP)
        agent.expect("RELOADING=1")
        agent.expect("READY=1")
        assert "not reloaded, everything stays as it was" in agent.log()
        assert "own.crt" in agent.log()
        assert agent.healthy()


def roles_and_revocations_are_reloaded(lab):
    gone = lab.ca.issue("gone", "DNS:gone.lab")
    lab.ca.publish()
    with Agent(lab, {"tls": {"crl": lab.ca.crl},
                     "roles": {"work": ["dns:gone.lab", "dns:bench.lab"]}}) \
            as agent:
        def code(pair=gone):
            with secure(agent, pair) as stream:
                return send(stream, question(agent.port)).status
        assert code() == 200
        agent.config["roles"]["work"] = ["dns:bench.lab"]
        agent.write_config()
        agent.signal(signal.SIGHUP)
        agent.expect("RELOADING=1")
        agent.expect("READY=1")
        assert code() == 403
        assert code(lab.worker) == 200
        lab.ca.revoke(gone[0])
        agent.signal(signal.SIGHUP)
        agent.expect("RELOADING=1")
        agent.expect("READY=1")
        try:
            code()
            raise AssertionError("a revoked certificate came in")
        except (ssl.SSLError, ConnectionError):
            pass
        assert agent.healthy()


def what_needs_a_restart_is_said(lab):
    with Agent(lab) as agent:
        port = agent.port
        agent.config["listen"]["port"] = port + 1
        agent.config["log"] = {"format": "json"}
        agent.write_config()
        agent.signal(signal.SIGHUP)
        agent.expect("RELOADING=1")
        agent.expect("READY=1")
        lines = [l for l in agent.log().splitlines() if "restart" in l]
        assert len(lines) == 1 and "listen.port" in lines[0], lines
        assert agent.healthy()
        assert agent.log().splitlines()[-1].startswith("{")


def a_broken_configuration_changes_nothing(lab):
    with Agent(lab) as agent:
        with open(agent.config_path, "w") as file:
            file.write("version: 1\nnonsense: 1\n")
        agent.signal(signal.SIGHUP)
        agent.expect("RELOADING=1")
        agent.expect("READY=1")
        assert "weightd.yaml:2:1: there is no key nonsense" in agent.log()
        assert agent.healthy()


def many_reloads_leave_nothing_behind(lab):
    with Agent(lab) as agent:
        front = agent.child("front")

        def descriptors():
            return [len(os.listdir("/proc/%d/fd" % pid))
                    for pid in (agent.pid, front)]
        before = descriptors()
        for _ in range(50):
            agent.signal(signal.SIGHUP)
            agent.expect("RELOADING=1")
            agent.expect("READY=1")
        # A word to the manager has a socket of its own, which closes.
        wait_until(lambda: all(now <= then for now, then in
                               zip(descriptors(), before)),
                   "%s descriptors, not %s" % (descriptors(), before))
        assert agent.child("front") == front


if __name__ == "__main__":
    run([a_new_certificate_is_used, a_broken_pair_is_refused,
         files_are_looked_at_now_and_then, a_file_that_is_gone_changes_nothing,
         roles_and_revocations_are_reloaded, what_needs_a_restart_is_said,
         a_broken_configuration_changes_nothing,
         many_reloads_leave_nothing_behind])
    sys.exit(0)
