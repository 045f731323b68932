#!/usr/bin/env python3
"""What happens when one of the processes dies, hangs or is told to end."""

import os
import signal
import socket
import ssl
import sys

from agent import Agent, question, request, run, secure, send, wait_until

GET = request("GET", "/healthz")


def a_front_that_is_killed_is_replaced(lab):
    with Agent(lab) as agent:
        reader = agent.child("reader")
        for _ in range(3):
            front = agent.child("front")
            stream = secure(agent)
            assert send(stream, GET).status == 200
            os.kill(front, signal.SIGKILL)
            agent.replaced("front", front)
            try:
                assert stream.recv(1) == b""
            except (ConnectionError, ssl.SSLError):
                pass
            stream.close()
            wait_until(agent.healthy, "a new front answers")
        assert agent.child("reader") == reader
        agent.wait_log(r"front \(process \d+\) was ended by signal 9 \(Killed\)"
                       r"; a new one", 3)


def a_front_that_is_killed_under_load_is_replaced(lab):
    """No client waits for ever: each gets an answer or the end."""
    with Agent(lab) as agent:
        front = agent.child("front")
        streams = [secure(agent) for _ in range(16)]
        for stream in streams:
            stream.sendall(question(agent.port))
        os.kill(front, signal.SIGKILL)
        for stream in streams:
            try:
                while stream.recv(65536):
                    pass
            except (ConnectionError, ssl.SSLError):
                pass
            stream.close()
        agent.replaced("front", front)
        wait_until(agent.healthy, "a new front answers")


def a_reader_that_is_killed_is_replaced(lab):
    with Agent(lab) as agent:
        front = agent.child("front")
        for _ in range(3):
            reader = agent.child("reader")
            os.kill(reader, signal.SIGKILL)
            agent.replaced("reader", reader)
        assert agent.healthy()
        assert agent.child("front") == front
        agent.wait_log(r"reader \(process \d+\) was ended by signal 9", 3)


def a_front_that_hangs_is_replaced(lab):
    with Agent(lab, {"check_seconds": 1}) as agent:
        front = agent.child("front")
        os.kill(front, signal.SIGSTOP)
        agent.replaced("front", front)
        wait_until(agent.healthy, "a new front answers")
        agent.wait_log(r"front \(process %d\) was ended: it does not answer"
                       % front)


def pauses_grow_and_it_goes_on(lab):
    """A front that dies at once again and again is no spin."""
    with Agent(lab) as agent:
        for count in range(1, 5):
            front = agent.child("front")
            os.kill(front, signal.SIGKILL)
            agent.replaced("front", front)
        agent.wait_log("starts now", 1)
        agent.wait_log("starts after a pause", 3)
        wait_until(agent.healthy, "a new front answers")


def children_end_with_the_observer(lab):
    with Agent(lab) as agent:
        pids = [agent.child("front"), agent.child("reader")]
        agent.signal(signal.SIGKILL)
        agent.wait_end()
        for pid in pids:
            wait_until(lambda pid=pid: not alive(pid), "%d is gone" % pid)


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def a_term_lets_requests_end(lab):
    with Agent(lab) as agent:
        busy, idle = secure(agent), secure(agent)
        assert send(busy, GET).status == 200
        assert send(idle, GET).status == 200
        whole = question(agent.port)
        busy.sendall(whole[:-1])
        # The first half is there when another question was answered.
        assert agent.healthy()
        agent.signal(signal.SIGTERM)
        agent.expect("STOPPING=1")
        try:
            assert idle.recv(1) == b""
        except (ConnectionError, ssl.SSLError):
            pass
        answer = send(busy, whole[-1:])
        assert answer.status == 200, answer.body
        assert answer.headers["Connection"] == "close"
        busy.close()
        assert agent.wait_end() == 0
        try:
            socket.create_connection(("127.0.0.1", agent.port)).close()
            raise AssertionError("somebody still listens")
        except ConnectionError:
            pass


def the_grace_of_a_drain_ends(lab):
    with Agent(lab, {"limits": {"drain_seconds": 1}}) as agent:
        busy = secure(agent)
        busy.sendall(GET[:-2])
        assert agent.healthy()
        agent.signal(signal.SIGTERM)
        assert agent.wait_end() == 0
        busy.close()


def a_second_term_ends_at_once(lab):
    with Agent(lab, {"limits": {"drain_seconds": 3600,
                                "request_seconds": 300}}) as agent:
        busy = secure(agent)
        busy.sendall(GET[:-2])
        assert agent.healthy()
        agent.signal(signal.SIGTERM)
        agent.expect("STOPPING=1")
        agent.signal(signal.SIGTERM)
        assert agent.wait_end() == 0
        busy.close()


def signals_to_the_group_are_the_observers(lab):
    """Ctrl-C reaches every process of the group."""
    with Agent(lab) as agent:
        for name in ("front", "reader"):
            os.kill(agent.child(name), signal.SIGINT)
            os.kill(agent.child(name), signal.SIGTERM)
        assert agent.healthy()
        agent.signal(signal.SIGINT)
        assert agent.wait_end() == 0
        assert "was ended" not in agent.log()


def it_stays_flat(lab):
    """Descriptors of the observer after many fronts and readers."""
    with Agent(lab, {"look_threads": 1}) as agent:
        def look():
            wait_until(agent.healthy, "it answers")
            with secure(agent) as stream:
                assert send(stream, question(agent.port)).status == 200

        def descriptors():
            return len(os.listdir("/proc/%d/fd" % agent.pid))
        look()
        before = descriptors()
        for name in ("front", "reader") * 3:
            old = agent.child(name)
            os.kill(old, signal.SIGKILL)
            agent.replaced(name, old)
        look()
        wait_until(lambda: descriptors() <= before, "%d descriptors, not %d"
                   % (descriptors(), before))


if __name__ == "__main__":
    run([a_front_that_is_killed_is_replaced,
         a_front_that_is_killed_under_load_is_replaced,
         a_reader_that_is_killed_is_replaced, a_front_that_hangs_is_replaced,
         pauses_grow_and_it_goes_on, children_end_with_the_observer,
         a_term_lets_requests_end, the_grace_of_a_drain_ends,
         a_second_term_ends_at_once, signals_to_the_group_are_the_observers,
         it_stays_flat])
    sys.exit(0)
