#!/bin/sh
# ./install.sh [PREFIX]: installs walwise below PREFIX, /usr/local by default; ./install.sh --remove [PREFIX] removes it.
# Rules in /etc/walwise/rules.d and reports in /var/lib/walwise are never touched. It needs a shell and cp, no more.
set -eu
cd "$(dirname "$0")"
remove=
if [ "${1:-}" = --remove ]; then remove=yes && shift; fi
prefix=${1:-/usr/local}
units=/etc/systemd/system

if [ "$remove" ]; then
    rm -f "$prefix/bin/walwise" "$prefix"/share/man/man1/walwise.1 "$prefix"/share/man/man1/walwise-*.1 \
        "$prefix/share/bash-completion/completions/walwise" "$prefix/share/zsh/site-functions/_walwise" \
        "$prefix/share/fish/vendor_completions.d/walwise.fish" "$units/walwise-check.service" "$units/walwise-check.timer"
    exit
fi
mkdir -p "$prefix/bin"
# Beside it and then in its place: one that runs is not written into.
cp walwise "$prefix/bin/.walwise.new"
chmod 755 "$prefix/bin/.walwise.new"
mv -f "$prefix/bin/.walwise.new" "$prefix/bin/walwise"
mkdir -p "$prefix/share"
cp -R share/. "$prefix/share/"
# The timer stays off: `systemctl enable --now walwise-check.timer` turns it on.
if [ "$(id -u)" = 0 ]; then
    mkdir -p /etc/walwise/rules.d
    if [ -d "$units" ]; then
        for unit in walwise-check.service walwise-check.timer; do
            sed "s|/usr/bin/walwise|$prefix/bin/walwise|" "systemd/$unit" >"$units/$unit"
        done
    fi
fi
echo "installed: $prefix/bin/walwise"
