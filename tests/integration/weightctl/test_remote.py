#!/usr/bin/env python3
"""weightctl servers and weightctl bundle HOST:PORT against the real server."""

import json
import os
import socket
import subprocess
import threading
import unittest

from agents import (Agent, Lab, Server, changed, passes_on, request, run,
                    secure, send)

MKBUNDLE = os.path.join(os.environ["WD_BUILD"], "tests/support/wd-mkbundle")


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab()
        # Several hosts on one machine: they have one port, as agents do.
        cls.lab.server = cls.lab.ca.issue(
            "hosts", "DNS:localhost,IP:127.0.0.1,IP:127.0.0.2")

    @classmethod
    def tearDownClass(cls):
        cls.lab.close()

    def run_it(self, verb, words, port, *flags, code=0, **options):
        done = run(verb, words, self.lab, port, *flags, **options)
        self.assertEqual(done.returncode, code, done)
        return done


class Servers(Case):
    def test_hosts_stand_in_their_order(self):
        with Server(self.lab) as server:
            done = self.run_it("servers", ["localhost", "127.0.0.1"],
                               server.port)
            lines = done.stdout.split("\n")
            self.assertEqual(lines[0].split(), [
                "HOST", "LISTENER", "GRADE", "MODEL", "PARAMETERS", "NOTES"])
            self.assertEqual([line.split()[0] for line in lines[1:3]],
                             ["localhost", "127.0.0.1"])
            self.assertIn("127.0.0.1:8081  RESIDENT  Qwen2.5 7B Instruct",
                          lines[1])
            self.assertIn("7615616512", lines[1])
            # A model's name does not reach the terminal as it is.
            self.assertNotIn("\x1b", done.stdout)
            self.assertEqual(done.stderr, "")

    def test_one_that_is_not_there_hides_none(self):
        """F7: a silent host ends at its deadline, the others are shown."""
        with Server(self.lab) as server, socket.create_server(
                ("127.0.0.2", server.port)):
            done = self.run_it("servers", ["127.0.0.2", "127.0.0.1",
                                           "127.0.0.3"],
                               server.port, "--timeout", "12", code=3)
            self.assertRegex(done.stdout, r"(?m)^127.0.0.1 +127.0.0.1:8081 ")
            self.assertRegex(done.stdout, r"(?m)^127.0.0.2: UNREACHABLE: "
                                          r"timeout: .*TLS handshake")
            self.assertRegex(done.stdout, r"(?m)^127.0.0.3: UNREACHABLE: "
                                          r"refused: ")
            answer = json.loads(self.run_it(
                "servers", ["127.0.0.3", "127.0.0.1"], server.port, "--format",
                "json", code=3).stdout)["hosts"]
            self.assertEqual([host["host"] for host in answer],
                             ["127.0.0.3", "127.0.0.1"])
            self.assertEqual(answer[0]["fault"]["kind"], "refused")
            self.assertEqual(answer[1]["answer"]["servers"][0]["port"], 8081)

    def test_what_was_not_seen_is_said(self):
        with Server(self.lab) as server:
            done = self.run_it("servers", "127.0.0.1", server.port, "--netns",
                               "1", code=4)
            self.assertIn("NOT ALL WAS SEEN", done.stdout)
            # 4 goes before 3.
            self.run_it("servers", ["127.0.0.3", "127.0.0.1"], server.port,
                        "--netns", "1", code=4)

    def test_all_are_asked_at_once(self):
        """Each waits for the other: one after the other would never end."""
        both = threading.Barrier(2)

        with Server(self.lab) as server:
            speak = passes_on(server, self.lab, during=lambda: both.wait(60))
            with Agent(speak, self.lab.server) as one:
                two = Agent.__new__(Agent)
                two.speak, two.failed, two.tls = speak, None, one.tls
                two.socket = socket.create_server(("127.0.0.2", one.port))
                two.thread = threading.Thread(target=two.run, daemon=True)
                two.thread.start()
                with two:
                    self.run_it("servers", ["127.0.0.1", "127.0.0.2"],
                                one.port)

    def test_a_connection_serves_again(self):
        with Server(self.lab) as server:
            self.run_it("servers", ["127.0.0.1"] * 5, server.port, "--at-once",
                        "1")
            with secure(server) as stream:
                page = send(stream, request("GET", "/metrics")).body.decode()
            # That of the page, and one for all five.
            self.assertRegex(page, r'(?m)^weightd_handshakes_total\{result='
                                   r'"ok"\} 2$')
            self.assertEqual(server.number("asked"), 5)
            # And for nobody else.
            done = self.run_it("servers", ["127.0.0.1", "127.0.0.3"],
                               server.port, "--at-once", "1", code=3)
            self.assertEqual(done.stdout.count("RESIDENT"), 1)

    def test_a_connection_that_was_closed_is_made_anew(self):
        """The agent says that it goes on, and hangs up after each answer."""
        with Server(self.lab) as server, Agent(
                passes_on(server, self.lab), self.lab.server) as agent:
            done = self.run_it("servers", ["127.0.0.1"] * 5, agent.port,
                               "--at-once", "1")
            self.assertEqual(done.stdout.count("RESIDENT"), 5)

    def test_usage(self):
        for words in ([], [""], ["h", "--at-once", "0"], ["h:80"], ["h", "--netns", "x"],
                      ["h", "--params", "5"], ["h", "--format", "xml"],
                      ["h", "--netns"]):
            done = self.run_it("servers", words, 1, code=2)
            self.assertIn("usage: weightctl servers", done.stderr)
            self.assertEqual(done.stdout, "")


class Bundles(Case):
    def test_the_bundle_behind_a_port(self):
        with Server(self.lab) as server:
            done = self.run_it("bundle", "127.0.0.1:8081", server.port)
            self.assertIn("7,615,616,512", done.stdout)
            message = json.loads(self.run_it(
                "bundle", "127.0.0.1:8081", server.port, "--format", "json",
                "--headers-only").stdout)
            self.assertEqual(message["parameterCount"], "7615616512")
            done = self.run_it("bundle", "127.0.0.1:9", server.port, code=1)
            self.assertEqual(done.stdout, "")
            self.assertIn("nothing listens", done.stderr)
            done = self.run_it("bundle", "127.0.0.1:2", server.port, code=3)
            self.assertIn("agent_failed", done.stderr)
            # Who may not cause work is told what may be asked.
            done = self.run_it("bundle", "127.0.0.1:8081", server.port,
                               pair=self.lab.reader, code=3)
            self.assertIn("not_allowed", done.stderr)
            self.run_it("bundle", "127.0.0.1:8081", server.port,
                        "--headers-only", pair=self.lab.reader)

    def test_answers_to_others_are_not_shown(self):
        with Server(self.lab) as server, Agent(
                passes_on(server, self.lab,
                          lambda body: changed(body, 3, b"x")),
                self.lab.server) as agent:
            done = self.run_it("bundle", "127.0.0.1:8081", agent.port, code=3)
            self.assertIn("not trusted", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_file_of_that_name_is_no_host(self):
        with Server(self.lab) as server:
            path = os.path.join(self.lab.folder, "localhost:8081")
            subprocess.run([MKBUNDLE, path], check=True)
            here = os.getcwd()
            os.chdir(self.lab.folder)
            try:
                done = self.run_it("bundle", "localhost:8081", server.port,
                                   code=2)
                self.assertIn("write ./localhost:8081", done.stderr)
                self.run_it("bundle", "./localhost:8081", server.port)
            finally:
                os.chdir(here)
                os.remove(path)

    def test_sides_of_a_diff(self):
        path = os.path.join(self.lab.folder, "m.gguf")
        subprocess.run([MKBUNDLE, path], check=True)
        with Server(self.lab) as server:
            def diff(a, b, *flags, code=0):
                return self.run_it("bundle", ["diff", a, b], server.port,
                                   *flags, code=code)
            done = diff("127.0.0.1:8081", "localhost:8081")
            self.assertRegex(done.stdout, r"a +127.0.0.1:8081:/srv/")
            self.assertRegex(done.stdout, r"b +localhost:8081:/srv/")
            done = diff("127.0.0.1:8081", path, code=1)
            self.assertIn("parameter_count: 7615616512 -> 16384", done.stdout)
            done = diff(path, "127.0.0.1:8081", "--digests", code=1)
            self.assertIn("parameter_count: 16384 -> 7615616512", done.stdout)
            diff(path, "127.0.0.1:9", code=1)
            diff(path, "127.0.0.1:2", code=3)
            self.assertIn("--names needs both", diff(
                path, "127.0.0.1:8081", "--names", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
