#!/bin/bash
# A real engine (llama.cpp inside node-llama-cpp) serves generated models, and
# weightd has to tell what it loaded: with mmap every tensor is RESIDENT; read
# into memory it is INFERRED; Q4_K_M-like, where the engine keeps repacked
# copies and drops their part of the mapping, never RESIDENT.
set -euo pipefail

source=${WD_SOURCE:-$(cd "$(dirname "$0")/../../.." && pwd)}
build=${WD_BUILD:-$source/build/dev}
cache=${WD_CACHE:-$build/cache}/engine
here=$source/tests/integration/engine
weightd=$build/agent/weightd

# Skipping is for machines without the tools; CI must have them.
skip() {
	echo "engine: $1"
	[ "${CI:-}" = true ] && exit 1
	exit 77
}
# Some machines have processes into which even root may not look (a container's
# first one): no answer about owners is complete there, and rightly so. In a
# pid namespace of its own the engine is alone with weightd.
if [ "$(id -u)" -eq 0 ] && [ -z "${WD_OWN_PIDS:-}" ] &&
	unshare --pid --fork --mount-proc true 2>/dev/null; then
	WD_OWN_PIDS=1 exec unshare --pid --fork --mount-proc --kill-child "$0"
fi
own=
[ -z "${WD_OWN_PIDS:-}" ] || own=--pid-namespace-is-all

[ -x "$weightd" ] || { echo "engine: $weightd is not built"; exit 1; }
[ "$(uname -m)" = x86_64 ] || { echo "engine: x86-64 only"; exit 77; }
command -v npm >/dev/null || skip "npm is not installed; see packaging/deps.sh"

# shellcheck source=tests/support/node.sh
. "$source/tests/support/node.sh"
need_node "$source/tests/support" "${WD_CACHE:-$build/cache}" ||
	skip "the engine needs Node.js 20"
need_modules "$here" "$cache" || skip "the engine could not be fetched"
cp "$here/serve.mjs" "$cache/"

folder=$(mktemp -d)
engine=
stop() {
	[ -n "$engine" ] || return 0
	kill "$engine" 2>/dev/null || true
	wait "$engine" 2>/dev/null || true
	engine=
}
trap 'stop; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
export STATE_DIRECTORY=$folder/state
# The file must be older than the process by more than a clock tick.
failures=0

# start MODEL OPTIONS...: sets `engine` (its pid) and `port`.
start() {
	local ready
	rm -f "$folder/answers"
	mkfifo "$folder/answers"
	# Its standard input stays open until it is killed.
	"$node" "$cache/serve.mjs" "$@" <"$folder/hold" >"$folder/answers" &
	engine=$!
	exec 8<"$folder/answers"
	if ! read -r -t 60 ready port _ <&8 || [ "$ready" != ready ]; then
		echo "engine: it did not start with $*"
		exit 1
	fi
}
mkfifo "$folder/hold"
exec 7<>"$folder/hold"

# expect WANTED-CODE GRADE ENCODING OPTIONS...: asks weightd and compares.
expect() {
	local wanted=$1 grade=$2 encoding=$3 code=0
	shift 3
	# shellcheck disable=SC2086 # nothing, or one option
	"$weightd" --once "$port" --format json $own "$@" >"$folder/answer.json" ||
		code=$?
	if [ "$code" -ne "$wanted" ]; then
		echo "not ok: $encoding: exit code $code, expected $wanted: $*"
		failures=$((failures + 1))
	fi
	python3 "$here/check.py" "$folder/answer.json" "$folder/facts.json" \
		"$folder/$encoding.gguf" "$engine" "$grade" "$manner" ||
		failures=$((failures + 1))
}

# serve ENCODING GRADE OPTIONS-OF-SERVE...
serve() {
	local encoding=$1 grade=$2 model=$folder/$1.gguf
	local parameters digest proven=4 wrong=4
	shift 2
	manner=mmap
	[ $# -eq 0 ] || manner='read'
	python3 "$here/make_llama.py" "$model" --encoding "$encoding" \
		--name "tiny $encoding" >"$folder/facts.json"
	digest=sha256:$(sha256sum "$model" | cut -d ' ' -f 1)
	parameters=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["parameters"])' "$folder/facts.json")
	start "$model" "$@"
	# No better than INFERRED proves nothing, also when no more is asked for:
	# nobody knows yet whether this engine can swap its weights (check
	# ENGINE). A wrong pin must not match either way.
	[ "$grade" = RESIDENT ] && proven=0 && wrong=1
	echo "== $encoding $* (pid $engine): $grade"
	expect "$proven" "$grade" "$encoding"
	expect "$proven" "$grade" "$encoding" --params "$parameters"
	expect "$proven" "$grade" "$encoding" --params "$parameters" \
		--min-grade INFERRED
	expect "$proven" "$grade" "$encoding" --digest "$digest" \
		--min-grade INFERRED
	expect "$wrong" "$grade" "$encoding" --params $((parameters + 1)) \
		--min-grade INFERRED
	stop
}

serve F16 RESIDENT
serve F16 INFERRED --no-mmap
serve Q8_0 RESIDENT
serve Q4_K INFERRED
serve Q4_K INFERRED --no-mmap
[ "$failures" -eq 0 ]
