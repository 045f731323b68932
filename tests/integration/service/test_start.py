#!/usr/bin/env python3
"""How the service starts: what the service manager hears, sockets, ports,
users, configuration, the state folder."""

import base64
import json
import os
import socket
import subprocess
import sys
import time

from agent import (Agent, FRONT, PROGRAM, READER, children, free_port,
                   question, run, secure, send)


def it_serves_when_it_is_ready(lab):
    """F15: READY when the socket is bound and the self-test is done."""
    with Agent(lab) as agent:
        assert agent.healthy()
        with secure(agent) as stream:
            # What listens on the agent's own port is seen: the front.
            answer = send(stream, question(agent.port))
            assert answer.status == 200, answer.body
            names = [base64.b64decode(process["comm"]) for process in
                     answer.json()["attestation"]["processes"]]
            assert b"weightd-front" in names, names
        agent.end()
        agent.expect("STOPPING=1")


def the_manager_may_have_an_abstract_name(lab):
    name = "@wd-notify-test-%d" % os.getpid()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + name[1:])
        manager.settimeout(60)
        with Agent(lab, start=False,
                   environment={"NOTIFY_SOCKET": name}) as agent:
            assert manager.recv(100).startswith(b"READY=1")
            assert agent.healthy()


def the_watchdog_hears_front_and_desk(lab):
    with Agent(lab, environment={"WATCHDOG_USEC": "400000"}) as agent:
        agent.expect("WATCHDOG=1")
        agent.expect("WATCHDOG=1")


def status_of(pid):
    with open("/proc/%d/status" % pid) as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file
                    if ":\t" in line)


def confined(pid):
    """Its status once it has given up its rights: a child does so before it
    reads a byte, which may be after the agent was ready."""
    end = time.monotonic() + 60
    while True:
        status = status_of(pid)
        if int(status["CapPrm"], 16) == 0 or time.monotonic() > end:
            return status
        time.sleep(0.02)


KEPT = {1 << bit for bit in (2, 5, 6, 7, 8, 19, 21, 28, 40)}


def every_process_has_only_its_rights(lab):
    with Agent(lab) as agent:
        for name, user in (("front", FRONT), ("reader", READER)):
            pid = agent.child(name)
            status = confined(pid)
            for caps in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                assert int(status[caps], 16) == 0, (name, caps)
            assert status["NoNewPrivs"] == "1"
            if os.geteuid() == 0:
                assert status["Uid"].split() == [str(user)] * 4, status["Uid"]
                assert status["Gid"].split() == [str(user)] * 4
                assert status["Groups"].strip() == ""
                assert int(status["CapBnd"], 16) == 0
            assert status["Name"] == "weightd-" + name
            # The front has no file open, the reader no socket but its line.
            for fd in os.listdir("/proc/%d/fd" % pid):
                target = os.readlink("/proc/%d/fd/%s" % (pid, fd))
                assert int(fd) < 3 or not target.startswith("/"), (fd, target)
                assert name == "front" or int(fd) <= 3, (fd, target)
        own = int(status_of(agent.pid)["CapEff"], 16)
        assert own & ~sum(KEPT) == 0, hex(own)
        assert status_of(agent.pid)["NoNewPrivs"] == "1"


def sockets_of_the_manager_are_taken(lab):
    with socket.socket() as given:
        given.bind(("127.0.0.1", 0))
        given.listen(16)
        port = given.getsockname()[1]
        # A shell puts it where systemd does and says so.
        agent = Agent(
            lab, pass_fds=[given.fileno()], prefix=[
                "/bin/sh", "-c", 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 '
                'exec "$@"' % given.fileno(), "sh"])
    with agent:
        agent.port = port
        assert agent.healthy()
        assert "given by systemd" in agent.log()


def what_is_no_listening_socket_is_refused(lab):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as given:
        with Agent(lab, start=False, pass_fds=[given.fileno()], prefix=[
                "/bin/sh", "-c", 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 '
                'exec "$@"' % given.fileno(), "sh"]) as agent:
            assert agent.wait_end() == 2
            assert "no listening TCP socket" in agent.log()


def sockets_for_another_process_are_not_ours(lab):
    with Agent(lab, environment={"LISTEN_PID": "1", "LISTEN_FDS": "1"}) \
            as agent:
        assert agent.healthy()


def a_port_that_is_taken_names_who_has_it(lab):
    """F16: one line, no endless start."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen(1)
        port = holder.getsockname()[1]
        with Agent(lab, {"listen": {"port": port}}, start=False) as agent:
            assert agent.wait_end() == 1
            lines = agent.log().splitlines()
            assert len(lines) == 1, lines
            assert "port %d is taken by python" % port in lines[0], lines
            assert "(process %d)" % os.getpid() in lines[0], lines


def a_newer_state_is_refused(lab):
    with Agent(lab) as agent:
        agent.end()
        state = agent.config["state_dir"]
    with open(os.path.join(state, "VERSION"), "w") as file:
        file.write("2\n")
    with Agent(lab, {"state_dir": state}, start=False) as agent:
        assert agent.wait_end() == 1
        assert "newer weightd" in agent.log()


def a_broken_certificate_ends_the_start(lab):
    other = lab.ca.issue("other")
    with Agent(lab, {"tls": {"key": other[1]}}, start=False) as agent:
        assert agent.wait_end() == 1
        assert "not the key of the certificate" in agent.log()
        assert children_gone(agent)
        # It was never ready.
        agent.notify.settimeout(0)
        try:
            raise AssertionError(agent.notify.recv(100))
        except BlockingIOError:
            pass


def children_gone(agent):
    return not os.path.exists("/proc/%d" % agent.pid) or \
        not children(agent.pid)


def root_is_no_user(lab):
    if os.geteuid() != 0:
        return
    for users in ({"front": 0}, {"front": READER}, {"front": "same"},
                  {"reader": "nobody-of-that-name"}):
        with Agent(lab, {"users": users}, start=False) as agent:
            assert agent.wait_end() != 0, users
            assert "users." in agent.log(), agent.log()


def logs_are_json_when_asked_for(lab):
    with Agent(lab, {"log": {"format": "json"}}) as agent:
        with secure(agent) as stream:
            send(stream, question(free_port()))
        agent.end()
        lines = [json.loads(line) for line in agent.log().splitlines()]
        assert any(line["event"] == "settings" for line in lines), lines
        assert all("level" in line for line in lines)


def check(path):
    done = subprocess.run([PROGRAM, "--check-config", "--config", path],
                          capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def a_configuration_can_be_checked(lab):
    with Agent(lab) as agent:
        code, out, err = check(agent.config_path)
        assert (code, out, err) == (0, agent.config_path + ": ok\n", "")
        path = os.path.join(agent.folder, "other.yaml")
        for text, words in (
                ("version: 1\nlistn: {}\n",
                 ":2:1: there is no key listn; listen is the nearest"),
                ("version: 1\ntls: [\n", ":3:1"),
                (json.dumps(dict(agent.config, tls=dict(
                    agent.config["tls"], key="/nowhere"))), "/nowhere"),
                (json.dumps(dict(agent.config, tls=dict(
                    agent.config["tls"], key=lab.ca.key))), "not the key")):
            with open(path, "w") as file:
                file.write(text)
            code, out, err = check(path)
            assert code == 2 and out == "", (code, out, err)
            assert words in err and err.count("\n") == 1, err
        os.chmod(path, 0o666)
        assert "can be written by others" in check(path)[2]


def the_roles_are_for_the_agent_alone(lab):
    del lab
    for arguments in (["--role=front", "5", "5", "hide"],
                      ["--role=reader", "-", "-", "hide"],
                      ["--role=other"], ["--role="]):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True,
                              stdin=subprocess.DEVNULL, text=True, timeout=60)
        assert done.returncode == 2, done
        assert "weightd --config FILE" in done.stderr


if __name__ == "__main__":
    run([it_serves_when_it_is_ready, the_manager_may_have_an_abstract_name,
         the_watchdog_hears_front_and_desk, every_process_has_only_its_rights,
         sockets_of_the_manager_are_taken,
         what_is_no_listening_socket_is_refused,
         sockets_for_another_process_are_not_ours,
         a_port_that_is_taken_names_who_has_it, a_newer_state_is_refused,
         a_broken_certificate_ends_the_start, root_is_no_user,
         logs_are_json_when_asked_for, a_configuration_can_be_checked,
         the_roles_are_for_the_agent_alone])
    sys.exit(0)
