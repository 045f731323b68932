#!/usr/bin/env python3
"""weightctl bundle on real files: digests, formats, exit codes."""

import base64
import ctypes
import hashlib
import json
import mmap
import os
import signal
import subprocess
import tempfile
import unittest

BUILD = os.environ["WD_BUILD"]
WEIGHTCTL = os.path.join(BUILD, "client/weightctl")
MKBUNDLE = os.path.join(BUILD, "tests/support/wd-mkbundle")


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def hex_of(digest):
    return base64.b64decode(digest["value"]).hex()


def cached_pages(fd):
    size = os.fstat(fd).st_size
    view = mmap.mmap(fd, size)
    first = ctypes.c_char.from_buffer(view)
    pages = (ctypes.c_ubyte * ((size + mmap.PAGESIZE - 1) // mmap.PAGESIZE))()
    libc = ctypes.CDLL(None, use_errno=True)
    failed = libc.mincore(ctypes.c_void_p(ctypes.addressof(first)),
                          ctypes.c_size_t(size), pages)
    if failed:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(page & 1 for page in pages)


class Bundle(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, *arguments):
        subprocess.run([MKBUNDLE, self.path(name), *arguments], check=True)
        return self.path(name)

    def run_it(self, *arguments, **options):
        return subprocess.run([WEIGHTCTL, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, **options)

    def message(self, path, *flags, code=0):
        done = self.run_it("bundle", path, "--format", "json", *flags)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def complaint(self, code, *arguments):
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, b"")
        self.assertNotEqual(done.stderr, b"")
        self.assertNotIn(b"\x1b", done.stderr)
        return done.stderr.decode()

    def test_a_single_file(self):
        path = self.make("m.gguf", "--name", "A model")
        message = self.message(path)
        self.assertEqual(message["format"], "BUNDLE_FORMAT_GGUF")
        self.assertEqual(message["innerName"], "A model")
        self.assertTrue(message["singleFile"])
        self.assertEqual(message["contentDigestState"],
                         "DIGEST_STATE_COMPUTED")
        (file,) = message["files"]
        self.assertEqual(hex_of(file["sha256"]), sha256(path))
        self.assertEqual(file["digestState"], "DIGEST_STATE_COMPUTED")
        self.assertIn("digestedAt", file)

    def test_every_file_of_a_directory(self):
        path = self.make("model", "--safetensors", "--shards", "3")
        message = self.message(path)
        self.assertIn("contentDigest", message)
        self.assertGreaterEqual(len(message["files"]), 5)
        for file in message["files"]:
            name = base64.b64decode(file["name"]).decode()
            self.assertEqual(hex_of(file["sha256"]),
                             sha256(os.path.join(path, name)), name)

    def test_any_shard_gives_the_same(self):
        self.make("m.gguf", "--split", "3")
        first = self.message(self.path("m-00001-of-00003.gguf"))
        third = self.message(self.path("m-00003-of-00003.gguf"))
        self.assertEqual(first["contentDigest"], third["contentDigest"])
        self.assertEqual(len(first["files"]), 3)

    def test_a_name_without_a_folder(self):
        self.make("m.gguf")
        done = self.run_it("bundle", "m.gguf", "--format=json",
                           cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(json.loads(done.stdout)["contentDigest"],
                         self.message(self.path("m.gguf"))["contentDigest"])

    def test_a_hub_cache_is_followed(self):
        os.mkdir(self.path("models--Org--Name"))
        blobs = self.path("models--Org--Name/blobs")
        snapshot = self.path("models--Org--Name/snapshots/abc")
        subprocess.run([MKBUNDLE, blobs, "--safetensors"], check=True)
        os.makedirs(snapshot)
        for name in os.listdir(blobs):
            os.symlink(f"../../blobs/{name}", os.path.join(snapshot, name))
        message = self.message(snapshot)
        self.assertEqual(message["repository"], "Org/Name")
        self.assertIn("contentDigest", message)

    def test_headers_only_reads_no_tensors(self):
        path = self.make("m.gguf")
        message = self.message(path, "--headers-only")
        self.assertNotIn("contentDigest", message)
        self.assertNotIn("sha256", message["files"][0])
        self.assertEqual(message["contentDigestState"], "DIGEST_STATE_NONE")
        self.assertEqual(message["encodingDigest"],
                         self.message(path)["encodingDigest"])

    def test_a_missing_shard_is_unverifiable(self):
        self.make("m.gguf", "--split", "2")
        os.unlink(self.path("m-00002-of-00002.gguf"))
        message = self.message(self.path("m-00001-of-00002.gguf"), code=4)
        self.assertTrue(message["incomplete"])
        self.assertNotIn("contentDigest", message)

    def test_a_cut_file_is_unverifiable(self):
        path = self.make("m.gguf")
        os.truncate(path, os.stat(path).st_size - 1)
        self.assertTrue(self.message(path, code=4)["incomplete"])

    def while_hashing(self, path, change):
        """Runs it on a long file; calls `change` with its pid when the
        headers are read and the digest is under way."""
        with subprocess.Popen(
                [WEIGHTCTL, "bundle", path, "--format", "json"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            self.addCleanup(run.kill)
            while self.bytes_read(run.pid) < 16 << 20:
                self.assertIsNone(run.poll(), "it ended too early")
            run.send_signal(signal.SIGSTOP)
            change(run.pid)
            run.send_signal(signal.SIGCONT)
            out, errors = run.communicate(timeout=300)
        return run.returncode, out, errors

    def bytes_read(self, pid):
        with open(f"/proc/{pid}/io") as file:
            return int(file.readline().split()[1])

    def make_long(self, name):
        return self.make(name, "--sparse", "--tensors", "2", "--encoding",
                         "F16", "--elements", str(128 << 20))

    @unittest.skipUnless(os.path.exists("/proc/self/io"), "needs /proc")
    def test_a_change_while_it_hashes(self):
        path = self.make_long("m.gguf")
        size = os.stat(path).st_size

        def write_in_place(_):
            with open(path, "r+b") as file:
                file.seek(size - 1)
                file.write(b"x")

        def replace(_):
            os.replace(self.make_long("n.gguf"), path)

        for change in (write_in_place, replace):
            with self.subTest(change.__name__):
                code, out, errors = self.while_hashing(path, change)
                self.assertEqual(os.stat(path).st_size, size)
                self.assertEqual(code, 4, errors)
                self.assertEqual(out, b"")
                self.assertIn(b"m.gguf: it changed while", errors)
        code, out, errors = self.while_hashing(path, lambda _: None)
        self.assertEqual((code, errors), (0, b""))

    @unittest.skipUnless(os.path.exists("/proc/self/io"), "needs /proc")
    def test_it_hashes_in_the_idle_class(self):
        found = []

        def look(pid):
            found.extend(os.sched_getscheduler(int(thread))
                         for thread in os.listdir(f"/proc/{pid}/task"))

        self.while_hashing(self.make_long("m.gguf"), look)
        self.assertIn(os.SCHED_IDLE, found)

    @unittest.skipUnless(os.path.exists("/proc/self/io"), "needs /proc")
    def test_the_page_cache_stays_as_it_was(self):
        path = self.make("m.gguf", "--elements", str(16 << 20))
        fd = os.open(path, os.O_RDWR)
        self.addCleanup(os.close, fd)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        some = 256  # its headers, and what the kernel reads ahead of them
        if cached_pages(fd) > some:
            self.skipTest("this file system is nothing but page cache")
        self.message(path)
        self.assertLess(cached_pages(fd), some)

    def test_what_cannot_be_read(self):
        with open(self.path("text.gguf"), "w") as file:
            file.write("no model\n")
        self.assertIn("GGUF", self.complaint(
            4, "bundle", self.path("text.gguf")))
        os.mkfifo(self.path("fifo.gguf"))
        self.complaint(2, "bundle", self.path("fifo.gguf"))
        self.complaint(2, "bundle", self.path("absent.gguf"))
        self.complaint(2, "bundle", self.path("absent\x1b[2J"))

    def test_usage_errors(self):
        path = self.make("m.gguf")
        for arguments in ((), ("nonsense",), ("bundle",), ("bundle", ""),
                          ("bundle", path, path), ("bundle", path, "-x"),
                          ("bundle", path, "--format"),
                          ("bundle", path, "--format", "xml"),
                          ("bundle", path, "--format=")):
            with self.subTest(arguments):
                self.complaint(2, *arguments)

    def test_help_and_version(self):
        for flag, word in (("--help", b"weightctl bundle PATH"),
                           ("--version", b"weightctl ")):
            done = self.run_it(flag)
            self.assertEqual(done.returncode, 0)
            self.assertIn(word, done.stdout)

    def test_a_name_that_is_not_utf8(self):
        path = self.make("m.gguf")
        odd = os.path.join(os.fsencode(self.folder), b"\xff\x1b[2J.gguf")
        os.rename(path, odd)
        done = self.run_it("bundle", odd)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"\x1b", done.stdout)
        self.assertIn(b"\\xff\\x1b[2J.gguf", done.stdout)

    def test_a_full_disk_is_noticed(self):
        path = self.make("m.gguf")
        with open("/dev/full", "w") as full:
            done = subprocess.run([WEIGHTCTL, "bundle", path], stdout=full,
                                  stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 4)


if __name__ == "__main__":
    unittest.main()
