#!/bin/bash
# Proves a port of this machine: packaging/try.sh [PORT [weightd's options]]
#
# Installs what the build needs, builds, and asks weightd. With PORT: whatever
# listens there; the exit code is weightd's. Without: a demonstration with a
# small generated model, whose weights are then exchanged behind the same
# name, in the same process on the same port; exit code 0 when the exchange was
# caught, there and over TLS by an agent with throw-away certificates. Nothing
# stays behind but build/.
set -euo pipefail

source=$(cd "$(dirname "$0")/.." && pwd)
build=$source/build/release
log=$source/build/try.log

say() {
	printf '\n\033[1m%s\033[0m\n' "$*" | plain >&2
}
# Colours are for terminals.
plain() {
	if [ -t 2 ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi
}

build_all() {
	mkdir -p "$source/build"
	cd "$source"
	cmake --preset release >"$log" 2>&1 &&
		cmake --build --preset release -j "$(nproc)" --target "$@" \
			>>"$log" 2>&1 && return
	tail -40 "$log" >&2
	echo "try.sh: the build failed; all of it is in $log" >&2
	exit 3
}

if [ -z "${WD_OWN_PIDS:-}" ]; then
	"$source/packaging/deps.sh" build
	say "Building (log: build/try.log)"
	[ $# -gt 0 ] || build_all weightd weightctl wd-modelserver wd-mkbundle
fi
if [ $# -gt 0 ]; then
	build_all weightd
	export STATE_DIRECTORY=${STATE_DIRECTORY:-$source/build/state}
	exec "$build/agent/weightd" --once "$@"
fi

# ---- the demonstration -----------------------------------------------------

# Whether every process of this machine can be looked into. Not in containers,
# nor where somebody forbids it: there no answer about all owners of a port is
# complete, and weightd says so.
sees_everything() {
	[ "$(id -u)" -eq 0 ] && readlink /proc/1/fd/0 >/dev/null 2>&1 &&
		[ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ]
}

own=()
if [ -n "${WD_OWN_PIDS:-}" ]; then
	own=(--pid-namespace-is-all)
elif ! sees_everything; then
	user=(--user --map-root-user)
	[ "$(id -u)" -ne 0 ] || user=()
	if unshare "${user[@]}" --pid --fork --mount-proc true 2>/dev/null; then
		say "Not every process can be seen here, so the demonstration" \
			"runs in a pid namespace of its own"
		WD_OWN_PIDS=1 exec unshare "${user[@]}" --pid --fork \
			--mount-proc --kill-child "$0"
	fi
	echo "try.sh: not every process can be seen here, and no namespace" \
		"is to be had: the answers will be UNVERIFIABLE" >&2
fi

folder=$(mktemp -d)
server=
agent=
clean_up() {
	for process in $agent $server; do
		kill "$process" 2>/dev/null || true
		wait "$process" || true
	done
	rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

export STATE_DIRECTORY=$folder/state
weightd=$build/agent/weightd
mkbundle=$build/tests/support/wd-mkbundle
"$mkbundle" "$folder/model.gguf" --name demo-7b --tensors 16 \
	--elements 65536 --seed 1 >&2
"$mkbundle" "$folder/other.gguf" --name demo-7b --tensors 16 \
	--elements 65536 --seed 2 >&2
digest=sha256:$(sha256sum "$folder/model.gguf" | cut -d ' ' -f 1)

mkfifo "$folder/commands" "$folder/answers"
"$build/tests/support/wd-modelserver" 0 --model "$folder/model.gguf" \
	--alias demo-7b <"$folder/commands" >"$folder/answers" &
server=$!
exec 7>"$folder/commands" 8<"$folder/answers"
read -r _ port _ <&8

# tell WORDS: tells the server and waits until it is done.
tell() {
	local answer
	echo "$*" >&7
	read -r answer <&8
	case $answer in
	ok*) ;;
	*) echo "try.sh: the demonstration server: $answer" >&2; exit 3 ;;
	esac
}

# What a client of the API hears, which is not what is true.
ask_api() {
	local line
	exec 9<>"/dev/tcp/127.0.0.1/$port" || return 0
	printf 'GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n' >&9
	while read -r line <&9; do
		case $line in "{"*) echo "API on port $port says: $line" ;; esac
	done
	exec 9<&-
}

# prove EXPECTED-EXIT-CODE: weightd, with the exit code shown and compared.
prove() {
	local code=0
	echo "\$ weightd --once $port --digest $digest ${own[*]}"
	"$weightd" --once "$port" --digest "$digest" "${own[@]}" || code=$?
	echo "exit code $code"
	[ "$code" -eq "$1" ] && return
	echo "try.sh: expected exit code $1" >&2
	exit 3
}

say "1. A server on port $port serves the model demo-7b"
ask_api
prove 0

say "2. The weights are exchanged behind the same name, port and process"
tell swap "$folder/other.gguf"
ask_api
prove 1

# ---- the same over the network ----------------------------------------------

weightctl=$build/client/weightctl

# A port of loopback that nobody has.
free_port() {
	local port
	while :; do
		port=$((20000 + RANDOM % 10000))
		(: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	echo "$port"
}

# Where only one user is there, the agent's processes cannot have their own.
users() {
	local count
	read -r _ _ count </proc/self/uid_map
	if [ "$(id -u)" -eq 0 ] && [ "$count" -gt 65536 ]; then
		echo "{ front: 64801, reader: 64802 }"
	else
		echo "{ front: same, reader: same }"
	fi
}

start_agent() {
	agent_port=$(free_port)
	{
		"$weightctl" pki init --dir "$folder/ca"
		"$weightctl" pki issue localhost --san 127.0.0.1 \
			--dir "$folder/ca" --out "$folder"
		"$weightctl" pki issue bench --role client \
			--dir "$folder/ca" --out "$folder"
	} >"$folder/pki.log" 2>&1 || {
		cat "$folder/pki.log" >&2
		exit 3
	}
	cat >"$folder/weightd.yaml" <<-END
	version: 1
	listen: { addresses: [127.0.0.1], port: $agent_port }
	tls: { certificate: $folder/localhost.crt, key: $folder/localhost.key, ca: $folder/ca/ca.crt }
	roles: { work: ["*"] }
	users: $(users)
	state_dir: $folder/state
	pid_namespace_is_all: $([ -n "${WD_OWN_PIDS:-}" ] && echo true || echo false)
	END
	chmod 644 "$folder/weightd.yaml"
	"$weightd" --config "$folder/weightd.yaml" 2>"$folder/agent.log" &
	agent=$!
	until grep -q "^weightd: ready" "$folder/agent.log"; do
		if ! kill -0 "$agent" 2>/dev/null; then
			cat "$folder/agent.log" >&2
			echo "try.sh: the agent did not start" >&2
			exit 3
		fi
		sleep 0.1
	done
}

# ask EXPECTED-EXIT-CODE: weightctl, with the exit code shown and compared.
ask() {
	local code=0
	echo "\$ weightctl attest localhost:$port --agent-port $agent_port" \
		"--digest $digest --wait"
	"$weightctl" attest "localhost:$port" --agent-port "$agent_port" \
		--ca "$folder/ca/ca.crt" --cert "$folder/bench.crt" \
		--key "$folder/bench.key" --digest "$digest" --wait || code=$?
	echo "exit code $code"
	[ "$code" -eq "$1" ] && return
	cat "$folder/agent.log" >&2
	echo "try.sh: expected exit code $1" >&2
	exit 3
}

say "3. The same over the network: an agent with certificates made just now"
start_agent
ask 1

say "4. The right weights are back"
tell swap "$folder/model.gguf"
ask 0

say "The exchange was caught: the name is the same, the weights are not."
