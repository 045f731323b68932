#!/bin/sh
# One file of tests against the built weightd: run.sh FILE
cd "$(dirname "$0")" || exit 1
set -- python3 -B -m unittest -v "${1%.py}"
if [ "$(id -u)" = 0 ] && unshare -fp --mount-proc true 2>/dev/null; then
	WD_OWN_PIDS=1 exec unshare -fp --mount-proc --kill-child "$@"
fi
exec "$@"
