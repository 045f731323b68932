#!/bin/sh
# The schema is clean under buf's default lint rules, and the linter can fail.
# buf comes from npm into the build tree, by the lock file beside this script.
set -eu

source=${WD_SOURCE:?}
work=${WD_BUILD:?}/tests/lint/buf
command -v npm >/dev/null || {
	echo "npm is not installed"
	exit 77
}
mkdir -p "$work"
if ! cmp -s "$source/tests/lint/buf/package-lock.json" "$work/installed.json"
then
	cp "$source/tests/lint/buf/package.json" \
	    "$source/tests/lint/buf/package-lock.json" "$work"
	(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --silent)
	cp "$work/package-lock.json" "$work/installed.json"
fi
buf() {
	node "$work/node_modules/@bufbuild/buf/bin/buf" "$@"
}

buf lint "$source/proto"

# The same schema with one zero value misnamed must be refused.
spoiled=$work/spoiled
rm -rf "$spoiled"
mkdir -p "$spoiled"
cp -R "$source/proto/buf.yaml" "$source/proto/weightd" "$spoiled"
sed -i.orig 's/FLAG_UNSPECIFIED/FLAG_NOTHING/' \
    "$spoiled/weightd/v1/attestation.proto"
if buf lint "$spoiled" >/dev/null; then
	echo "buf lint passes a schema that is not clean"
	exit 1
fi
