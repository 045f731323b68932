#!/usr/bin/env python3
"""Shows that each lint passes a good tree and fails a bad one.

A small tree is written for each case; a case changes one file of it and names
the words that the lint must print.
"""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

README = """\
| room | folder | what | may use |
|---|---|---|---|
| base | agent/base | x | |
| store | agent/store | x | base |
| host | agent/host | x | base |
| main | agent | x | base, store, host |

| header | rooms |
|---|---|
| sqlite3.h | store |
| openssl/ | base |
"""

BASE_H = """\
#ifndef WD_BASE_A_H
#define WD_BASE_A_H

int wd_a(void);

#endif
"""

GOOD = {
    "agent/README.md": README,
    "agent/base/a.h": BASE_H,
    "agent/base/a.c": '#include "base/a.h"\n\n#include <openssl/evp.h>\n',
    "agent/store/s.c": '#include "base/a.h"\n\n#include <sqlite3.h>\n',
    "agent/host/linux/l.c": "#ifdef __linux__\n#include <linux/fs.h>\n#endif\n",
    "agent/main.c": '#include "base/a.h"\n',
    "tests/unit/t.c": "START_TEST(one)\n",
    "tests/FIELD-CASES.md": "| A1 | x | `unit/t.c` one |\n"
                            "| A2 | x | not on this system |\n",
}

LONG = "int\nlong_one(void)\n{\n" + "\ta();\n" * 91 + "}\n"

# lint, file, its new text (None: as it is), words that must be printed
CASES = [
    ("layers.py", "agent/base/a.c", '#include "store/s.h"\n', "not found"),
    ("layers.py", "agent/store/s.c", '#include "host/h.h"\n',
     "store may not use host"),
    ("layers.py", "agent/base/a.c", '  #  include "host/h.h"\n',
     "base may not use host"),
    ("layers.py", "agent/host/h.c", "#include <sqlite3.h>\n",
     "belongs to store"),
    ("layers.py", "agent/store/s.c", "#include <openssl/sha.h>\n",
     "belongs to base"),
    ("layers.py", "agent/base/a.c", "#ifdef __APPLE__\n#endif\n",
     "operating system"),
    ("layers.py", "agent/base/a.c", "#if 1 && defined(__linux__)\n#endif\n",
     "operating system"),
    ("layers.py", "agent/host/fixture/f.c", "#ifdef __linux__\n#endif\n",
     "operating system"),
    ("layers.py", "agent/base/a.c", "#include <linux/fs.h>\n", "one system"),
    ("layers.py", "agent/base/a.c", "x = json_loadb(a, 1, 0, 0);\n",
     "parses JSON"),
    ("layers.py", "proto/x.c", "int x;\n", "in no room"),
    ("layers.py", "agent/README.md",
     README.replace("| base | agent/base | x | |",
                    "| base | agent/base | x | main |"), "circle"),
    ("layers.py", "agent/README.md", README.replace("| base, store, host |",
                                                    "| base, stone |"),
     "unknown room stone"),
    ("banned.py", "agent/base/a.c", "\tstrcpy(a, b);\n", "strcpy"),
    ("banned.py", "agent/base/a.c", "\tx = atoi (b);\n", "atoi"),
    ("banned.py", "agent/base/a.c", "\tp = malloc(3);\n", "malloc"),
    ("banned.py", "tests/t.c", "\tsprintf(a, b);\n", "sprintf"),
    ("banned.py", "agent/base/a.c", "\t/* \" */ gets(a); /* \" */\n", "gets"),
    ("banned.py", "agent/base/a.c", None, None),
    ("banned.py", "agent/base/a.c",
     "/* strcpy(a, b) */ x->free(a);\nchar s[] = \"gets(x)\"; my_atoi(x);\n",
     None),
    ("banned.py", "tests/t.c", "\tfree(malloc(atoi(x)));\n", None),
    ("words.py", "agent/base/a.c", "/* TO" "DO: later */\n", "a note"),
    ("words.py", "tests/x.sh", "# FIX" "ME\n", "a note"),
    ("words.py", "agent/base/a.c", "<<<<<<< HEAD\n", "merge"),
    ("words.py", "agent/base/a.c", "int a; \n", "blanks"),
    ("words.py", "agent/base/a.c", "int a;", "no newline"),
    ("words.py", "agent/base/a.c", 'char t[] = "/tmp/a.XXXXXX";\n', None),
    ("shape.py", "agent/base/a.c", "\n" * 651, "lines; at most"),
    ("shape.py", "agent/base/a.c", LONG, "long_one has 91 lines"),
    ("shape.py", "agent/base/a.c", LONG.replace("\ta();\n", "", 1), None),
    ("field_cases.py", "tests/unit/t.c", "START_TEST(one_more)\n",
     "no test one"),
    ("field_cases.py", "tests/FIELD-CASES.md", "| A1 | x | `unit/u.c` one |\n",
     "no test one"),
    ("field_cases.py", "tests/FIELD-CASES.md", "| A1 | x | `unit/t.c` |\n",
     "is wanted"),
    ("field_cases.py", "tests/FIELD-CASES.md",
     "| A1 | x | y |\n| A1 | x | z |\n", "twice"),
    ("format.sh", "agent/base/a.h", None, None),
    ("format.sh", "agent/base/a.c", "int a;   int b;\n", "clang-format"),
    ("headers_alone.sh", "agent/base/a.h", None, None),
    ("headers_alone.sh", "agent/base/b.h", "size_t wd_b(void);\n",
     "agent/base/b.h does not compile alone"),
    ("headers_alone.sh", "agent/base/b.h", "struct wd_b { int b; };\n",
     "agent/base/b.h does not compile alone"),
]


def write(root, name, text):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(lint, root):
    environment = dict(os.environ)
    environment.pop("WD_SOURCE", None)
    done = subprocess.run([os.path.join(HERE, lint), root], text=True,
                          capture_output=True, env=environment, timeout=60)
    return done.returncode, done.stdout + done.stderr


def check(lint, name, text, words):
    """None, or what was wrong."""
    with tempfile.TemporaryDirectory() as root:
        for path, content in GOOD.items():
            write(root, path, content)
        write(root, "agent/host/h.h", BASE_H.replace("A_H", "H_H"))
        for folder in ("proto", "client", "include", "tests/support"):
            os.makedirs(os.path.join(root, folder))
        if lint == "format.sh":
            with open(os.path.join(HERE, "../../.clang-format"),
                      encoding="utf-8") as style:
                write(root, ".clang-format", style.read())
        if text is not None:
            write(root, name, text)
        code, said = run(lint, root)
    if code == 77:
        return None
    if words is None:
        return None if code == 0 else f"a good tree fails: {said}"
    if code == 0 or code == 126 or code == 127:
        return f"exit code {code}: {said}"
    return None if words in said else f"\"{words}\" is not in: {said}"


def check_nothing(lint):
    """An empty tree must not pass: nothing was looked at."""
    with tempfile.TemporaryDirectory() as root:
        write(root, "agent/README.md", README)
        if lint == "words.py":
            os.unlink(os.path.join(root, "agent/README.md"))
        for folder in ("proto", "client", "include", "tests/support"):
            os.makedirs(os.path.join(root, folder))
        code, said = run(lint, root)
    return None if code != 0 else f"an empty tree passes: {said}"


def main():
    failed = 0
    cases = [(lint, f"{lint} {name} {words}", check(lint, name, text, words))
             for lint, name, text, words in CASES]
    lints = sorted({case[0] for case in CASES})
    # The good tree as a whole, and nothing at all.
    cases += [(lint, f"{lint} good tree",
               check(lint, "agent/base/a.c", None, None)) for lint in lints]
    cases += [(lint, f"{lint} empty tree", check_nothing(lint))
              for lint in lints]
    for _, title, wrong in cases:
        if wrong:
            failed += 1
            print(f"{title}: {wrong}")
    print(f"{len(cases)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


main()
