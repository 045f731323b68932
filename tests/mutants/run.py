#!/usr/bin/env python3
"""Puts known defects back, one at a time, and shows that a test catches each.

The lists are tests/mutants/*.list; see README.md there. Exit code: 0 when
every mutant was killed, 1 when one survived, 2 when a list, the build or the
unchanged tree is wrong.
"""

import argparse
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__"}
ADD_TEST = re.compile(r'^add_test\(\[(=*)\[(.*?)\]\1\] "([^"]*)"', re.M)
FIELDS = ("name", "file", "old", "new", "tests")


class Wrong(Exception):
    """Something that is wrong before or beside the mutants."""


class Mutant:
    def __init__(self, place, fields):
        self.place = place
        self.name, self.file, self.old, self.new, self.tests = fields
        self.result, self.detail, self.seconds = "", "", 0.0


# ---- lists -------------------------------------------------------------------

def parse_line(place, line):
    fields = line.split("\t")
    if len(fields) != len(FIELDS):
        raise Wrong(f"{place}: {len(fields)} fields; wanted are "
                    f"{', '.join(FIELDS)}, with a tab between")
    mutant = Mutant(place, fields)
    if not mutant.name or not mutant.old or not mutant.tests:
        raise Wrong(f"{place}: name, old text and tests must not be empty")
    if mutant.old == mutant.new:
        raise Wrong(f"{place}: {mutant.name} changes nothing")
    return mutant


def read_lists(root, paths):
    mutants, names = [], {}
    for path in paths:
        shown = os.path.relpath(path, root)
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file.read().split("\n"), 1):
                if not line.strip() or line.startswith("#"):
                    continue
                mutant = parse_line(f"{shown}:{number}", line)
                if mutant.name in names:
                    raise Wrong(f"{mutant.place}: the name {mutant.name} is "
                                f"taken by {names[mutant.name]}")
                names[mutant.name] = mutant.place
                mutants.append(mutant)
    if not mutants:
        raise Wrong("there are no mutants")
    return mutants


def read_text(path):
    with open(path, encoding="utf-8", errors="surrogateescape",
              newline="") as file:
        return file.read()


def write_text(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape",
              newline="") as file:
        file.write(text)


def mutated_text(mutant, root):
    path = os.path.join(root, mutant.file)
    if not os.path.isfile(path):
        raise Wrong(f"{mutant.place}: there is no file {mutant.file}")
    text = read_text(path)
    count = text.count(mutant.old)
    if count != 1:
        raise Wrong(f"{mutant.place}: the old text of {mutant.name} occurs "
                    f"{count} times in {mutant.file}, not once")
    return text.replace(mutant.old, mutant.new)


def check_lists(mutants, root):
    wrong = []
    for mutant in mutants:
        try:
            mutated_text(mutant, root)
            re.compile(mutant.tests)
        except (Wrong, re.error) as why:
            wrong.append(str(why))
    if wrong:
        raise Wrong("\n".join(wrong))


# ---- the copy and its build --------------------------------------------------

def copy_tree(root, target):
    """Everything but what is built or downloaded; times are kept, so that a
    build folder that is used again compiles only what changed."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        inside = os.path.join(target, os.path.relpath(folder, root))
        os.makedirs(inside, exist_ok=True)
        for name in names:
            source, copy = (os.path.join(folder, name),
                            os.path.join(inside, name))
            if os.path.lexists(copy) and not os.path.islink(copy) and \
                    os.path.isfile(source) and same_file(source, copy):
                continue
            shutil.copy2(source, copy, follow_symlinks=False)


def same_file(a, b):
    with open(a, "rb") as left, open(b, "rb") as right:
        return left.read() == right.read()


def run(command, timeout=None):
    """Runs to the end, or kills the command with all that it started and
    raises subprocess.TimeoutExpired."""
    environment = dict(os.environ)
    environment.pop("WD_SOURCE", None)
    environment.pop("WD_BUILD", None)
    with subprocess.Popen(command, text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment, start_new_session=True) as process:
        try:
            said, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, said)


class Build:
    def __init__(self, source, folder, jobs, timeout):
        self.source, self.folder = source, folder
        self.jobs, self.timeout = str(jobs), timeout
        self.tests = {}  # name -> program in the build folder, or None

    def configure(self):
        # A mutant may leave a variable unused: no reason not to run it.
        done = run(["cmake", "-S", self.source, "-B", self.folder, "-G",
                    "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DWD_WERROR=OFF"])
        if done.returncode != 0:
            raise Wrong(f"cmake failed:\n{done.stdout}")

    def build(self, targets=()):
        return run(["ninja", "-C", self.folder, "-j", self.jobs, *targets])

    def learn_tests(self):
        """ctest itself does not say what a test that was not built yet will
        run; the files that cmake wrote for it do."""
        for path in glob.glob(os.path.join(self.folder, "**",
                                           "CTestTestfile.cmake"),
                              recursive=True):
            for match in ADD_TEST.finditer(read_text(path)):
                inside = os.path.relpath(match.group(3) or "/", self.folder)
                self.tests[match.group(2)] = \
                    None if inside.startswith("..") else inside
        if not self.tests:
            raise Wrong("the tree has no tests")

    def matching(self, pattern):
        return [name for name in self.tests if re.search(pattern, name)]

    def targets_of(self, names):
        """What must be built for these tests; nothing means everything: a
        script may start any program."""
        programs = {self.tests[name] for name in names}
        return [] if None in programs else sorted(programs)

    def run_tests(self, names):
        """name -> "passed", "failed" or "skipped"."""
        report = os.path.join(self.folder, "mutant-junit.xml")
        if os.path.exists(report):
            os.unlink(report)
        pattern = "^(" + "|".join(re.escape(name) for name in names) + ")$"
        try:
            done = run(["ctest", "--test-dir", self.folder, "-R", pattern,
                        "--output-junit", report],
                       timeout=self.timeout * len(names))
        except subprocess.TimeoutExpired:
            return dict.fromkeys(names, "failed")
        if not os.path.exists(report):
            raise Wrong(f"ctest gave no report:\n{done.stdout}")
        results = {}
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            results[case.get("name")] = \
                "failed" if case.find("failure") is not None else \
                "skipped" if case.find("skipped") is not None else "passed"
        return {name: results.get(name, "failed") for name in names}


# ---- one mutant --------------------------------------------------------------

def judge(mutant, build):
    """Builds and tests the tree as it is now."""
    names = build.matching(mutant.tests)
    done = build.build(build.targets_of(names))
    if done.returncode != 0:
        errors = [line for line in done.stdout.split("\n") if "error:" in line]
        return "ERROR", "does not build: " + "; ".join(errors[:2])
    results = build.run_tests(names)
    failed = sorted(n for n, result in results.items() if result == "failed")
    if failed:
        return "killed", ", ".join(failed)
    if all(result == "skipped" for result in results.values()):
        return "SKIPPED", "its tests do not run here"
    return "SURVIVED", ", ".join(names) + " passed"


def run_one(mutant, build):
    path = os.path.join(build.source, mutant.file)
    original = read_text(path)
    began = time.monotonic()
    write_text(path, mutated_text(mutant, build.source))
    try:
        mutant.result, mutant.detail = judge(mutant, build)
    finally:
        write_text(path, original)
    mutant.seconds = time.monotonic() - began


def check_unchanged(mutants, build):
    """Without a mutant every named test exists and passes; a test that fails
    anyway would kill everything."""
    wrong, names = [], set()
    for mutant in mutants:
        found = build.matching(mutant.tests)
        names.update(found)
        if not found:
            wrong.append(f"{mutant.place}: no test is called {mutant.tests}")
    if wrong:
        raise Wrong("\n".join(wrong))
    done = build.build(build.targets_of(names))
    if done.returncode != 0:
        raise Wrong(f"the unchanged tree does not build:\n{done.stdout}")
    failed = sorted(name for name, result in build.run_tests(
        sorted(names)).items() if result == "failed")
    if failed:
        raise Wrong("these tests fail without a mutant: " + ", ".join(failed))


# ---- the program -------------------------------------------------------------

def choose(mutants, options):
    if options.only:
        mutants = [m for m in mutants if re.search(options.only, m.name)]
        if not mutants:
            raise Wrong(f"no mutant's name matches {options.only}")
    if options.sample is None or options.sample >= len(mutants):
        return mutants
    chosen = set(random.Random(options.seed).sample(
        sorted(mutant.name for mutant in mutants), options.sample))
    return [mutant for mutant in mutants if mutant.name in chosen]


def show(mutant):
    print(f"{mutant.result:9} {mutant.name:45} {mutant.seconds:6.1f} s  "
          f"{mutant.detail}", flush=True)


def run_all(mutants, options, work):
    source = os.path.join(work, "source")
    copy_tree(options.root, source)
    build = Build(source, os.path.join(work, "build"), options.jobs,
                  options.timeout)
    build.configure()
    build.learn_tests()
    check_unchanged(mutants, build)
    for mutant in mutants:
        run_one(mutant, build)
        show(mutant)


def report(mutants, total):
    counts = {}
    for mutant in mutants:
        counts[mutant.result] = counts.get(mutant.result, 0) + 1
    said = ", ".join(f"{count} {result.lower()}"
                     for result, count in sorted(
                         counts.items(), key=lambda item: item[0].lower()))
    print(f"{len(mutants)} of {total} mutants: {said}")
    if counts.get("ERROR"):
        return 2
    return 1 if counts.get("SURVIVED") or counts.get("SKIPPED") else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--all", action="store_true", help="every mutant")
    which.add_argument("--sample", type=int, metavar="N",
                       help="N mutants, the same ones for the same seed")
    which.add_argument("--only", metavar="REGEX", help="by name")
    which.add_argument("--check", action="store_true",
                       help="only see whether the lists fit the tree")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--timeout", type=int, default=120, metavar="SECONDS",
                        help="for one test; going beyond it is a failure")
    parser.add_argument("--work", metavar="FOLDER",
                        help="keep the copy and its build there")
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(HERE)),
                        help="the tree (this one)")
    parser.add_argument("lists", nargs="*", metavar="LIST",
                        help="instead of tests/mutants/*.list")
    return parser.parse_args()


def main():
    options = parse_arguments()
    options.root = os.path.abspath(options.root)
    paths = options.lists or sorted(glob.glob(
        os.path.join(options.root, "tests/mutants/*.list")))
    try:
        mutants = read_lists(options.root, paths)
        check_lists(mutants, options.root)
        if options.check:
            print(f"{len(mutants)} mutants fit the tree")
            return 0
        chosen = choose(mutants, options)
        if options.work:
            run_all(chosen, options, os.path.abspath(options.work))
        else:
            with tempfile.TemporaryDirectory(prefix="weightd-mutants.") as work:
                run_all(chosen, options, work)
    except Wrong as why:
        print(why)
        return 2
    return report(chosen, len(mutants))


sys.exit(main())
