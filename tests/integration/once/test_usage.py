"""Bad input gets a clear error and the right exit code."""

import os
import subprocess
import unittest

from harness import WEIGHTD, OnceTest, grade, needs_root, text


class Usage(OnceTest):
    def complaint(self, *arguments):
        done = subprocess.run([WEIGHTD, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr.decode()

    def test_usage_errors(self):
        digest = "sha256:" + "0" * 64
        for arguments, words in (
            ((), "--once"),
            (("--once",), "needs a port"),
            (("--once", "0"), "1 to 65535"),
            (("--once", "65536"), "1 to 65535"),
            (("--once", "80x"), "1 to 65535"),
            (("--once", "-80"), "1 to 65535"),
            (("--once", "80", "--model", ""), "--model"),
            (("--once", "80", "--model"), "--model"),
            (("--once", "80", "--params", "8B"), "in digits"),
            (("--once", "80", "--params", "0"), "in digits"),
            (("--once", "80", "--digest", "abc"), "sha256:"),
            (("--once", "80", "--digest", "sha256:" + "0" * 63), "sha256:"),
            (("--once", "80", "--digest", digest, "--digest", digest),
             "twice"),
            (("--once", "80", "--min-grade", "CLAIMED"), "INFERRED"),
            (("--once", "80", "--setting", "novalue"), "KEY=VALUE"),
            (("--once", "80", "--setting", "=v"), "KEY=VALUE"),
            (("--once", "80", "--with", "lora=any"), "adapter"),
            (("--once", "80", "--with", "adapter="), "adapter"),
            (("--once", "80", "--format", "xml"), "text or json"),
            (("--once", "80", "--address", "localhost"), "127.0.0.1"),
            (("--once", "80", "--address", "0.0.0.0"), "every address"),
            (("--once", "80", "--address", "::"), "every address"),
            (("--once", "80", "--netns", "x"), "--netns"),
            (("--once", "80", "--nonsense"), "--help"),
            (("--once", "80", "extra"), "--help"),
        ):
            with self.subTest(arguments):
                self.assertIn(words, self.complaint(*arguments))

    def test_errors_are_escaped(self):
        self.assertNotIn("\x1b", self.complaint("--once", "\x1b[2J"))

    def test_nothing_listens(self):
        answer = self.once(1)
        self.assertEqual((answer.kind, answer.line, answer.code),
                         ("MISSING", 4, 1))

    def test_a_closed_output_is_noticed(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([WEIGHTD, "--once", "1"], stdout=full,
                                  stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"standard output", done.stderr)

    @needs_root
    def test_F14_without_netlink(self):
        server = self.server("0", "--model", self.bundle())
        answer = self.once(server.port)
        self.assertEqual(
            set(answer.listeners[0]["witnesses"]),
            {"WITNESS_SOCK_DIAG", "WITNESS_PROC_NET"})

    def test_a_limit_on_file_sizes_is_no_end(self):
        server = self.server("0", "--model", self.bundle())
        answer = self.once(server.port,
                           wrapper=("sh", "-c", 'ulimit -f 0; exec "$@"', "sh"))
        self.assertEqual(answer.kind, "MATCH", answer.reason)

    def test_a_time_that_is_too_long_is_refused(self):
        done = subprocess.run([WEIGHTD, "--once", "1", "--timeout",
                               "9223372036854775807"], stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"--timeout", done.stderr)

    @needs_root
    def test_F13_a_folder_that_is_hidden_from_the_agent(self):
        path = self.bundle("models/m.gguf")
        digest = self.sha256(path)
        hidden = ("unshare", "-m", "sh", "-c",
                  'mount -t tmpfs none "$0" && exec "$@"', self.path("models"))
        server = self.server("0", "--model", path)
        answer = self.once(server.port, "--digest", digest, wrapper=hidden)
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assertEqual(grade(answer.model), "RESIDENT")
        # Only held open: what is held is seen, though its folder is not.
        server.do("unload")
        server.do(f"load read-keep-fd {path}")
        answer = self.once(server.port, "--digest", digest, wrapper=hidden)
        self.assertEqual(answer.kind, "UNVERIFIABLE", answer.reason)
        (file,) = answer.model["bundle"]["files"]
        self.assertEqual(text(file["sha256"]["value"]).hex(), digest[7:])

    def test_the_store_is_disposable(self):
        path = self.bundle()
        os.utime(path, (1, 1))
        import time
        time.sleep(2.2)
        server = self.server("0", "--model", path)

        def state():
            answer = self.once(server.port, "--digest", self.sha256(path))
            self.assertEqual(answer.kind, "MATCH", answer.reason)
            (file,) = answer.model["bundle"]["files"]
            return file["digestState"].removeprefix("DIGEST_STATE_"), answer
        self.assertEqual(state()[0], "COMPUTED")
        self.assertEqual(state()[0], "CACHED")
        database = [os.path.join(self.state, name)
                    for name in os.listdir(self.state)]
        for name in database:
            with open(name, "r+b") as file:
                file.write(b"\xff" * 4096)
        self.assertEqual(state()[0], "COMPUTED")
        self.assertEqual(state()[0], "CACHED")
        self.state = "/proc/nowhere"
        word, answer = state()
        self.assertEqual(word, "COMPUTED")
        self.assertIn("digest cache", answer.blind)


if __name__ == "__main__":
    unittest.main()
