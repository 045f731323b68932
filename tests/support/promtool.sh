# shellcheck shell=sh
# promtool.sh - Prometheus's own check of a page of metrics.
#
# Debian ships it in the package of the server, which would be started when it
# is installed; so where it is missing the package is only unpacked.

# need_promtool CACHE: sets `promtool` to its path. Returns 1 when there is
# none, after saying why.
need_promtool() {
	promtool=$(command -v promtool || true)
	[ -n "$promtool" ] && return 0
	promtool=$1/promtool
	[ -x "$promtool" ] && return 0
	mkdir -p "$1" || return 1
	promtool_new=$(mktemp -d "$1/promtool.XXXXXX") || return 1
	if ! (cd "$promtool_new" && apt-get -q download prometheus &&
		dpkg -x prometheus_*.deb .) >"$promtool_new/log" 2>&1; then
		tail -5 "$promtool_new/log" >&2
		rm -rf "$promtool_new"
		return 1
	fi
	mv "$promtool_new/usr/bin/promtool" "$promtool"
	rm -rf "$promtool_new"
}
