#!/usr/bin/env python3
"""weightctl pki, and what other programs make of its certificates: openssl's
strict check, the real server, curl, Python's ssl."""

import os
import re
import shutil
import ssl
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(
    os.path.abspath(__file__)), "..", "server"))
import lab as server_lab  # noqa: E402

WEIGHTCTL = os.path.join(os.environ["WD_BUILD"], "client/weightctl")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def pki(self, *arguments, code=0, cwd=None):
        done = subprocess.run(
            [WEIGHTCTL, "pki", *arguments], cwd=cwd or self.folder,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60)
        self.assertEqual(done.returncode, code, done)
        return done

    def openssl(self, *arguments, code=0):
        done = subprocess.run(["openssl", *arguments], cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, code, done)
        return done.stdout + done.stderr

    def verify(self, name, purpose, *more, code=0):
        return self.openssl("verify", "-x509_strict", "-purpose", purpose,
                            "-CAfile", "weightd-ca/ca.crt", *more, name,
                            code=code)


class Pki(Case):
    def test_files_have_their_modes(self):
        os.umask(0)
        self.pki("init")
        self.pki("issue", "mac-3.lab")
        self.pki("request", "mac-4.lab", "--out", "fresh")
        modes = {}
        for base, folders, files in os.walk(self.folder):
            for name in folders + files:
                path = os.path.join(base, name)
                modes[os.path.relpath(path, self.folder)] = stat.S_IMODE(
                    os.lstat(path).st_mode)
        issued = [name for name in modes if name.startswith(
            "weightd-ca/issued/")]
        self.assertEqual(len(issued), 1)
        del modes[issued[0]]
        self.assertEqual(modes, {
            "weightd-ca": 0o700, "weightd-ca/issued": 0o700,
            "weightd-ca/ca.key": 0o600, "weightd-ca/ca.crt": 0o644,
            "mac-3.lab.key": 0o600, "mac-3.lab.crt": 0o644,
            "fresh": 0o700, "fresh/mac-4.lab.key": 0o600,
            "fresh/mac-4.lab.csr": 0o644})

    def test_nothing_is_overwritten(self):
        self.pki("init")
        self.pki("issue", "mac-3.lab")
        self.pki("request", "mac-4.lab")
        before = {}
        for base, _, files in os.walk(self.folder):
            for name in files:
                with open(os.path.join(base, name), "rb") as file:
                    before[os.path.join(base, name)] = file.read()
        for arguments, named in (
                (("init",), "weightd-ca/ca.key"),
                (("issue", "mac-3.lab"), "mac-3.lab.key"),
                (("request", "mac-4.lab"), "mac-4.lab.key"),
                (("request", "mac-3.lab"), "mac-3.lab.key")):
            done = self.pki(*arguments, code=2)
            self.assertIn(named + ": is there already and is never overwritten"
                          "; move it away first", done.stderr)
        os.remove(self.path("mac-3.lab.key"))
        done = self.pki("issue", "mac-3.lab", code=2)
        self.assertIn("mac-3.lab.crt: is there already", done.stderr)
        del before[self.path("mac-3.lab.key")]
        after = set()
        for base, _, files in os.walk(self.folder):
            after |= {os.path.join(base, name) for name in files}
        self.assertEqual(after, set(before))
        for path, text in before.items():
            with open(path, "rb") as file:
                self.assertEqual(file.read(), text, path)

    def test_openssl_accepts_them_strictly(self):
        self.pki("init", "--name", "Lab CA", "--days", "30")
        self.pki("issue", "mac-3.lab", "--san", "10.0.0.3", "--san", "::1")
        self.pki("issue", "bench", "--role", "client")
        self.openssl("verify", "-x509_strict", "-CAfile", "weightd-ca/ca.crt",
                     "weightd-ca/ca.crt")
        self.verify("mac-3.lab.crt", "sslserver", "-verify_hostname",
                    "mac-3.lab")
        self.verify("mac-3.lab.crt", "sslserver", "-verify_ip", "::1")
        self.verify("bench.crt", "sslclient")
        # A host is no client, and a client no host.
        self.verify("mac-3.lab.crt", "sslclient", code=2)
        self.verify("bench.crt", "sslserver", code=2)
        self.verify("mac-3.lab.crt", "sslserver", "-verify_hostname",
                    "mac-4.lab", code=2)
        text = self.openssl("x509", "-in", "weightd-ca/ca.crt", "-noout",
                            "-ext", "basicConstraints,keyUsage")
        self.assertRegex(text, r"Basic Constraints: critical\n\s+CA:TRUE, "
                               r"pathlen:0")
        self.assertRegex(text, r"Key Usage: critical\n\s+Certificate Sign, "
                               r"CRL Sign")
        text = self.openssl("x509", "-in", "mac-3.lab.crt", "-noout", "-text")
        self.assertRegex(text, r"Basic Constraints: critical\n\s+CA:FALSE")
        self.assertRegex(text, r"Key Usage: critical\n\s+Digital Signature\n")

    def test_a_leaf_signs_nothing(self):
        self.pki("init")
        self.pki("issue", "mac-3.lab")
        os.mkdir(self.path("false"), 0o700)
        shutil.copy(self.path("mac-3.lab.crt"), self.path("false/ca.crt"))
        shutil.copy(self.path("mac-3.lab.key"), self.path("false/ca.key"))
        done = self.pki("issue", "mac-9.lab", "--dir", "false", code=2)
        self.assertIn("false/ca.crt: is no certificate of a CA", done.stderr)

    def test_the_key_stays_on_its_host(self):
        self.pki("init")
        os.mkdir(self.path("host"))
        asked = self.pki("request", "mac-3.lab", "--san", "10.0.0.3",
                         cwd=self.path("host"))
        key = re.search(r"key +(sha256:\w+)\n", asked.stdout).group(1)
        os.rename(self.path("host/mac-3.lab.csr"), self.path("r.csr"))
        shown = self.pki("show", "r.csr").stdout
        self.assertRegex(shown, r"names +DNS:mac-3.lab, IP:10.0.0.3\n")
        self.assertRegex(shown, r"for +host\n")
        self.assertIn(key, shown)
        done = self.pki("sign", "r.csr", "--san", "10.0.0.3", "--san",
                        "mac-3.lab")
        self.assertIn(key, done.stdout)
        self.assertRegex(done.stdout, r"names +DNS:mac-3.lab, IP:10.0.0.3\n")
        self.assertRegex(done.stdout, r"role +host\n")
        self.assertIn("mac-3.lab.crt", done.stdout)
        self.verify("mac-3.lab.crt", "sslserver")
        self.assertFalse(os.path.exists(self.path("mac-3.lab.key")))
        own = self.openssl("pkey", "-in", "host/mac-3.lab.key", "-pubout")
        signed = self.openssl("x509", "-in", "mac-3.lab.crt", "-noout",
                              "-pubkey")
        self.assertEqual(own, signed)

    def make_request(self, *extensions, key=("ec", "ec_paramgen_curve:P-256")):
        more = []
        for extension in extensions:
            more += ["-addext", extension]
        self.openssl("req", "-new", "-newkey", key[0], "-pkeyopt", key[1],
                     "-nodes", "-subj", "/O=Evil/CN=other.lab", "-keyout",
                     "r.key", "-out", "r.csr", *more)

    def test_only_names_are_taken_from_a_request(self):
        self.pki("init")
        self.make_request(
            "subjectAltName=DNS:mac-3.lab", "basicConstraints=CA:TRUE",
            "keyUsage=keyCertSign", "extendedKeyUsage=serverAuth,codeSigning")
        done = self.pki("sign", "r.csr")
        self.assertRegex(done.stdout, r"ignored +.*Basic Constraints, .*Key "
                                      r"Usage")
        text = self.openssl("x509", "-in", "mac-3.lab.crt", "-noout", "-text")
        self.assertIn("CA:FALSE", text)
        for word in ("Evil", "other.lab", "Code Signing", "Certificate Sign"):
            self.assertNotIn(word, text)

    def test_requests_are_refused(self):
        self.pki("init")
        self.make_request()
        self.assertIn("asks for no name", self.pki(
            "sign", "r.csr", code=2).stderr)
        for name in ("DNS:*.lab", "DNS:a.lab,URI:spiffe://a/b", "DNS:a_b",
                     "DNS:a.lab,email:a@b.lab"):
            self.make_request("subjectAltName=" + name)
            self.assertIn("r.csr: ", self.pki("sign", "r.csr", code=2).stderr)
        self.make_request("subjectAltName=DNS:a.lab",
                          key=("rsa", "rsa_keygen_bits:1024"))
        self.assertIn("its key is too weak", self.pki(
            "sign", "r.csr", code=2).stderr)
        self.pki("request", "a.lab")
        self.assertIn("asks for DNS:a.lab, which are not the names of --san",
                      self.pki("sign", "a.lab.csr", "--san", "b.lab",
                               code=2).stderr)
        self.pki("request", "me", "--role", "client")
        self.assertIn("asks for role client", self.pki(
            "sign", "me.csr", code=2).stderr)
        self.pki("sign", "me.csr", "--role", "client")
        self.verify("me.crt", "sslclient")
        self.assertIn("holds no certificate request", self.pki(
            "sign", "me.crt", code=2).stderr)
        self.assertFalse(os.path.exists(self.path("a.lab.crt")))
        self.assertEqual(len(os.listdir(self.path("weightd-ca/issued"))), 1)

    def test_a_ca_that_others_reach_is_not_used(self):
        self.pki("init")
        os.chmod(self.path("weightd-ca/ca.key"), 0o640)
        self.assertIn("others may read it", self.pki(
            "issue", "a.lab", code=2).stderr)
        os.chmod(self.path("weightd-ca/ca.key"), 0o600)
        os.chmod(self.path("weightd-ca"), 0o770)
        self.assertIn("others may write there", self.pki(
            "issue", "a.lab", code=2).stderr)
        self.assertIn("weightctl pki init", self.pki(
            "issue", "a.lab", "--dir", "nowhere", code=2).stderr)
        self.assertEqual(os.listdir(self.folder), ["weightd-ca"])

    def test_show_tells(self):
        self.pki("init")
        self.pki("issue", "mac-3.lab", "--san", "10.0.0.3")
        text = self.pki("show", "mac-3.lab.crt", "weightd-ca/ca.crt").stdout
        self.assertRegex(text, r"(?m)^mac-3.lab.crt$")
        self.assertRegex(text, r"subject +CN=mac-3.lab\n")
        self.assertRegex(text, r"names +DNS:mac-3.lab, IP Address:10.0.0.3\n")
        self.assertRegex(text, r"for +host \(")
        self.assertRegex(text, r"for +CA \(")
        self.assertRegex(text, r"left +39\d days\n")
        self.assertRegex(text, r"key file mac-3.lab.key is its key\n")
        shown = re.search(r"digest +sha256:(\w+)", text).group(1)
        print_ = self.openssl("x509", "-in", "mac-3.lab.crt", "-noout",
                              "-fingerprint", "-sha256")
        self.assertEqual(shown, print_.split("=")[1].strip().replace(
            ":", "").lower())
        shutil.copy(self.path("weightd-ca/ca.key"), self.path(
            "mac-3.lab.key"))
        self.assertIn("mac-3.lab.key is not its key", self.pki(
            "show", "mac-3.lab.crt", code=1).stdout)
        self.pki("show", "nothing.crt", code=2)
        self.pki("show", "mac-3.lab.key", code=2)

    def test_show_tells_times(self):
        lab = server_lab.Authority(self.folder, "other")
        old = lab.issue("old", start="20200101000000Z", end="20210101000000Z")
        young = lab.issue("young", start="20600101000000Z",
                          end="20610101000000Z")
        self.assertRegex(self.pki("show", old[0], code=1).stdout,
                         r"valid +2020-01-01T00:00:00Z to 2021-01-01T00:00:00Z"
                         r"\n +EXPIRED +the clock says 20")
        self.assertIn("NOT YET VALID", self.pki(
            "show", young[0], code=1).stdout)

    def test_names_of_others_are_escaped(self):
        self.openssl("req", "-new", "-x509", "-newkey", "ec", "-pkeyopt",
                     "ec_paramgen_curve:P-256", "-nodes", "-subj",
                     "/CN=a\x1b[2Jb", "-keyout", "x.key", "-out", "x.crt")
        os.chmod(self.path("x.key"), 0o600)
        self.assertNotIn("\x1b", self.pki("show", "x.crt").stdout)

    def test_usage(self):
        for arguments in ((), ("make",), ("init", "x"), ("issue",),
                          ("issue", "a", "b"), ("issue", ""),
                          ("issue", "a", "--san"), ("issue", "a", "--san", ""),
                          ("issue", "a", "--role", "both"),
                          ("issue", "a", "--days", "0"),
                          ("issue", "a", "--days", "36501"),
                          ("init", "--role", "host"), ("show",),
                          ("show", "--days", "3", "x")):
            done = self.pki(*arguments, code=2)
            self.assertIn("usage:", done.stderr)
            self.assertEqual(done.stdout, "")
        for arguments in (("issue", "../a"), ("request", "*.lab")):
            self.assertIn("neither a host name nor an IP address",
                          self.pki(*arguments, code=2).stderr)
        self.assertEqual(os.listdir(self.folder), [])


class Served(Case):
    """The real server, and clients that we did not write."""

    def setUp(self):
        super().setUp()
        self.pki("init")
        self.pki("issue", "localhost", "--san", "127.0.0.1")
        self.pki("issue", "bench.lab", "--role", "client")
        self.pki("issue", "gone.lab", "--role", "client")

    def pair(self, name):
        return self.path(name + ".crt"), self.path(name + ".key")

    def server(self, **options):
        class Files:
            folder = self.folder
            server = self.pair("localhost")

            class ca:
                certificate = self.path("weightd-ca/ca.crt")

        return server_lab.Server(Files, "rule=dns:gone.lab=1", **options)

    def ask(self, server, name, host="127.0.0.1"):
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        made.verify_flags |= ssl.VERIFY_X509_STRICT
        made.load_verify_locations(self.path("weightd-ca/ca.crt"))
        made.load_cert_chain(*self.pair(name))
        with made.wrap_socket(server_lab.dial(server.port),
                              server_hostname=host) as stream:
            return server_lab.call(stream, "GetHost", {}).status

    def test_python_and_the_server_accept_them(self):
        with self.server() as server:
            for host in ("127.0.0.1", "localhost"):
                self.assertEqual(self.ask(server, "bench.lab", host), 200)
            with self.assertRaises(ssl.SSLCertVerificationError):
                self.ask(server, "bench.lab", "other.lab")
            # Made for hosts.
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                self.ask(server, "localhost")

    def test_curl_accepts_them(self):
        with self.server() as server:
            done = subprocess.run(
                ["curl", "--silent", "--fail", "--cacert",
                 self.path("weightd-ca/ca.crt"), "--cert",
                 self.path("bench.lab.crt"), "--key",
                 self.path("bench.lab.key"), "-H",
                 "Content-Type: application/json", "-d", "{}",
                 "https://127.0.0.1:%d%sGetHost" % (
                     server.port, server_lab.SERVICE)],
                capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn('"hostname":"lab"', done.stdout)

    def test_the_revoked_stay_out(self):
        done = self.pki("revoke", "gone.lab")
        self.assertRegex(done.stdout, r"(?m)^new +1$")
        self.assertRegex(self.pki("revoke", "GONE.lab").stdout,
                         r"(?m)^new +0$")
        self.assertIn("has issued nothing with that name",
                      self.pki("revoke", "nobody.lab", code=2).stderr)
        with self.server(crl=self.path("weightd-ca/ca.crl")) as server:
            self.assertEqual(self.ask(server, "bench.lab"), 200)
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                self.ask(server, "gone.lab")
        self.verify("gone.lab.crt", "sslclient", "-crl_check", "-CRLfile",
                    "weightd-ca/ca.crl", code=2)


if __name__ == "__main__":
    unittest.main()
