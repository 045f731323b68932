#!/bin/bash
# Proves the two commands of README.md on a bare Debian 12: a minimal
# debootstrap tree with this clone in it, and nothing installed.
#
#     sudo tests/packaging/bare.sh [COMMAND...]
#
# Without COMMAND: packaging/try.sh, then packaging/test.sh --quick. The tree
# is made anew for each run from a cached one (WD_BARE_CACHE, else
# XDG_CACHE_HOME, else build/). Needs root, debootstrap and about 4 GB. Not
# part of ctest.
#
# apt inside works as apt here does: its sources, keys, preferences, proxy and
# resolver are copied in when the tree is used, and are no part of the clone.
set -euo pipefail

source=$(cd "$(dirname "$0")/../.." && pwd)
cache=${WD_BARE_CACHE:-${XDG_CACHE_HOME:-$source/build}/weightd-bare}
mirror=${WD_BARE_MIRROR:-}
base=$cache/bookworm.tar
tree=

[ "$(id -u)" -eq 0 ] || { echo "bare.sh: run it as root" >&2; exit 2; }
command -v debootstrap >/dev/null || {
	echo "bare.sh: apt-get install debootstrap" >&2
	exit 2
}

unmount() {
	if mountpoint -q "$tree"; then
		umount -R "$tree" || umount -R -l "$tree"
	fi
}
# Never removes a tree in which something is still mounted.
clean_up() {
	[ -n "$tree" ] || return 0
	unmount
	if grep -qF " $tree" /proc/self/mountinfo; then
		echo "bare.sh: still mounted below $tree: not removed" >&2
		return 1
	fi
	rm -rf --one-file-system "$tree"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# The bare system, once.
if [ ! -s "$base" ]; then
	mkdir -p "$cache"
	tree=$(mktemp -d "$cache/base.XXXXXX")
	debootstrap --variant=minbase bookworm "$tree" ${mirror:+"$mirror"}
	tar -C "$tree" --one-file-system -cf "$base.new" .
	mv "$base.new" "$base"
	clean_up
fi

tree=$(mktemp -d "$cache/tree.XXXXXX")
tar -C "$tree" -xpf "$base"
# mktemp makes it 0700, which no root folder is: other users live there too.
chmod 755 "$tree"

# How this machine reaches its packages.
for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/auth.conf.d \
	/etc/apt/preferences.d /etc/apt/trusted.gpg.d /etc/apt/keyrings \
	/usr/share/keyrings /usr/local/share/ca-certificates /etc/ssl/certs; do
	[ -e "$file" ] || continue
	rm -rf "${tree:?}$file"
	mkdir -p "$tree$(dirname "$file")"
	cp -aL "$file" "$tree$file" 2>/dev/null || cp -a "$file" "$tree$file"
done
for file in /etc/apt/apt.conf.d/*[Pp]roxy* /etc/apt/apt.conf /etc/resolv.conf \
	/etc/hosts /root/.npmrc; do
	[ -e "$file" ] || continue
	mkdir -p "$tree$(dirname "$file")"
	rm -f "$tree$file"
	cp -L "$file" "$tree$file"
done
# Only Debian itself: what a bare machine has.
if [ -z "${WD_BARE_ALL_SOURCES:-}" ]; then
	for file in "$tree"/etc/apt/sources.list.d/*; do
		[ -e "$file" ] || continue
		case $file in */debian.sources | */debian.list) ;; *) rm -f "$file" ;; esac
	done
fi

# The clone, as git has it and as it is now, without what was built.
mkdir -p "$tree/root/weightd"
(cd "$source" && git ls-files -z --cached --others --exclude-standard |
	while IFS= read -r -d '' file; do
		[ -e "$file" ] && printf '%s\0' "$file"
	done | tar --null -T - -cf -) | tar -C "$tree/root/weightd" -xf -

# A mount point of its own and private: what is mounted inside stays inside.
mount --bind "$tree" "$tree"
mount --make-rprivate "$tree"
mount -t proc proc "$tree/proc"
mount -t sysfs -o ro sysfs "$tree/sys"
mount --rbind /dev "$tree/dev"
mount --make-rslave "$tree/dev"

# inside COMMAND...: in the tree, with nothing of this shell's environment but
# the way to the network.
inside() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		${http_proxy:+"http_proxy=$http_proxy"} \
		${https_proxy:+"https_proxy=$https_proxy"} \
		${HTTP_PROXY:+"HTTP_PROXY=$HTTP_PROXY"} \
		${HTTPS_PROXY:+"HTTPS_PROXY=$HTTPS_PROXY"} \
		${NO_PROXY:+"NO_PROXY=$NO_PROXY"} \
		${no_proxy:+"no_proxy=$no_proxy"} \
		chroot "$tree" sh -c 'cd /root/weightd && exec "$@"' sh "$@" \
		</dev/null
}

if [ $# -gt 0 ]; then
	inside "$@"
	exit
fi
echo "bare.sh: packaging/try.sh"
inside packaging/try.sh
echo "bare.sh: packaging/test.sh --quick"
inside packaging/test.sh --quick
