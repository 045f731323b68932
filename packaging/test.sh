#!/bin/bash
# Installs, builds and runs every test: packaging/test.sh [--quick] [--mutants]
#
#   --quick     gcc only; otherwise also clang, and clang with ASan and UBSan
#   --mutants   then a fixed sample of the mutants of tests/mutants/
#
# The last line says "N passed, N failed"; the exit code is 0 only without a
# failure. Everything that is written is below build/.
set -uo pipefail

source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source" || exit 2
quick=no
mutants=no
for option; do
	case $option in
	--quick) quick=yes ;;
	--mutants) mutants=yes ;;
	*) echo "usage: packaging/test.sh [--quick] [--mutants]" >&2; exit 2 ;;
	esac
done

passed=0
failed=0
skipped=0
results=$source/build/results
jobs=$(nproc)
rm -rf "$results"
mkdir -p "$results" build/tmp
# What npm and the lints fetch is shared by the builds; what the tests write
# stays below build/ too.
export WD_CACHE=$source/build/cache
export XDG_CACHE_HOME=$source/build/cache/xdg
export npm_config_cache=$source/build/cache/npm
export npm_config_update_notifier=false
export TMPDIR=$source/build/tmp
export PYTHONDONTWRITEBYTECODE=1
export STATE_DIRECTORY=$source/build/tmp/state

fail() {
	echo "FAILED: $1"
	failed=$((failed + 1))
}

# run_tests PRESET CTEST-OPTIONS...
run_tests() {
	local preset=$1 junit=$results/$1.xml all bad off
	shift
	ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" \
		--output-junit "$junit" "$@" </dev/null
	if [ ! -s "$junit" ]; then
		fail "$preset: ctest gave no result"
		return
	fi
	all=$(grep -c '<testcase ' "$junit")
	bad=$(grep -c '<testcase .*status="fail"' "$junit")
	off=$(grep -c '<testcase .*status="\(notrun\|disabled\)"' "$junit")
	passed=$((passed + all - bad - off))
	failed=$((failed + bad))
	skipped=$((skipped + off))
	# A test that was left out says which and why.
	[ "$off" -eq 0 ] || grep -A12 'status="notrun"\|status="disabled"' \
		"$junit" | sed -n 's/.*<testcase name="\([^"]*\)".*/skipped: \1/p
			s/^.*<system-out>/  /p'
	[ "$all" -gt 0 ] || fail "$preset: there are no tests"
}

# build_and_test PRESET CTEST-OPTIONS...
build_and_test() {
	local preset=$1
	echo "== $preset: build =="
	if ! cmake --preset "$preset" >"$results/$preset.log" 2>&1 ||
		! cmake --build "build/$preset" -j "$jobs" \
			>>"$results/$preset.log" 2>&1; then
		grep -E 'error|Error|FAILED' "$results/$preset.log" | head -40
		fail "$preset does not build; see $results/$preset.log"
		return
	fi
	echo "== $preset: tests =="
	run_tests "$@"
}

if ! packaging/deps.sh test; then
	fail "dependencies could not be installed"
	echo "$passed passed, $failed failed"
	exit 1
fi

# Lints, the other parsers and the real engine say the same under every
# compiler: once is enough.
build_and_test dev
if [ "$quick" = no ]; then
	build_and_test clang -LE 'lint|house|interop|engine'
	build_and_test asan -LE 'lint|house|interop|engine'
fi
if [ "$mutants" = yes ]; then
	echo "== mutants: sample =="
	if python3 tests/mutants/run.py --sample 10 --seed 1 \
		--work build/mutants </dev/null; then
		passed=$((passed + 1))
	else
		fail "a mutant of the sample survived"
	fi
fi
rm -rf build/tmp
[ "$skipped" -eq 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
