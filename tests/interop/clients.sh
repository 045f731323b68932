#!/bin/sh
# Clients that are not ours against the real server over mutual TLS: one that
# protoc-gen-es generates for connect-node, one of Debian's Python protobuf, and
# curl; and Prometheus's own check of our metrics. What is fetched and generated
# goes into the build folder.
set -eu

here=$WD_SOURCE/tests/interop/clients
work=$WD_BUILD/tests/interop/clients

# Skipping is for machines without the tools; CI must have them.
skip() {
	echo "clients: $1" >&2
	[ "${CI:-}" = true ] && exit 1
	exit 77
}

for tool in npm protoc curl; do
	command -v $tool >/dev/null ||
		skip "$tool is not installed; see packaging/deps.sh"
done
# shellcheck source=tests/support/node.sh
. "$WD_SOURCE/tests/support/node.sh"
cache=${WD_CACHE:-$WD_BUILD/cache}
need_node "$WD_SOURCE/tests/support" "$cache" ||
	skip "connect-node needs Node.js 20"
# shellcheck source=tests/support/promtool.sh
. "$WD_SOURCE/tests/support/promtool.sh"
need_promtool "$cache" || skip "promtool could not be fetched"
need_modules "$here" "$cache/clients" || skip "npm could fetch no packages"

rm -rf "$work"
mkdir -p "$work/es" "$work/python"
ln -s "$cache/clients/node_modules" "$work/node_modules"
cp "$here/ask.mjs" "$here/package.json" "$work/"
cat >"$work/protoc-gen-es" <<END
#!/bin/sh
exec "$node" "$cache/clients/node_modules/@bufbuild/protoc-gen-es/bin/protoc-gen-es"
END
chmod 755 "$work/protoc-gen-es"
cd "$WD_SOURCE/proto"
protoc -I . --plugin="protoc-gen-es=$work/protoc-gen-es" \
	--es_out="$work/es" --es_opt=target=js,import_extension=js \
	--python_out="$work/python" \
	weightd/v1/*.proto
cd "$work"
python3 "$WD_SOURCE/tests/interop/clients/drive.py" "$node" "$work" "$promtool"
