#!/usr/bin/env python3
"""Shows that run.py tells killed, surviving, broken and misplaced mutants
apart, on a project of one function."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES C)
enable_testing()
add_executable(test_one one.c test.c)
add_test(NAME unit.one COMMAND test_one)
add_executable(test_bad bad.c)
add_test(NAME unit.bad COMMAND test_bad)
add_test(NAME unit.skipped COMMAND sh -c "exit 77")
set_tests_properties(unit.skipped PROPERTIES SKIP_RETURN_CODE 77)
"""
ONE = """\
int one(int a)
{
	return a < 1 ? 1 : a;
}
int two(int a) { return a + 2; }
"""
TEST = """\
int one(int a);
int main(void) { return one(0) == 1 && one(7) == 7 ? 0 : 1; }
"""
BAD = "int main(void) { return 1; }\n"

# lines of a list, more arguments, exit code, words in the output
CASES = [
    (["kill\tone.c\ta < 1\ta < 9\tunit.one"], ["--all"], 0, "1 killed"),
    (["live\tone.c\ta + 2\ta + 3\tunit.one"], ["--all"], 1, "SURVIVED  live"),
    (["kill\tone.c\ta < 1\ta < 9\tunit.one",
      "live\tone.c\ta + 2\ta + 3\tunit.one"], ["--all"], 1,
     "1 killed, 1 survived"),
    (["build\tone.c\ta + 2\ta +\tunit.one"], ["--all"], 2, "does not build"),
    (["twice\tone.c\tint a\tlong a\tunit.one"], ["--all"], 2,
     "occurs 2 times"),
    (["none\tone.c\tb < 1\tb\tunit.one"], ["--check"], 2, "occurs 0 times"),
    (["file\ttwo.c\ta < 1\ta\tunit.one"], ["--check"], 2, "no file two.c"),
    (["short\tone.c\ta < 1"], ["--check"], 2, "3 fields"),
    (["same\tone.c\ta < 1\ta < 1\tunit.one"], ["--check"], 2,
     "changes nothing"),
    (["kill\tone.c\ta < 1\ta < 9\tunit.one"] * 2, ["--check"], 2, "is taken"),
    (["# a remark", ""], ["--check"], 2, "no mutants"),
    (["test\tone.c\ta < 1\ta < 9\tunit.other"], ["--all"], 2,
     "no test is called unit.other"),
    (["fails\tone.c\ta < 1\ta < 9\tunit.bad"], ["--all"], 2,
     "fail without a mutant: unit.bad"),
    (["skip\tone.c\ta < 1\ta < 9\tunit.skipped"], ["--all"], 1,
     "SKIPPED"),
    (["hang\tone.c\treturn a < 1\tfor (;;) ; return a < 1\tunit.one"],
     ["--all", "--timeout", "2"], 0, "1 killed"),
    (["kill\tone.c\ta < 1\ta < 9\tunit.one",
      "live\tone.c\ta + 2\ta + 3\tunit.one"], ["--only", "kill"], 0,
     "1 of 2 mutants: 1 killed"),
    (["kill\tone.c\ta < 1\ta < 9\tunit.one"], ["--only", "x"], 2,
     "no mutant's name"),
    ([f"m{n}\tone.c\ta < 1\ta < 9\tunit.one" for n in range(9)],
     ["--sample", "2"], 0, "2 of 9 mutants: 2 killed"),
]


def write(root, name, text):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def check(lines, arguments, code, words):
    with tempfile.TemporaryDirectory() as root:
        write(root, "CMakeLists.txt", CMAKE)
        write(root, "one.c", ONE)
        write(root, "test.c", TEST)
        write(root, "bad.c", BAD)
        write(root, "tests/mutants/small.list", "\n".join(lines) + "\n")
        done = subprocess.run(
            [os.path.join(HERE, "run.py"), "--root", root, *arguments],
            text=True, capture_output=True)
        with open(os.path.join(root, "one.c"), encoding="utf-8") as file:
            if file.read() != ONE:
                return "the tree itself was changed"
    said = done.stdout + done.stderr
    if done.returncode != code or words not in said:
        return f"exit code {done.returncode}, wanted {code} and " \
               f"\"{words}\":\n{said}"
    return None


def main():
    failed = 0
    for lines, arguments, code, words in CASES:
        wrong = check(lines, arguments, code, words)
        if wrong:
            failed += 1
            print(f"{lines[0]}: {wrong}")
    print(f"{len(CASES)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


main()
