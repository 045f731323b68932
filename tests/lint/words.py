#!/usr/bin/env python3
"""Words and bytes that do not stay in the tree: notes to oneself, leftovers of
a merge, blanks at the end of a line, files without a last newline."""

import os
import re
import sys

import tree

ENDS = (".c", ".h", ".py", ".sh", ".txt", ".md", ".cmake", ".proto", ".list",
        ".json", ".yml", ".yaml", ".clang-format")
# Put together here, so that this file does not find itself.
NOTES = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
MERGE = re.compile(r"^(?:<{7} |={7}$|>{7} )")
BLANK_END = re.compile(r"[ \t\r]$")
GENERATED = ("package-lock.json",)


def check_line(line):
    if NOTES.search(line):
        return "a note to oneself; open an issue or do it"
    if MERGE.match(line):
        return "a leftover of a merge"
    if BLANK_END.search(line):
        return "blanks at the end of the line"
    return None


def main():
    root = tree.root_of(sys.argv)
    found, looked = [], 0
    for name in tree.files(root, ENDS):
        if os.path.basename(name) in GENERATED or "/fixtures/" in name or \
                "/corpus/" in name:
            continue
        looked += 1
        all_lines = tree.lines(root, name)
        for number, line in all_lines:
            wrong = check_line(line)
            if wrong:
                found.append(f"{name}:{number}: {wrong}")
        if all_lines[-1][1] != "":
            found.append(f"{name}: no newline at the end")
    tree.finish(found, looked)


main()
