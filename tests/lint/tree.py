"""What every lint needs: the files of the tree, and how to report."""

import os
import subprocess
import sys

SKIPPED = {".git", "build", "node_modules"}


def files(root, ends):
    """Paths below root, relative and sorted, whose names end with one of
    `ends`: what git tracks or would track, or without git every file."""
    try:
        out = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard"],
            check=True, capture_output=True).stdout
        names = [os.fsdecode(name) for name in out.split(b"\0") if name]
        inside = subprocess.run(
            ["git", "-C", root, "rev-parse", "--show-prefix"],
            check=True, capture_output=True).stdout.strip()
        if inside:
            raise OSError("a folder of somebody else's repository")
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, folders, here in os.walk(root):
            folders[:] = [f for f in folders if f not in SKIPPED]
            names += [os.path.relpath(os.path.join(folder, name), root)
                      for name in here]
    return sorted(name for name in set(names)
                  if name.endswith(tuple(ends)) and
                  os.path.isfile(os.path.join(root, name)))


def lines(root, name):
    """(number, text) of each line."""
    with open(os.path.join(root, name), encoding="utf-8",
              errors="surrogateescape") as file:
        return list(enumerate(file.read().split("\n"), 1))


def root_of(argv):
    """The tree to look at: the first argument, WD_SOURCE, or this one."""
    if len(argv) > 1:
        return argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    return os.environ.get("WD_SOURCE") or os.path.dirname(os.path.dirname(here))


def finish(found, looked):
    """Prints what was found and ends the program. Having looked at nothing is
    a failure as well."""
    for line in found:
        print(line)
    if looked == 0:
        print("there was nothing to look at")
    sys.exit(1 if found or looked == 0 else 0)
