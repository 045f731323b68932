#!/bin/sh
# clang-format over every C file, without changing one.
# usage: format.sh [ROOT]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-${WD_SOURCE:-$here/../..}}
format=${CLANG_FORMAT:-clang-format-14}

if ! command -v "$format" >/dev/null; then
	echo "$format is not installed (apt install clang-format-14)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
fi
# Other versions lay the same file out in other ways.
if ! "$format" --version | grep -q 'version 14\.'; then
	echo "clang-format 14 is needed; this is $("$format" --version)"
	exit 77
fi
cd "$root"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
python3 - "$here" "$root" >"$list" <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
import tree
names = tree.files(sys.argv[2], (".c", ".h"))
if not names:
    sys.exit("there was nothing to look at")
sys.stdout.buffer.write(b"".join(os.fsencode(name) + b"\0" for name in names))
END
xargs -0 "$format" --dry-run -Werror <"$list"
