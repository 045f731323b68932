#!/usr/bin/env python3
"""weightctl attest against the real server, and against every kind of agent
that is none: each failure has its own words."""

import datetime
import json
import os
import socket
import subprocess
import unittest

from agents import (Agent, Authority, Lab, Server, WEIGHTCTL, changed,
                    fields_of, passes_on, run, says)

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\n"


def date(days):
    moment = datetime.datetime.now(datetime.timezone.utc) + \
        datetime.timedelta(days=days)
    return moment.strftime("%Y%m%d%H%M%SZ")


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab()
        cls.other = Authority(cls.lab.folder, "other-ca")

    @classmethod
    def tearDownClass(cls):
        cls.lab.close()

    def attest(self, target, port, *flags, code=0, **options):
        done = run("attest", target, self.lab, port, *flags, **options)
        self.assertEqual(done.returncode, code, done)
        return done

    def message(self, *arguments, **options):
        return json.loads(self.attest(
            *arguments, "--format", "json", **options).stdout)

    def unreachable(self, word, words, port, *flags, target="127.0.0.1:8081",
                    **options):
        """Line 1, with that word for programs and those for people."""
        answer = self.message(target, port, *flags, code=3, **options)
        verdict = answer["verdict"]
        self.assertEqual(verdict["kind"], "VERDICT_KIND_UNREACHABLE", answer)
        self.assertEqual(verdict["line"], 1)
        self.assertNotIn("attestation", answer)
        self.assertTrue(verdict["reason"].startswith(word), verdict)
        self.assertRegex(verdict["reason"], words)


class Answers(Case):
    def test_exit_codes(self):
        with Server(self.lab) as server:
            at = server.port
            done = self.attest("127.0.0.1:8081", at)
            self.assertTrue(done.stdout.startswith(
                "PROVEN  port 8081 on gpu-3\n"), done)
            self.assertEqual(done.stderr, "")
            done = self.attest("localhost:8081", at, "--params", "7615616512")
            self.assertTrue(done.stdout.startswith("MATCH "), done)
            done = self.attest("localhost:8081", at, "--params", "5", code=1)
            self.assertTrue(done.stdout.startswith("MISMATCH "), done)
            done = self.attest("127.0.0.1:9", at, code=1)
            self.assertTrue(done.stdout.startswith("MISSING "), done)
            # A name alone is not enough.
            done = self.attest("127.0.0.1:8081", at, "--model",
                               "Qwen2.5 7B Instruct", code=4)
            self.assertTrue(done.stdout.startswith("UNVERIFIABLE "), done)
            self.attest("127.0.0.1:8081", at, "--model", "Qwen2.5 7B Instruct",
                        "--allow-name-only")
            # Four megabytes of it.
            self.attest("127.0.0.1:6", at)

    def test_json_holds_the_proof_and_the_nonce(self):
        with Server(self.lab) as server:
            one = self.message("127.0.0.1:8081", server.port)
            two = self.message("127.0.0.1:8081", server.port)
            self.assertEqual(len(one["nonce"]), 24)
            self.assertNotEqual(one["nonce"], two["nonce"])
            self.assertEqual(one["attestation"]["question"]["port"], 8081)
            named = self.message("127.0.0.1:8081", server.port, "--nonce",
                                 "616263")
            self.assertEqual(named["nonce"], "YWJj")

    def test_output_is_written_whole_or_not_at_all(self):
        with Server(self.lab) as server:
            folder = os.path.join(self.lab.folder, "out")
            os.mkdir(folder)
            path = os.path.join(folder, "proof.json")
            self.attest("127.0.0.1:8081", server.port, "--output", path)
            with open(path) as file:
                proof = json.load(file)
            self.assertEqual(proof["verdict"]["kind"], "VERDICT_KIND_MATCH")
            # What disagrees is a proof too.
            self.attest("127.0.0.1:8081", server.port, "--params", "5",
                        "--output", path, code=1)
            with open(path) as file:
                proof = json.load(file)
            self.assertEqual(proof["verdict"]["kind"], "VERDICT_KIND_MISMATCH")
            done = self.attest("127.0.0.1:2", server.port, "--output", path,
                               code=3)
            self.assertIn("no answer to write", done.stderr)
            with open(path) as file:
                self.assertEqual(json.load(file), proof)
            self.assertEqual(os.listdir(folder), ["proof.json"])
            self.assertIn("cannot open the folder", self.attest(
                "127.0.0.1:8081", server.port, "--output",
                os.path.join(folder, "none/x"), code=2).stderr)

    def test_the_question_arrives(self):
        seen = []
        with Server(self.lab) as server:
            def change(body):
                seen.append({n: content for n, _, content in fields_of(body)})
                return body
            with Agent(passes_on(server, self.lab, change),
                       self.lab.server) as agent:
                self.message("127.0.0.1:8081", agent.port, "--address",
                             "127.0.0.1", "--netns", "all")
                self.assertIn(b"127.0.0.1", seen[0][1])
                for flag, wish in (("--wait", 3), ("--headers-only", 1),
                                   ("--fresh", 4)):
                    self.attest("127.0.0.1:8081", agent.port, flag)
                    self.assertEqual(ord_of_last(seen[-1]), wish, flag)

    def test_the_connection_itself_is_proven(self):
        """The caller's end is named, and stays open until the answer."""
        service = socket.create_server(("127.0.0.1", 0))
        port = service.getsockname()[1]
        ends = []

        def during():
            stream = service.accept()[0]
            ends.append(stream.getpeername())
            stream.setblocking(False)
            with self.assertRaises(BlockingIOError):
                stream.recv(1)
            stream.close()

        with Server(self.lab) as server, service, Agent(
                passes_on(server, self.lab, during=during),
                self.lab.server) as agent:
            answer = self.message("127.0.0.1:%d" % port, agent.port,
                                  "--connect")
            own = answer["attestation"]["question"]["connection"]
            self.assertEqual([(own["address"], own["port"])], ends)
            self.assertIsNone(agent.failed)
        with Server(self.lab) as server:
            self.unreachable("refused", "127.0.0.1:%d: address" % port,
                             server.port, "--connect",
                             target="127.0.0.1:%d" % port)
            self.assertEqual(server.number("asked"), 0)

    def test_files_come_from_the_environment(self):
        folder = os.path.join(self.lab.folder, "config", "weightd")
        os.makedirs(folder)
        for name, source in (("ca.crt", self.lab.ca.certificate),
                             ("client.crt", self.lab.worker[0]),
                             ("client.key", self.lab.worker[1])):
            os.symlink(source, os.path.join(folder, name))
        bare = {"PATH": os.environ["PATH"], "HOME": self.lab.folder}
        named = dict(bare, WEIGHTCTL_CA=self.lab.ca.certificate,
                     WEIGHTCTL_CERT=self.lab.worker[0],
                     WEIGHTCTL_KEY=self.lab.worker[1])
        found = dict(bare, XDG_CONFIG_HOME=os.path.dirname(folder))
        for key in os.environ:
            if "ASAN" in key or "UBSAN" in key or "LSAN" in key:
                bare[key] = named[key] = found[key] = os.environ[key]
        with Server(self.lab) as server:
            for env, code in ((named, 0), (found, 0), (bare, 2)):
                done = subprocess.run(
                    [WEIGHTCTL, "attest", "127.0.0.1:8081", "--agent-port",
                     str(server.port)], env=env, capture_output=True,
                    text=True, timeout=60)
                self.assertEqual(done.returncode, code, done)
            self.assertIn("say where it is with --ca or WEIGHTCTL_CA",
                          done.stderr)

    def test_usage(self):
        for flags in (["127.0.0.1"], [], ["127.0.0.1:0"],
                      ["127.0.0.1:1", "127.0.0.1:2"],
                      ["127.0.0.1:1", "--params"],
                      ["127.0.0.1:1", "--params", ""],
                      ["127.0.0.1:1", "--model", ""],
                      ["127.0.0.1:1", "--min-grade", "CLAIMED"],
                      ["127.0.0.1:1", "--nonce", "6"],
                      ["127.0.0.1:1", "--nonce", "xx"],
                      ["127.0.0.1:1", "--nonce", "61" * 65],
                      ["127.0.0.1:1", "--wait", "--fresh"],
                      ["127.0.0.1:1", "--format", "yaml"],
                      ["127.0.0.1:1", "--netns", "0"],
                      ["127.0.0.1:1", "--timeout", "0"],
                      ["127.0.0.1:1", "--colour"]):
            done = self.attest(flags, 1, code=2)
            self.assertIn("usage: weightctl attest", done.stderr)
            self.assertEqual(done.stdout, "")


def ord_of_last(seen):
    """The number in field 4, which is no string."""
    return seen[4][-1] if seen[4] else 0


class Distrust(Case):
    """Answers to something else, and verdicts that do not follow."""

    def lie(self, change, words, *flags):
        with Server(self.lab) as server, Agent(
                passes_on(server, self.lab, change), self.lab.server) as agent:
            self.unreachable("the answer is not trusted: ", words, agent.port,
                             *flags)

    def test_another_nonce(self):
        self.lie(lambda body: changed(body, 3, b"x"), "the nonce is not")
        self.lie(lambda body: changed(body, 3, None), "the nonce is not")

    def test_another_port(self):
        self.lie(lambda body: changed(body, 1, b"\x08\x92\x3f"),
                 "another question than the one about port 8081")

    def test_another_verdict(self):
        # Asked without the expectation, it says what holds without one.
        self.lie(lambda body: changed(body, 2, None),
                 "the agent says MATCH .* gives MISMATCH", "--params", "5")
        self.lie(lambda body: changed(body, 2, b"\x10\x05"),
                 "the agent says MISMATCH .* gives MATCH")

    def test_two_boots(self):
        with Server(self.lab) as server:
            self.unreachable("the answer is not trusted: ", "one boot",
                             server.port, target="127.0.0.1:7")


class Failures(Case):
    def test_names(self):
        self.unreachable("name_", "cannot be looked up: .*; ", 1,
                         target="nowhere.invalid:8081")

    def test_refused(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.unreachable("refused", "Connection refused; nothing listens", port)

    def test_own_certificate(self):
        """F10 from the other side: under TLS 1.3 it shows at the first
        read."""
        server_only = self.lab.ca.issue("host", "DNS:host.lab", "serverAuth")
        gone = self.lab.ca.issue("gone", "DNS:bench.lab")
        old = self.lab.ca.issue("old", start=date(-9), end=date(-1))
        self.lab.ca.revoke(gone[0])
        with Server(self.lab, crl=self.lab.ca.crl) as server:
            for pair, words in ((self.other.issue("x", "DNS:bench.lab"),
                                 "of a CA that it does not know"),
                                (server_only, "not made for clients"),
                                (gone, "revoked")):
                self.unreachable("own_certificate_refused", words, server.port,
                                 pair=pair)
            self.assertRegex(
                self.attest("127.0.0.1:8081", server.port, pair=old,
                            code=2).stderr, "expired on 20.*; the clock says")
            self.assertIn("not the key of the certificate", self.attest(
                "127.0.0.1:8081", server.port, code=2,
                pair=(self.lab.worker[0], old[1])).stderr)
            self.assertEqual(server.number("asked"), 0)

    def certificate(self, word, words, pair, target="127.0.0.1:8081",
                    **options):
        with Agent(says(OK), pair) as agent:
            self.unreachable(word, words, agent.port, target=target, **options)

    def test_certificates_of_agents(self):
        """F3, F4, F11."""
        ca = self.lab.ca
        old = ca.issue("aold", "IP:127.0.0.1", start=date(-9), end=date(-1))
        young = ca.issue("ayoung", "IP:127.0.0.1", start=date(3), end=date(9))
        self.certificate("certificate_expired",
                         r"expired on 20\d\d-.*; the clock says 20", old)
        self.certificate(
            "certificate_not_yet_valid",
            r"not valid before 20.*; the clock says 20.*, 2 days earlier",
            young)
        self.certificate("certificate_wrong_name", "mismatch",
                         ca.issue("b", "DNS:b.lab"))
        self.certificate("certificate_wrong_name", "mismatch",
                         ca.issue("b2", "DNS:b.lab,IP:127.0.0.9"))
        self.certificate("certificate_wrong_name", "mismatch",
                         ca.issue("b3", "IP:127.0.0.1"),
                         target="localhost:8081")
        # The common name is no name.
        self.certificate("certificate_wrong_name", "mismatch",
                         ca.issue("localhost", "DNS:c.lab"),
                         target="localhost:8081")
        self.certificate("certificate_unknown_ca", "is --ca the CA",
                         self.other.issue("o", "IP:127.0.0.1"))
        self.certificate("certificate_refused", "purpose",
                         ca.issue("cl", "IP:127.0.0.1", "clientAuth"))

    def test_what_is_no_agent(self):
        def plain(text):
            return lambda stream: (stream.recv(100), stream.sendall(text))
        with Agent(plain(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as agent:
            self.unreachable("no_tls", "does not speak TLS", agent.port)
        with Agent(plain(b"")) as agent:
            self.unreachable("closed", "during the TLS handshake", agent.port)
        with Agent(lambda stream: None, self.lab.server) as agent:
            self.unreachable("closed", "before it answered", agent.port)

    def test_answers_that_break_the_protocol(self):
        body = b"\x1a\x01x"
        for parts, words in (
                ((b"SSH-2.0-x\r\n",), "no status line"),
                ((b"HTTP/1.1 200 OK\r\n\r\n" + body,), "without a length"),
                ((OK + b"Content-Length: 100\r\n\r\n", body),
                 "ended within the answer"),
                ((OK, b"Content-Le"), "ended within the answer"),
                ((OK + b"Content-Length: 3\r\n\r\n" + body + b"more",),
                 "more than its answer"),
                ((OK + b"Content-Length: 99999999\r\n\r\n",), "too large"),
                ((OK + b"X: " + b"x" * 20000,), "head is too large"),
                ((OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked"
                  b"\r\n\r\n",), "both"),
                ((OK + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n",
                  body), "compressed"),
                ((b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                  b"Content-Length: 3\r\n\r\nabc",), "not application/proto"),
                ((b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n"
                  b"Content-Length: 3\r\n\r\nabc",), "HTTP status 502"),
                ((OK + b"Content-Length: 2\r\n\r\n\x0a\xff",), "attestation"),
                ((OK + b"Content-Length: 6\r\n\r\n" + body * 2,), "nonce"),
        ):
            with Agent(says(*parts), self.lab.server) as agent:
                self.unreachable("protocol", words, agent.port)

    def test_bytes_that_become_much_memory(self):
        # Empty listeners: two bytes that become two hundred.
        body = b"\x2a\x00" * 2000000
        body = field_of_size(1, body)
        with Agent(says(OK + b"Content-Length: %d\r\n\r\n" % len(body), body),
                   self.lab.server) as agent:
            self.unreachable("protocol", "memory", agent.port)

    def test_time_runs_out_in_each_phase(self):
        """F7: a peer that vanished does not hold us."""
        def silent(stream):
            while stream.recv(1000):
                pass
        with Agent(silent) as agent:
            self.unreachable("timeout", "of the TLS handshake", agent.port,
                             "--timeout", "8")
        with Agent(silent, self.lab.server) as agent:
            self.unreachable("timeout", "of waiting for the answer", agent.port,
                             "--timeout", "8")
        # The agent's own end comes before ours.
        with Server(self.lab) as server:
            self.unreachable("agent_failed", "deadline_exceeded", server.port,
                             "--timeout", "8", target="127.0.0.1:1")

    def test_what_agents_refuse(self):
        with Server(self.lab, "work_per_minute=1") as server:
            stranger = self.lab.ca.issue("stranger", "DNS:stranger.lab")
            self.unreachable("not_allowed", "permission_denied", server.port,
                             pair=stranger)
            self.unreachable("not_allowed", "CACHED", server.port, "--wait",
                             pair=self.lab.reader)
            self.attest("127.0.0.1:8081", server.port)
            self.unreachable("rate_limited", r"ask again in \d+ s", server.port)
        with Server(self.lab) as server:
            self.unreachable("agent_failed", "unavailable", server.port,
                             target="127.0.0.1:2")
            self.unreachable("agent_failed", "internal", server.port,
                             target="127.0.0.1:4")

    def test_an_older_agent_is_line_2(self):
        refusal = b'{"code":"unimplemented","message":"no field x\\u001b[2J"}'
        with Agent(says(
                b"HTTP/1.1 501 Not Implemented\r\nContent-Type: "
                b"application/json\r\nContent-Length: %d\r\n\r\n" %
                len(refusal), refusal), self.lab.server) as agent:
            answer = self.message("127.0.0.1:8081", agent.port, code=4)
            self.assertEqual(answer["verdict"]["line"], 2)
            self.assertEqual(answer["verdict"]["kind"],
                             "VERDICT_KIND_UNVERIFIABLE")
            done = self.attest("127.0.0.1:8081", agent.port, code=4)
            self.assertNotIn("\x1b", done.stdout)
            self.assertIn("no field x", done.stdout)


def field_of_size(number, content):
    length, digits = len(content), b""
    while length > 127:
        digits += bytes([length & 127 | 128])
        length >>= 7
    return bytes([number << 3 | 2]) + digits + bytes([length]) + content


if __name__ == "__main__":
    unittest.main()
