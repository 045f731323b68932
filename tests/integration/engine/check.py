#!/usr/bin/env python3
"""check.py ANSWER FACTS MODEL PID GRADE mmap|read: whether weightd's JSON answer says of
the real engine what is known of it."""
import base64
import hashlib
import json
import sys


def find(answer):
    attestation = answer["attestation"]
    groups = attestation.get("groups", [])
    candidates = [c for g in groups for c in g.get("candidates", [])]
    return attestation, groups, candidates


def main():
    answer_path, facts_path, model, pid, grade, manner = sys.argv[1:]
    with open(answer_path) as file:
        answer = json.load(file)
    with open(facts_path) as file:
        facts = json.load(file)
    attestation, groups, candidates = find(answer)
    wrong = []

    def same(what, observed, expected):
        if observed != expected:
            wrong.append("%s: %r, expected %r" % (what, observed, expected))

    listeners = attestation.get("listeners", [])
    same("listeners", len(listeners), 1)
    same("owners", [o["pid"] for x in listeners for o in x.get("owners", [])],
         [int(pid)])
    same("groups", len(groups), 1)
    same("candidates", len(candidates), 1)
    for candidate in candidates:
        bundle = candidate.get("bundle", {})
        same("grade", candidate.get("grade"), "GRADE_" + grade)
        same("parameters", int(bundle.get("parameterCount", 0)),
             facts["parameters"])
        same("tensors", int(bundle.get("tensorCount", 0)), facts["tensors"])
        # Read into memory it is held by nobody: a claim that bytes support.
        if manner == "mmap":
            same("pids", candidate.get("pids"), [int(pid)])
        with open(model, "rb") as file:
            wanted = hashlib.sha256(file.read()).digest()
        digests = [base64.b64decode(f["sha256"]["value"])
                   for f in bundle.get("files", []) if "sha256" in f]
        # A digest that was not asked for may be missing, never wrong.
        for digest in digests:
            same("sha256", digest.hex(), wanted.hex())
    for line in wrong:
        print("not ok: " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
