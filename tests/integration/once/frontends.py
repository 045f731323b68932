"""Real proxies from Debian in front of servers of weights, and their traffic.

Ports are the kernel's choice: a proxy gets one that was free a moment ago, and
another one when somebody was faster.
"""

import os
import shutil
import socket
import subprocess
import time
import unittest

from harness import OnceTest

SBIN = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def needs_program(name):
    """Skips without the program; where CI must have it, fails."""
    found = shutil.which(name, path=SBIN)
    if found is None and os.environ.get("CI") == "true":
        raise AssertionError(f"{name} is missing; see packaging/deps.sh")
    return unittest.skipUnless(found, f"{name} is not installed")


def wait_until(true, what):
    for _ in range(2000):
        if true():
            return
        time.sleep(0.005)
    raise AssertionError(f"waited in vain: {what}")


def free_port(address="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


def answers(port, address="127.0.0.1"):
    try:
        socket.create_connection((address, port), 1).close()
    except OSError:
        return False
    return True


def connections_to(port):
    """How many established connections have that port at their far end."""
    count = 0
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}") as rows:
            for row in list(rows)[1:]:
                fields = row.split()
                count += fields[3] == "01" and \
                    int(fields[2].rpartition(":")[2], 16) == port
    return count


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def request(port, body="", address="127.0.0.1"):
    """A socket on which one request was sent; nobody reads the reply yet."""
    client = socket.create_connection((address, port))
    client.sendall(
        f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        f"{body}".encode())
    return client


def reply(client):
    with client, client.makefile("rb") as file:
        return file.read().decode()


NGINX = """
daemon off; worker_processes {workers}; pid {folder}/nginx.pid;
error_log {folder}/error.log; {user}
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    proxy_buffering off;
    upstream backend {{ {upstreams} }}
    server {{
        listen {listen};
        location / {{ proxy_pass http://backend; }}
    }}
}}
"""

HAPROXY = """
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
frontend front
    bind {listen}
    default_backend back
backend back
    balance roundrobin
{servers}
"""


class Frontend:
    """A proxy; ends with the test. `pid` is its first process."""

    def __init__(self, test, name, command, configuration):
        self.port = None
        self.name = name
        self.file = test.path(f"{name}-{id(self)}.conf")
        self.configuration = configuration
        for _ in range(8):
            self.write(free_port())
            self.process = subprocess.Popen(
                [shutil.which(command[0], path=SBIN), *command[1:],
                 self.file], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if self.started():
                break
        else:
            raise AssertionError(f"{name}: {self.process.stderr.read()}")
        test.addCleanup(self.stop)
        self.pid = self.process.pid

    def write(self, port):
        self.port = port
        with open(self.file, "w") as file:
            file.write(self.configuration(port))

    def started(self):
        """It listens on the port, rather than anybody else."""
        wait_until(lambda: self.process.poll() is not None or
                   answers(self.port), f"{self.name} starts")
        return self.process.poll() is None

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


class FrontendTest(OnceTest):
    def nginx(self, *upstreams, workers=1, address="127.0.0.1"):
        """Upstreams: ports, or whatever nginx takes behind `server`."""
        folder = self.path(f"nginx{free_port()}")
        os.mkdir(folder)
        servers = " ".join(
            f"server 127.0.0.1:{u};" if isinstance(u, int) else
            f"server {u};" for u in upstreams)
        user = "user root;" if os.geteuid() == 0 else ""
        frontend = Frontend(
            self, "nginx", ["nginx", "-e", f"{folder}/error.log", "-c"],
            lambda port: NGINX.format(
                workers=workers, folder=folder, upstreams=servers,
                user=user, listen=f"{address}:{port}"))
        wait_until(lambda: len(children(frontend.pid)) >= workers,
                   "nginx starts its workers")
        return frontend

    def haproxy(self, *upstreams):
        servers = "\n".join(
            f"    server s{i} " + (f"127.0.0.1:{u}" if isinstance(u, int)
                                   else u)
            for i, u in enumerate(upstreams))
        return Frontend(
            self, "haproxy", ["haproxy", "-db", "-f"],
            lambda port: HAPROXY.format(servers=servers,
                                        listen=f"127.0.0.1:{port}"))

    def hold(self, frontend, *workers, times=1):
        """Requests through the frontend that the workers keep waiting."""
        for worker in workers:
            worker.do("hold")
        before = sum(connections_to(worker.port) for worker in workers)
        clients = [request(frontend.port)
                   for _ in range(times * len(workers))]
        for client in clients:
            self.addCleanup(client.close)
        wait_until(
            lambda: sum(connections_to(worker.port) for worker in workers) >=
            before + len(clients), "the requests reach the workers")
        return clients
