#!/bin/sh
# Each header compiles alone, included twice, with every compiler there is.
# usage: headers_alone.sh [ROOT]; WD_BUILD is a built tree, for the generated
# headers.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-${WD_SOURCE:-$here/../..}}
flags="-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -fsyntax-only
	-Iagent -Iproto -Iclient -Iinclude -Itests
	$(pkg-config --cflags jansson libprotobuf-c sqlite3 check)"
if [ -n "${WD_BUILD:-}" ]; then
	flags="$flags -isystem $WD_BUILD/proto/generated"
fi
cd "$root" || exit 1
system=$(uname -s | tr '[:upper:]' '[:lower:]')
failed=0
looked=0

# Headers of another system's room cannot compile here.
is_foreign()
{
	case $1 in
	agent/host/linux/*) [ "$system" != linux ] ;;
	agent/host/darwin/*) [ "$system" != darwin ] ;;
	*) return 1 ;;
	esac
}

for compiler in gcc clang; do
	command -v "$compiler" >/dev/null || continue
	for header in $(find agent proto client include tests/support \
	    -name '*.h' | sort); do
		is_foreign "$header" && continue
		looked=$((looked + 1))
		name=${header#*/} # as it is included
		printf '#include "%s"\n#include "%s"\nint only;\n' \
		    "$name" "$name" |
		    "$compiler" $flags -x c - || {
			echo "$header does not compile alone with $compiler"
			failed=1
		}
	done
done
if [ "$looked" -eq 0 ]; then
	echo "there was nothing to look at"
	exit 1
fi
exit $failed
