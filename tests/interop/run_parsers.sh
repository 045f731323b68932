#!/bin/sh
# weightctl bundle against independent parsers from npm; see parsers/agree.mjs.
# The packages go into the build folder, never into the source tree.
set -eu

here=$WD_SOURCE/tests/interop/parsers
work=$WD_BUILD/tests/interop/parsers

# Skipping is for machines without the tools; CI must have them.
skip() {
	echo "parsers: $1" >&2
	[ "${CI:-}" = true ] && exit 1
	exit 77
}

command -v npm >/dev/null || skip "npm is not installed; see packaging/deps.sh"
# shellcheck source=tests/support/node.sh
. "$WD_SOURCE/tests/support/node.sh"
need_node "$WD_SOURCE/tests/support" "${WD_CACHE:-$WD_BUILD/cache}" ||
	skip "@huggingface/gguf needs Node.js 20"

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
"$node" agree.mjs "$WD_BUILD/client/weightctl" \
	"$WD_BUILD/tests/support/wd-mkbundle" "$bundles"
