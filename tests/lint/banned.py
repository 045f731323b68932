#!/usr/bin/env python3
"""Functions that our C does not call, each with what takes its place."""

import functools
import re
import sys

import tree

# Everywhere, tests included: they write where they do not know the room.
UNSAFE = {
    "strcpy": "a bounded copy: memcpy with a checked length, or wd_buf",
    "stpcpy": "a bounded copy: memcpy with a checked length, or wd_buf",
    "strcat": "wd_buf_text",
    "sprintf": "snprintf or wd_buf_printf",
    "vsprintf": "vsnprintf or wd_buf_vprintf",
    "gets": "a bounded read",
    "alloca": "wd_calloc; the stack has no error",
    "strdupa": "wd_strdup", "strndupa": "wd_memdup0",
    "mktemp": "mkstemp", "tmpnam": "mkstemp", "tempnam": "mkstemp",
}

# In agent/, proto/ and client/.
BANNED = {
    "strncpy": "memcpy; strncpy leaves strings without an end",
    "strncat": "wd_buf_text",
    "scanf": "wd_slice_number", "fscanf": "wd_slice_number",
    "sscanf": "wd_slice_number",
    "atoi": "wd_slice_number; atoi hides what it could not read",
    "atol": "wd_slice_number", "atoll": "wd_slice_number",
    "strtok": "wd_slice_cut", "strtok_r": "wd_slice_cut",
    "system": "posix_spawn", "popen": "posix_spawn",
    "asctime": "wd's own time texts", "ctime": "wd's own time texts",
    "gmtime": "gmtime_r", "localtime": "gmtime_r; times are UTC",
    "rand": "a generator with a seed",
    "setjmp": "a status", "longjmp": "a status",
}

# There, memory comes from base/mem.h, so that its absence can be tested.
ALLOCATORS = ("malloc", "calloc", "realloc", "reallocarray", "free", "strdup",
              "strndup", "asprintf", "vasprintf", "getline")
ALLOCATOR_FILES = ("agent/base/mem.c",)

COMMENT_OR_STRING = re.compile(
    r"/\*.*?\*/|//[^\n]*|"
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def blank(match):
    """As many lines, but no words."""
    return "\n" * match.group(0).count("\n") or " "


def code_of(root, name):
    text = "\n".join(line for _, line in tree.lines(root, name))
    return COMMENT_OR_STRING.sub(blank, text)


@functools.lru_cache
def pattern(names):
    # Not a member (x->free(...), x.free(...)) and not a longer name.
    return re.compile(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(")


def calls(names):
    return pattern(tuple(sorted(names)))


def check(name, number, line, names):
    return [f"{name}:{number}: {match.group(1)}: use {names[match.group(1)]}"
            for match in calls(names).finditer(line)]


def main():
    root = tree.root_of(sys.argv)
    found, looked = [], 0
    memory = dict.fromkeys(
        ALLOCATORS, "base/mem.h, so that its failure can be tested")
    for name in tree.files(root, (".c", ".h")):
        looked += 1
        names = dict(UNSAFE)
        if name.startswith(("agent/", "proto/", "client/")):
            names.update(BANNED)
            if name not in ALLOCATOR_FILES:
                names.update(memory)
        for number, line in enumerate(code_of(root, name).split("\n"), 1):
            found += check(name, number, line, names)
    tree.finish(found, looked)


main()
