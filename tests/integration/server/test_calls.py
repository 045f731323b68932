#!/usr/bin/env python3
"""The calls over real mutual TLS: answers, errors, roles, rates, pages."""

import json
import re
import subprocess
import sys

from lab import (QUESTION, SERVICE, Server, call, request, run, secure, send)


def an_attestation_is_judged(lab):
    with Server(lab) as server, secure(server) as stream:
        answer = call(stream, "AttestPort", dict(QUESTION, nonce="YWJj"))
        assert answer.status == 200, answer.body
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.json()["nonce"] == "YWJj"
        assert answer.json()["verdict"]["kind"] == "VERDICT_KIND_MATCH"
        assert answer.json()["attestation"]["listeners"], "no listener"
        # The same connection goes on; an expectation that does not hold.
        answer = call(stream, "AttestPort", dict(
            QUESTION, expectation={"parameterCount": "5"}))
        assert answer.json()["verdict"]["kind"] == "VERDICT_KIND_MISMATCH"
        assert "nonce" not in answer.json()


def requested_and_resolved_stand_side_by_side(lab):
    with Server(lab) as server, secure(server) as stream:
        call(stream, "AttestPort", dict(
            QUESTION, expectation={"model": "80b\x1b[2J", "parameterCount": "5"}))
        line = [l for l in server.log().split("\n") if "attest" in l][-1]
        assert 'client=dns:bench.lab' in line, line
        assert 'requested="80b\\x1b[2J"' in line, line
        assert 'resolved="Qwen2.5 7B Instruct"' in line, line
        assert "match=no" in line and "port=8081" in line, line
        call(stream, "AttestPort", dict(
            QUESTION, expectation={"parameterCount": "7615616512"}))
        assert "match=yes" in server.log().split("\n")[-2]
        call(stream, "AttestPort", QUESTION)
        assert "match=none" in server.log().split("\n")[-2]


def protobuf_is_spoken(lab):
    with Server(lab) as server, secure(server) as stream:
        answer = send(stream, request(
            "POST", SERVICE + "AttestPort", b"\x0a\x03\x08\x91\x3f\x1a\x01x",
            [("Content-Type", "application/proto"),
             ("Connect-Protocol-Version", "1")]))
        assert answer.status == 200, answer.body
        assert answer.headers["Content-Type"] == "application/proto"
        # The nonce is field 3, behind attestation and verdict.
        assert answer.body.endswith(b"\x1a\x01x")


def the_other_calls_answer(lab):
    with Server(lab) as server, secure(server) as stream:
        assert call(stream, "GetHost", {}).json()["host"]["hostname"] == "lab"
        assert call(stream, "ListServers", {}).status == 200
        path = {"path": "L20vcS5nZ3Vm"}
        assert call(stream, "DescribeBundle", path).status == 200
        for wrong in ({}, {"path": "bS5nZ3Vm"}, {"path": "L20AcQ=="}):
            assert call(stream, "DescribeBundle", wrong).code == \
                "invalid_argument"


WRONG = [
    ({}, "invalid_argument"),
    ({"question": {"port": 0}}, "invalid_argument"),
    ({"question": {"port": 65536}}, "invalid_argument"),
    (dict(QUESTION, nonce="YWJj" * 22), "invalid_argument"),
    (dict(QUESTION, expectation={}), "invalid_argument"),
    (dict(QUESTION, expectation={"modell": "x"}), "unimplemented"),
    (dict(QUESTION, expectation={"minimumGrade": "GRADE_SURE"}),
     "unimplemented"),
    (dict(QUESTION, expectation={"minimumGrade": "GRADE_CLAIMED"}),
     "invalid_argument"),
    (b"{", "invalid_argument"),
    (b'{"question":{"port":1},"question":{"port":2}}', "invalid_argument"),
    (b"[" * 5000, "resource_exhausted"),
    (b'{"expectation":{"settings":[' + b"{}," * 20000 + b"{}]}}",
     "resource_exhausted"),
]


def wrong_questions_are_refused(lab):
    with Server(lab, "work_per_minute=0") as server, secure(server) as stream:
        for message, code in WRONG:
            answer = call(stream, "AttestPort", message)
            assert answer.code == code, (message, answer.body)
        assert server.number("asked") == 0


def failures_of_the_observer_have_codes(lab):
    with Server(lab) as server, secure(server) as stream:
        for port, code, status in ((2, "unavailable", 503),
                                   (3, "resource_exhausted", 429),
                                   (4, "internal", 500)):
            answer = call(stream, "AttestPort", {"question": {"port": port}})
            assert (answer.code, answer.status) == (code, status), answer.body


def time_runs_out(lab):
    with Server(lab) as server, secure(server) as stream:
        hang = {"question": {"port": 1}}
        for ms in ("200", "0"):
            answer = call(stream, "AttestPort", hang,
                          [("Connect-Timeout-Ms", ms)])
            assert (answer.code, answer.status) == ("deadline_exceeded", 504)
        server.wait_for("pending", 0)
        assert call(stream, "AttestPort", QUESTION).status == 200


def headers_are_held_to_the_protocol(lab):
    with Server(lab) as server, secure(server) as stream:
        for headers, status in (
                ([("Connect-Timeout-Ms", "1s")], 400),
                ([("Connect-Protocol-Version", "2")], 400),
                ([("Content-Encoding", "gzip")], 501)):
            assert call(stream, "GetHost", {}, headers).status == status
        answer = send(stream, request("POST", SERVICE + "GetHost", b"{}",
                                      [("Content-Type", "text/plain")]))
        assert answer.status == 415
        assert "application/proto" in answer.headers["Accept-Post"]
        answer = send(stream, request("GET", SERVICE + "GetHost"))
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")
        assert call(stream, "Nothing", {}).status == 404
        assert call(stream, "GetHost", {}, path="/").code == "unimplemented"
        assert send(stream, request("PUT", "/metrics")).status == 405


def roles_are_held(lab):
    with Server(lab) as server:
        with secure(server, lab.reader) as stream:
            assert call(stream, "GetHost", {}).status == 200
            assert call(stream, "AttestPort", QUESTION).status == 200
            for wish in ("START", "WAIT", "FRESH"):
                answer = call(stream, "AttestPort", dict(
                    QUESTION, digests="DIGEST_WISH_" + wish))
                assert answer.code == "permission_denied", answer.body
            answer = call(stream, "DescribeBundle", {
                "path": "L20=", "digests": "DIGEST_WISH_WAIT"})
            assert answer.code == "permission_denied", answer.body
            assert send(stream, request("GET", "/metrics")).status == 200
        stranger = lab.ca.issue("stranger", "DNS:bench.lab.evil")
        with secure(server, stranger) as stream:
            assert call(stream, "GetHost", {}).code == "permission_denied"
            assert send(stream, request("GET", "/healthz")).status == 403
            assert send(stream, request("GET", "/metrics")).status == 403


def work_is_rated(lab):
    with Server(lab, "work_per_minute=3") as server:
        with secure(server) as stream:
            for _ in range(3):
                assert call(stream, "AttestPort", QUESTION).status == 200
            answer = call(stream, "AttestPort", QUESTION)
            assert answer.code == "resource_exhausted", answer.body
            assert 1 <= int(answer.headers["Retry-After"]) <= 60
            assert call(stream, "GetHost", {}).status == 200
        # By name, not by connection; another name has its own.
        with secure(server) as stream:
            assert call(stream, "AttestPort", QUESTION).status == 429
        with secure(server, lab.reader) as stream:
            assert call(stream, "AttestPort", QUESTION).status == 200
        assert server.number("asked") == 5


def check_metrics(text):
    """What promtool lints for, as far as our page could break it."""
    families, types = {}, {}
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("# HELP "):
            families[line.split()[2]] = " ".join(line.split()[3:])
        elif line.startswith("# TYPE "):
            types[line.split()[2]] = line.split()[3]
        else:
            match = re.fullmatch(r"([a-z_]+)(\{[^}]*\})? ([0-9.e+-]+)", line)
            assert match, line
            name = match.group(1)
            base = re.sub("_(bucket|sum|count)$", "", name)
            assert name in types or types.get(base) == "histogram", line
    for name, kind in types.items():
        assert families[name].endswith("."), name
        assert (kind == "counter") == name.endswith("_total"), name
        assert kind in ("counter", "gauge", "histogram"), name
    return text


def pages_are_there(lab):
    with Server(lab) as server, secure(server) as stream:
        assert send(stream, request("GET", "/healthz")).body == b"ok\n"
        server.tell("ready 0")
        assert send(stream, request("GET", "/healthz?x=1")).status == 503
        call(stream, "AttestPort", QUESTION)
        answer = send(stream, request("GET", "/metrics"))
        assert "version=0.0.4" in answer.headers["Content-Type"]
        text = check_metrics(answer.body.decode())
        assert 'weightd_calls_total{method="AttestPort",code="ok"} 1' in text
        assert 'weightd_verdicts_total{verdict="match"} 1' in text
        assert 'weightd_handshakes_total{result="ok"} 1' in text
        assert 'le="+Inf"} 1\n' in text and "weightd_ready 0\n" in text


def plain_curl_works(lab):
    """README: curl --cert me.crt --key me.key --cacert ca.crt ..."""
    with Server(lab) as server:
        done = subprocess.run(
            ["curl", "-sS", "--cert", lab.worker[0], "--key", lab.worker[1],
             "--cacert", lab.ca.certificate, "-H",
             "Content-Type: application/json", "-d", json.dumps(QUESTION),
             "https://localhost:%d%sAttestPort" % (server.port, SERVICE)],
            capture_output=True, check=True)
        assert json.loads(done.stdout)["verdict"]["kind"] == \
            "VERDICT_KIND_MATCH"


if __name__ == "__main__":
    run([an_attestation_is_judged, requested_and_resolved_stand_side_by_side,
         protobuf_is_spoken, the_other_calls_answer,
         wrong_questions_are_refused, failures_of_the_observer_have_codes,
         time_runs_out, headers_are_held_to_the_protocol, roles_are_held,
         work_is_rated, pages_are_there, plain_curl_works])
    sys.exit(0)
