"""Whose weights these are: processes that serve with the owner without
descending from it, workers that outlived their server, second instances, and
servers that are not ready yet."""

import os
import signal
import subprocess
import sys
import unittest

from harness import OnceTest, flags, grade

HERE = os.path.dirname(os.path.abspath(__file__))


class Groups(OnceTest):
    def script(self, name, *options, model=None):
        env = {**os.environ, **({"WD_TEST_MODEL": model} if model else {})}
        process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, name), *options], env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        return process, [int(n) for n in process.stdout.readline().split()]

    def tied(self, kind):
        model = self.bundle()
        _, (port, server, worker) = self.script("tied.py", kind, model=model)
        self.addCleanup(self.end, worker)
        return model, port, server, worker

    def assert_tied(self, kind, tie):
        model, port, server, worker = self.tied(kind)
        answer = self.once(port, "--digest", self.sha256(model))
        self.assertEqual(answer.owners(), [server])
        self.assertEqual(answer.processes[worker]["role"],
                         "PROCESS_ROLE_TIED")
        self.assertEqual(answer.processes[worker]["ties"],
                         [{"kind": tie, "pid": server}])
        self.assertEqual(answer.model["pids"], [worker])
        self.assertEqual(grade(answer.model), "INFERRED")
        # A tie is no proof that the worker answers for the port.
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 8))
        self.assertEqual(answer.attestation.get("orphans", []), [])

    def test_a_worker_tied_by_a_pipe(self):
        self.assert_tied("pipe", "KIND_PIPE")

    def test_a_worker_tied_by_a_unix_socket(self):
        self.assert_tied("socket", "KIND_UNIX_SOCKET")

    def test_a_worker_tied_by_shared_memory(self):
        self.assert_tied("memory", "KIND_SHARED_MEMORY")

    def test_a_tie_is_shown_in_text(self):
        _, port, server, worker = self.tied("pipe")
        _, text = self.once_text(port)
        self.assertIn("tied to a member", text)
        self.assertIn(f"by a pipe to {server}", text)

    def assert_not_credited(self, kind):
        model, port, server, worker = self.tied(kind)
        answer = self.once(port, "--digest", self.sha256(model))
        self.assertEqual(answer.owners(), [server])
        self.assertEqual(answer.groups[0]["pids"], [server])
        self.assertEqual(answer.models(), [])
        self.assertEqual(answer.kind, "UNVERIFIABLE")
        return answer, server, worker

    def test_a_neighbour_in_the_same_session_is_not_credited(self):
        answer, _, worker = self.assert_not_credited("none")
        # Its parent is gone, so it is shown as what it seems to be.
        (orphan,) = answer.attestation["orphans"]
        self.assertEqual(orphan["pids"], [worker])

    def test_who_reads_the_standard_output_is_not_credited(self):
        self.assert_not_credited("stdout")

    def test_a_supervisor_in_the_middle_is_named_and_not_crossed(self):
        answer, server, _ = self.assert_not_credited("middle")
        self.assertIn(f"tied to process {server} by a pipe", answer.blind)

    def test_A26_the_child_of_the_server_then_its_orphan(self):
        model = self.bundle("a.gguf", "--seed", "1")
        server = self.server("0", "--model", model)
        worker = int(server.do("fork-worker"))
        self.addCleanup(self.end, worker)
        answer = self.once(server.port, "--digest", self.sha256(model))
        self.assertEqual(answer.kind, "MATCH", answer.reason)
        self.assertEqual(answer.processes[worker]["role"],
                         "PROCESS_ROLE_DESCENDANT")
        server.kill()
        answer = self.once(server.port)
        self.assertEqual(answer.kind, "MISSING")
        self.assertIn("ORPHAN_WEIGHTS", answer.flags)
        self.assertEqual(answer.attestation["orphans"][0]["pids"], [worker])
        # A new server on the port: the old worker is shown, decides nothing.
        other = self.bundle("b.gguf", "--seed", "2")
        again = self.server(str(server.port), "--model", other)
        answer = self.once(again.port, "--digest", self.sha256(other))
        self.assert_proven(answer, again.pid)
        self.assertEqual(answer.attestation["orphans"][0]["pids"], [worker])
        self.assertIn("ORPHAN_WEIGHTS", answer.flags)
        self.assertEqual(
            self.once(again.port, "--digest", self.sha256(model)).kind,
            "MISMATCH")

    def test_D12_a_second_instance_is_shown(self):
        model = self.bundle()
        server = self.server("0", "--model", model)
        twin = self.server("0", "--model", model)
        answer = self.once(server.port)
        self.assert_proven(answer, server.pid)
        self.assertEqual(answer.model["alsoHeldBy"], [twin.pid])
        self.assertIn("DUPLICATE_INSTANCE", flags(answer.model))
        _, text = self.once_text(server.port)
        self.assertIn(f"process {twin.pid} (outside the group)", text)
        twin.stop()
        answer = self.once(server.port)
        self.assertNotIn("DUPLICATE_INSTANCE", flags(answer.model))

    def test_D17_a_chain_without_weights_holds_none(self):
        server = self.server("0", "--model", self.bundle())
        self.assert_proven(self.once(server.port), server.pid)
        server.do("unload")
        worker = int(server.do("fork-worker"))
        answer = self.once(server.port)
        self.assertEqual(sorted(answer.groups[0]["pids"]),
                         sorted([server.pid, worker]))
        self.assertNotEqual(answer.kind, "MATCH")
        for model in answer.models():
            self.assertIn(grade(model), ("CLAIMED", "INFERRED"))

    def test_a_server_that_still_reads_is_loading(self):
        model = self.bundle()
        wrong = self.bundle("wrong.gguf", "--seed", "9")
        _, (port,) = self.script("slow_load.py", "--model", model)
        answer = self.once(port)
        self.assertIn("LOADING", flags(answer.groups[0]))
        self.assertEqual((answer.kind, answer.line), ("UNVERIFIABLE", 8))
        self.assertIn("LOADING", answer.reason)
        for file in (model, wrong):
            answer = self.once(port, "--digest", self.sha256(file),
                               "--min-grade", "INFERRED")
            self.assertEqual(answer.kind, "UNVERIFIABLE", answer.reason)

    def test_a_server_that_has_loaded_is_not_loading(self):
        server = self.server("0", "--model", self.bundle())
        self.assertNotIn("LOADING", flags(self.once(server.port).groups[0]))


if __name__ == "__main__":
    unittest.main()
