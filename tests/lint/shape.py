#!/usr/bin/env python3
"""A file is one idea and a function is short: caps on both, for our C."""

import re
import sys

import tree

MOST_FILE_LINES = 650
MOST_FUNCTION_LINES = 90
NAME = re.compile(r"^([A-Za-z_]\w*)\(")


def functions(all_lines):
    """(name, line of its brace, lines of its body): KNF puts the braces of a
    function, and of nothing else, into column 0 on a line of their own."""
    name, start = "?", None
    for number, line in all_lines:
        match = NAME.match(line)
        if match and start is None:
            name = match.group(1)
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield name, start, number - start - 1
            start = None


def main():
    root = tree.root_of(sys.argv)
    found, looked = [], 0
    for path in tree.files(root, (".c", ".h")):
        if not path.startswith(("agent/", "proto/", "client/")):
            continue
        looked += 1
        all_lines = tree.lines(root, path)
        if len(all_lines) > MOST_FILE_LINES:
            found.append(f"{path}: {len(all_lines)} lines; at most "
                         f"{MOST_FILE_LINES}")
        for name, number, length in functions(all_lines):
            if length > MOST_FUNCTION_LINES:
                found.append(f"{path}:{number}: {name} has {length} lines; "
                             f"at most {MOST_FUNCTION_LINES}")
    tree.finish(found, looked)


main()
