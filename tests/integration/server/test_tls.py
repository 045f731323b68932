#!/usr/bin/env python3
"""Certificates: who comes in, what is loaded, reload and drain."""

import datetime
import http.client
import os
import re
import ssl
import subprocess
import sys
import time

from lab import (Authority, PROGRAM, QUESTION, SERVICE, Server, call, context,
                 dial, request, run, secure, send)


def date(days):
    moment = datetime.datetime.now(datetime.timezone.utc) + \
        datetime.timedelta(days=days)
    return moment.strftime("%Y%m%d%H%M%SZ")


def is_refused(server, pair, **options):
    """The client of TLS 1.3 learns it only when it reads."""
    try:
        made = context(server.lab, pair)
        for name, value in options.items():
            setattr(made, name, value)
        with made.wrap_socket(dial(server.port),
                              server_hostname="localhost") as stream:
            stream.sendall(request("GET", "/healthz"))
            return b"HTTP" not in stream.recv(100)
    except (ssl.SSLError, ConnectionError):
        return True


def metric(server, name):
    with secure(server) as stream:
        page = send(stream, request("GET", "/metrics")).body.decode()
    return int(re.search(r'^%s (\d+)$' % re.escape(name), page, re.M).group(1))


def only_our_clients_come_in(lab):
    """F10: none, self-signed, another CA, made for servers only."""
    other = Authority(lab.folder, "other-ca")
    cases = [
        (None, "no_certificate"),
        ((other.certificate, other.key), "unknown_ca"),
        (other.issue("bench", "DNS:bench.lab"), "unknown_ca"),
        (lab.ca.issue("server-only", "DNS:bench.lab", "serverAuth"),
         "wrong_purpose"),
        (lab.ca.issue("old", "DNS:bench.lab", start=date(-9), end=date(-1)),
         "expired"),
        (lab.ca.issue("young", "DNS:bench.lab", start=date(1), end=date(9)),
         "not_yet_valid"),
    ]
    with Server(lab) as server:
        counts = {}
        for pair, why in cases:
            assert is_refused(server, pair), why
            counts[why] = counts.get(why, 0) + 1
        for why, count in counts.items():
            assert metric(server, 'weightd_handshakes_total{result="%s"}'
                          % why) == count, why
        assert server.number("asked") == 0
        assert is_refused(server, lab.worker,
                          maximum_version=ssl.TLSVersion.TLSv1_2)
        assert not is_refused(server, lab.worker)


def revoked_clients_stay_out(lab):
    gone = lab.ca.issue("gone", "DNS:gone.lab")
    lab.ca.publish()
    with Server(lab, "rule=dns:gone.lab=1", crl=lab.ca.crl) as server:
        assert not is_refused(server, gone)
        lab.ca.revoke(gone[0])
        paths = lab.server + (lab.ca.certificate, lab.ca.crl)
        with secure(server, gone) as old:
            assert server.tell("reload " + " ".join(paths)) == "ok"
            assert is_refused(server, gone)
            # A connection that was opened before goes on.
            assert call(old, "GetHost", {}).status == 200
        assert not is_refused(server, lab.worker)


def resume(server, made, session):
    """Whether the session is taken up again, and the ticket for the next."""
    with made.wrap_socket(dial(server.port), session=session,
                          server_hostname="localhost") as stream:
        assert call(stream, "GetHost", {}).status == 200
        return stream.session_reused, stream.session


def tickets_end_with_what_they_were_given_under(lab):
    with Server(lab) as server:
        made = context(lab, lab.worker)
        reused, session = resume(server, made, None)
        assert not reused and session.has_ticket
        assert session.ticket_lifetime_hint <= 3600, session
        reused, session = resume(server, made, session)
        assert reused, "a ticket was not taken"
        # Roles are those of the certificate, also in a session taken up.
        with made.wrap_socket(dial(server.port), session=session,
                              server_hostname="localhost") as stream:
            assert call(stream, "AttestPort", QUESTION).status == 200
            assert stream.session_reused
            session = stream.session
        # The same files: even so a reload is a new configuration.
        assert server.tell("reload %s %s %s -" % (
            *lab.server, lab.ca.certificate)) == "ok"
        reused, session = resume(server, made, session)
        assert not reused, "a ticket outlived the reload"
        # A client who is revoked meanwhile comes in with no ticket either.
        leaver = lab.ca.issue("leaver", "DNS:monitor.lab")
        made = context(lab, leaver)
        session = resume(server, made, None)[1]
        assert resume(server, made, session)[0]
        lab.ca.revoke(leaver[0])
        assert server.tell("reload %s %s %s %s" % (
            *lab.server, lab.ca.certificate, lab.ca.crl)) == "ok"
        try:
            resume(server, made, session)
            assert False, "a revoked client came in with a ticket"
        except (ssl.SSLError, ConnectionError, http.client.HTTPException):
            pass


def a_ticket_ends_with_its_certificate(lab):
    brief = lab.ca.issue("brief", "DNS:monitor.lab", start=date(-1),
                         end=time.strftime("%Y%m%d%H%M%SZ",
                                           time.gmtime(time.time() + 6)))
    with Server(lab) as server:
        made = context(lab, brief)
        session = resume(server, made, None)[1]
        reused, session = resume(server, made, session)
        assert reused
        while not is_refused(server, brief):
            time.sleep(0.2)
        try:
            resume(server, made, session)
            assert False, "a ticket outlived the certificate"
        except (ssl.SSLError, ConnectionError, http.client.HTTPException):
            pass


def start_fails(lab, *paths):
    done = subprocess.run([PROGRAM, *paths], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    assert done.returncode == 1, done
    return done.stderr


def broken_material_is_told_apart(lab):
    ca, other = lab.ca.certificate, lab.ca.issue("second")
    own, key = lab.server
    old = lab.ca.issue("ended", start=date(-9), end=date(-2))
    young = lab.ca.issue("begins", start=date(3), end=date(9))
    empty = os.path.join(lab.folder, "empty")
    open(empty, "w").close()
    assert "not the key of the certificate" in start_fails(
        lab, own, other[1], ca, "-")
    assert re.search(r"expired on 20\d\d-\d\d-\d\dT[0-9:]+Z; the clock says "
                     r"20\d\d-", start_fails(lab, *old, ca, "-"))
    assert re.search(r"not valid before 20.*; the clock says 20.*, 2 days "
                     r"earlier", start_fails(lab, *young, ca, "-"))
    assert "no certificate in PEM" in start_fails(lab, empty, key, ca, "-")
    assert "no private key" in start_fails(lab, own, empty, ca, "-")
    assert "no CA certificate" in start_fails(lab, own, key, empty, "-")
    assert "no revocation list" in start_fails(lab, own, key, ca, own)


def reload_replaces_the_pair(lab):
    """F1: new connections get the new one, a broken one changes nothing."""
    fresh = lab.ca.issue("server2", "DNS:localhost")

    def shown(server):
        with secure(server) as stream:
            return dict(x[0] for x in stream.getpeercert()["subject"])[
                "commonName"]

    with Server(lab) as server, secure(server) as old:
        assert shown(server) == "server"
        rest = " %s -" % lab.ca.certificate
        wrong = server.tell("reload %s %s" % (fresh[0], lab.server[1]) + rest)
        assert "not the key" in wrong, wrong
        assert shown(server) == "server"
        for _ in range(20):
            assert server.tell("reload " + " ".join(fresh) + rest) == "ok"
        assert shown(server) == "server2"
        assert call(old, "AttestPort", QUESTION).status == 200


def drain_lets_calls_end(lab):
    server = Server(lab)
    idle = secure(server)
    assert call(idle, "GetHost", {}).status == 200
    busy = secure(server)
    busy.sendall(request("POST", SERVICE + "AttestPort",
                         b'{"question":{"port":1}}',
                         [("Content-Type", "application/json")]))
    server.wait_for("pending", 1)
    server.process.stdin.write("drain 60000\n")
    assert server.tell("release") == "1"
    answer = send(busy, b"")
    assert answer.status == 200 and answer.headers["Connection"] == "close"
    assert idle.recv(100) == b""
    busy.close()
    assert server.process.stdout.readline() == "drained\n"
    server.close()


def drain_cuts_what_does_not_end(lab):
    server = Server(lab)
    busy = secure(server)
    busy.sendall(request("POST", SERVICE + "AttestPort",
                         b'{"question":{"port":1}}',
                         [("Content-Type", "application/json")]))
    server.wait_for("pending", 1)
    assert server.tell("drain 100") == "drained"
    server.close()


if __name__ == "__main__":
    run([only_our_clients_come_in, revoked_clients_stay_out,
         tickets_end_with_what_they_were_given_under,
         a_ticket_ends_with_its_certificate, broken_material_is_told_apart,
         reload_replaces_the_pair, drain_lets_calls_end,
         drain_cuts_what_does_not_end])
    sys.exit(0)
