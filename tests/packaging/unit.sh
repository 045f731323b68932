#!/bin/sh
# Installs below a folder of its own and holds the systemd unit against
# systemd-analyze: it verifies, and its exposure stays below a cap. Neither
# needs a running systemd.
set -eu

most=45 # tenths; it was 40
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

fail() {
	echo "unit.sh: $*" >&2
	exit 1
}

DESTDIR=$root cmake --install "$WD_BUILD" >/dev/null
unit=$(find "$root" -name weightd.service)
[ -n "$unit" ] || fail "no unit was installed"
for name in weightd.8 weightd.yaml.5 weightctl.1 weightd.yaml \
	weightd.schema.json weightd weightctl; do
	[ -n "$(find "$root" -name "$name" -type f)" ] ||
		fail "$name was not installed"
done
[ -n "$(find "$root" -path '*sysusers.d/weightd.conf')" ] ||
	fail "no users are made"

# verify wants the programs where the unit says; here they are below $root.
# A copy says so.
mkdir "$root/units"
program=$(find "$root" -name weightd -type f -perm -100)
sed "s|^\\(Exec[A-Za-z]*\\)=[^ ]*/weightd |\\1=$program |" "$unit" \
	>"$root/units/weightd.service"
cmp -s "$unit" "$root/units/weightd.service" &&
	fail "the unit does not start what was installed"
said=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no \
	--recursive-errors=no "$root/units/weightd.service" 2>&1) ||
	fail "systemd-analyze verify: $said"
[ -z "$said" ] || fail "systemd-analyze verify: $said"
systemd-analyze security --offline=true --threshold=$most --no-pager \
	"$root/units/weightd.service" >"$root/security" ||
	fail "exposure above $most: $(tail -1 "$root/security")"
tail -1 "$root/security"

# What would blind the agent must not come in by a well-meant edit.
for word in ProtectProc ProtectHome PrivateTmp PrivateNetwork PrivateUsers \
	PrivatePIDs ProcSubset; do
	! grep -q "^$word=" "$unit" || fail "$word hides what must be seen"
done
# The kernel's number of each capability that the observer keeps.
for cap in CAP_SYS_PTRACE CAP_DAC_READ_SEARCH CAP_CHECKPOINT_RESTORE \
	CAP_SYS_ADMIN CAP_LEASE CAP_SETUID CAP_SETGID CAP_SETPCAP CAP_KILL; do
	grep -q "^CapabilityBoundingSet=.*$cap" "$unit" || fail "$cap is gone"
	grep -q "WD_CAP($cap)" "$WD_SOURCE/agent/role/linux/confine.c" ||
		fail "$cap is not kept"
done
