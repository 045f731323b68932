#!/bin/sh
# weightctl bundle against independent parsers from npm; see parsers/agree.mjs.
# The packages go into the build folder, never into the source tree.
set -eu

here=$WD_SOURCE/tests/interop/parsers
work=$WD_BUILD/tests/interop/parsers

skip() {
	echo "skipped: $1" >&2
	exit 77
}

command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] ||
	skip "@huggingface/gguf needs node 20 or later"

mkdir -p "$work"
cp "$here/package.json" "$here/agree.mjs" "$work/"
if ! cmp -s "$here/package-lock.json" "$work/installed.json"; then
	cp "$here/package-lock.json" "$work/"
	(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund)
	cp "$here/package-lock.json" "$work/installed.json"
fi

bundles=$(mktemp -d "$work/bundles.XXXXXX")
trap 'rm -rf "$bundles"' EXIT
cd "$work"
node agree.mjs "$WD_BUILD/client/weightctl" \
	"$WD_BUILD/tests/support/wd-mkbundle" "$bundles"
