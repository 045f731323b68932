#!/usr/bin/env python3
"""tests/FIELD-CASES.md names tests that exist, and each case once."""

import os
import re
import sys

import tree

TABLE = "tests/FIELD-CASES.md"
ROW = re.compile(r"^\| ([A-Z]\d+) \| .* \| (.*) \|$")
TEST = re.compile(r"^`([^`]+)` (\w+)$")


def text_of(root, name):
    try:
        with open(os.path.join(root, "tests", name)) as file:
            return file.read()
    except OSError:
        return ""


def wrong_with(root, cell):
    """What is wrong with the tests that one row names."""
    for entry in cell.split("<br>"):
        named = TEST.match(entry)
        if not named:
            # A reason why there is none.
            if "`" in entry:
                yield f"`FILE` TEST is wanted, not {entry}"
            continue
        name, test = named.groups()
        if not re.search(rf"\b(?:START_TEST\(|def ){test}\b",
                         text_of(root, name)):
            yield f"{name} has no test {test}"


def main():
    root = tree.root_of(sys.argv)
    found, seen = [], set()
    table = os.path.exists(os.path.join(root, TABLE))
    for number, line in tree.lines(root, TABLE) if table else []:
        row = ROW.match(line)
        if not row:
            continue
        case, cell = row.groups()
        if case in seen:
            found.append(f"{TABLE}:{number}: {case} stands there twice")
        seen.add(case)
        found += [f"{TABLE}:{number}: {wrong}"
                  for wrong in wrong_with(root, cell)]
    tree.finish(found, len(seen))


main()
