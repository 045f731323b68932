#!/bin/sh
# One file of tests against the built weightd as a service, in a pid namespace
# of its own where that is allowed: run.sh FILE
cd "$(dirname "$0")" || exit 1
set -- python3 -B "$1"
if [ "$(id -u)" = 0 ] && unshare -fp --mount-proc true 2>/dev/null; then
	WD_OWN_PIDS=1 exec unshare -fp --mount-proc --kill-child "$@"
fi
exec "$@"
