#!/bin/sh
# Installs what is missing, and only that: packaging/deps.sh [build|test].
# build: what the programs need; test (the default): also what every test
# needs. Debian and Ubuntu by apt; on a Mac it names the brew line.
set -eu

what=${1:-test}

if [ "$(uname -s)" = Darwin ]; then
	echo "On a Mac, install what the build needs with:" >&2
	echo "  brew install cmake ninja pkg-config openssl@3 jansson" \
		"libyaml libevent protobuf-c protobuf sqlite check" >&2
	echo "The macOS backend is not there yet (see README.md)." >&2
	exit 3
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "deps.sh knows apt only. Needed: a C11 compiler, cmake 3.25," \
		"ninja, pkg-config, and the development files of OpenSSL 3," \
		"jansson 2.14, libyaml 0.2, libevent 2.1, protobuf-c 1.4" \
		"(with protoc-c), SQLite, Check" >&2
	exit 3
fi

# One line each: a file that shows that it is there (or a command), and the
# package that brings it.
build_needs='
cc gcc
/usr/include/stdlib.h libc6-dev
cmake cmake
ninja ninja-build
pkg-config pkg-config
protoc-c protobuf-c-compiler
/usr/include/protobuf-c/protobuf-c.h libprotobuf-c-dev
/usr/include/google/protobuf/timestamp.proto libprotobuf-dev
/usr/include/openssl/ssl.h libssl-dev
/usr/include/jansson.h libjansson-dev
/usr/include/yaml.h libyaml-dev
/usr/include/event2/bufferevent_ssl.h libevent-dev
/usr/include/sqlite3.h libsqlite3-dev
/usr/include/check.h check
'
test_needs='
clang clang
/usr/lib/llvm-14/lib/clang/*/include/sanitizer/asan_interface.h libclang-rt-14-dev
clang-14 clang-14
clang-format-14 clang-format-14
/usr/lib/llvm-14/bin/ld64.lld lld-14
python3 python3
/usr/lib/python3/dist-packages/google/protobuf python3-protobuf
protoc protobuf-compiler
node nodejs
npm npm
git git
ss iproute2
lsof lsof
unshare util-linux
systemd-analyze systemd
setpriv util-linux
openssl openssl
curl curl
ip iproute2
nft nftables
nginx nginx-light
haproxy haproxy
'

present() {
	case $1 in
	/*)	# shellcheck disable=SC2086 # the pattern may have a star
		[ -e "$(ls -d $1 2>/dev/null | head -1)" ] ;;
	*)	PATH=$PATH:/sbin:/usr/sbin command -v "$1" >/dev/null 2>&1 ;;
	esac
}

needs=$build_needs
[ "$what" = test ] && needs=$build_needs$test_needs
missing=$(echo "$needs" | while read -r sign package; do
	[ -z "$sign" ] || present "$sign" || echo "$package"
done | sort -u | tr '\n' ' ')
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "Missing: $missing" >&2
		echo "As root, run: apt-get install $missing" >&2
		exit 3
	fi
	sudo=sudo
fi
echo "deps: installing $missing" >&2

# The tests start the proxies by themselves, on ports of their own: as services
# they stay off, now (policy-rc.d(8)) and at the next boot.
policy=/usr/sbin/policy-rc.d
quiet() {
	case " $missing" in *" nginx-light "* | *" haproxy "*) ;; *) return 0 ;; esac
	[ -e "$policy" ] && return 0
	printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" >/dev/null
	$sudo chmod 755 "$policy"
	trap '$sudo rm -f "$policy"' EXIT
}
off() {
	case " $missing" in *" $2 "*) ;; *) return 0 ;; esac
	$sudo systemctl disable "$1" >/dev/null 2>&1 || true
}
quiet
export DEBIAN_FRONTEND=noninteractive
# Data goes to standard output, and this is none.
{
	$sudo apt-get update -q
	# shellcheck disable=SC2086 # a list of words
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
		--no-install-recommends $missing
	off nginx nginx-light
	off haproxy haproxy
} >&2 </dev/null
