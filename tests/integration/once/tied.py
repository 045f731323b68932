"""A server and a worker that does not descend from it.

Usage: tied.py KIND, with the weights in WD_TEST_MODEL; the command line names
nothing. The server listens and holds no weights; the worker, orphaned on
purpose, maps them. Prints the port, the server's pid and the worker's. Ends
with standard input.

  pipe socket memory   what ties them to each other
  none                 nothing but session, process group and cgroup
  middle               a supervisor between them, by a pipe to each
  stdout               the worker reads the server's standard output
"""

import mmap
import os
import signal
import socket
import sys


def wait():
    signal.alarm(300)
    signal.pause()


def orphan(body):
    """Runs body() in a process whose parent is gone."""
    done_r, done_w = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.close(done_r)
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            body()
            os.write(done_w, b"%d\n" % os.getpid())
            os.close(done_w)
            wait()
        os._exit(0)
    os.close(done_w)
    os.wait()
    pid = int(os.read(done_r, 32))
    os.close(done_r)
    return pid


kept = []


def load():
    with open(os.environ["WD_TEST_MODEL"], "rb") as file:
        kept.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))


def by_pipe():
    reads, writes = os.pipe()

    def worker():
        os.close(writes)
        load()
    pid = orphan(worker)
    os.close(reads)
    return pid


def by_socket():
    ours, theirs = socket.socketpair()
    kept.append(ours)

    def worker():
        ours.close()
        kept.append(theirs)
        load()
    pid = orphan(worker)
    theirs.close()
    return pid


def by_memory():
    fd = os.memfd_create("ring")
    os.ftruncate(fd, 4096)
    kept.append(mmap.mmap(fd, 4096))
    os.close(fd)
    return orphan(load)


def by_middle():
    reads, writes = os.pipe()
    told_r, told_w = os.pipe()

    def supervisor():
        os.close(writes)
        down_r, down_w = os.pipe()
        pid = os.fork()
        if pid == 0:
            for fd in (reads, down_w, told_w, told_r):
                os.close(fd)
            load()
            wait()
        os.close(down_r)
        os.write(told_w, b"%d\n" % pid)
    orphan(supervisor)
    os.close(reads)
    pid = int(os.read(told_r, 32))
    os.close(told_r)
    os.close(told_w)
    return pid


def by_stdout():
    reads, writes = os.pipe()

    def worker():
        os.close(writes)
        load()
    pid = orphan(worker)
    os.close(reads)
    kept.append(os.fdopen(os.dup(1), "w"))
    return pid, writes


kind = sys.argv[1]
writes = None
if kind == "stdout":
    pid, writes = by_stdout()
else:
    pid = {"pipe": by_pipe, "socket": by_socket, "memory": by_memory,
           "middle": by_middle,
           "none": lambda: orphan(load)}[kind]()
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], os.getpid(), pid, flush=True)
if writes is not None:
    os.dup2(writes, 1)
    os.close(writes)
    kept.clear()
sys.stdin.read()
