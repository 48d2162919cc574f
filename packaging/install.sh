#!/bin/sh
# ./install.sh [PREFIX]: installs walwise under PREFIX, /usr/local by default; ./install.sh --remove [PREFIX] removes it.
# Rules in /etc/walwise/rules.d and reports in /var/lib/walwise are never touched. It needs a shell and coreutils or busybox.
# With ../SHA256SUMS.sig it installs the contents of the signed archive there, and refuses a signature by a key not in
# /etc/walwise/signers (WALWISE_SIGNERS names another file).
set -eu
umask 022
remove=
if [ "${1:-}" = --remove ]; then remove=yes && shift; fi
prefix=${1:-/usr/local}
units=/etc/systemd/system
new='' checked=''
trap 'rm -rf ${new:+"$new"} ${checked:+"$checked"}' EXIT

refuses() {
    printf 'install.sh: %s\n' "$*" | LC_ALL=C tr -c '\n -~' '?' >&2
    exit 1
}

case $prefix in
/*) ;;
*) prefix=$(pwd -P)/$prefix ;;
esac
# The name stands in a unit of systemd, too, which has signs of its own.
case $prefix in
*[!A-Za-z0-9/._+-]*) refuses "PREFIX may contain only letters, digits and /._+-" ;;
esac
cd "$(dirname "$0")"

# Refuses a directory where somebody else could put a file or a link in the place of ours: whoever owns it or one above it,
# or may write there, with the sticky bit or without.
only_root_writes() {
    above=$1
    while :; do
        # shellcheck disable=SC2046 # the first words are mode, links and owner
        set -- $(LC_ALL=C ls -ldn "$above/.")
        case $1:$3 in
        d????-??-*:0) ;;
        *) refuses "users other than root can write to $above; make it writable only by root, or choose another PREFIX" ;;
        esac
        [ "$above" != / ] || break
        above=$(dirname "$above")
    done
}

# Goes to a directory, and makes what is missing on the way unless it removes; root looks at each step before it takes it.
# The directory's own name, without links, is then in $at. Fails where there is nothing to remove.
reach() {
    at=/ rest=${1#/}/
    while [ "$rest" ]; do
        name=${rest%%/*} rest=${rest#*/}
        [ "$name" ] || continue
        [ "$(id -u)" != 0 ] || only_root_writes "$at"
        if ! [ -d "$at/$name" ]; then
            [ ! "$remove" ] || return 1
            mkdir "$at/$name"
        fi
        at=$(cd -P "$at/$name" && pwd -P) || refuses "cannot change to directory $at/$name"
    done
    [ "$(id -u)" != 0 ] || only_root_writes "$at"
}

# put MODE DIRECTORY NAME: standard input becomes this file. It is written beside it under a name that nobody knows, then
# renamed: a program that runs is not written into.
put() {
    reach "$2"
    new=$(mktemp "$at/.walwise.XXXXXX")
    cat >"$new"
    chmod "$1" "$new"
    mv -f "$new" "$at/$3"
    new=
}

if [ "$remove" ]; then
    if reach "$prefix/bin"; then rm -f "$at/walwise"; fi
    if reach "$prefix/share/man/man1"; then rm -f "$at"/walwise.1 "$at"/walwise-*.1; fi
    if reach "$prefix/share/bash-completion/completions"; then rm -f "$at/walwise"; fi
    if reach "$prefix/share/zsh/site-functions"; then rm -f "$at/_walwise"; fi
    if reach "$prefix/share/fish/vendor_completions.d"; then rm -f "$at/walwise.fish"; fi
    [ "$(id -u)" = 0 ] || exit 0
    if [ -d /run/systemd/system ]; then systemctl stop walwise-check.timer walwise-check.service || true; fi
    # With it goes the choice to run it weekly.
    rm -f "$units/walwise-check.service" "$units/walwise-check.timer" "$units/timers.target.wants/walwise-check.timer" \
        /var/lib/systemd/timers/stamp-walwise-check.timer
    if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
    exit
fi
if [ -e ../SHA256SUMS.sig ]; then
    name=$(basename "$(pwd -P)") signers=${WALWISE_SIGNERS:-/etc/walwise/signers}
    [ -e "$signers" ] || refuses "cannot check SHA256SUMS.sig: write the public key that signs releases to $signers"
    command -v ssh-keygen >/dev/null || refuses "cannot check SHA256SUMS.sig: install ssh-keygen"
    checked=$(mktemp -d)
    # A copy, which nobody changes after the check.
    cp ../SHA256SUMS ../SHA256SUMS.sig "../$name.tar.gz" "$checked/"
    case $signers in
    /*) ;;
    *) signers=$(pwd -P)/$signers ;;
    esac
    cd "$checked"
    ssh-keygen -Y verify -q -f "$signers" -I walwise -n walwise -s SHA256SUMS.sig <SHA256SUMS >/dev/null ||
        refuses "SHA256SUMS is not signed by a key in $signers"
    grep "^[0-9a-f]*  $name\.tar\.gz\$" SHA256SUMS >sum || refuses "SHA256SUMS does not list $name.tar.gz"
    sha256sum -c sum >/dev/null 2>&1 || refuses "the checksum of $name.tar.gz does not match SHA256SUMS"
    tar -xzf "$name.tar.gz"
    cd "$name"
fi
put 755 "$prefix/bin" walwise <./walwise
program=$at/walwise
for file in share/*/*/*; do put 644 "$prefix/${file%/*}" "${file##*/}" <"$file"; done
# The timer stays off: `systemctl enable --now walwise-check.timer` turns it on.
if [ "$(id -u)" = 0 ]; then
    reach /etc/walwise/rules.d
    if [ -d "$units" ]; then
        for unit in walwise-check.service walwise-check.timer; do
            sed "s|/usr/bin/walwise|$program|" "systemd/$unit" | put 644 "$units" "$unit"
        done
    fi
fi
echo "installed: $program"
