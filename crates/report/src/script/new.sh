# Creates @fstype@ on @node@ and mounts it. Everything on the disk would be lost.
# @read@
@notes@
MOUNTPOINT=             # EDIT: an absolute path, such as /srv/@owner@
DATABASE=               # EDIT: the database directory to create below it, such as @example@; empty: none
OWNER=@owner padded@# the owner of that directory
ADD_TO_FSTAB=no         # EDIT: yes appends its line to /etc/fstab, to mount it at boot

DEVICE=@node@
NAME=@name@
SIZE=@size@             # bytes
SERIAL=@serial@
IDENTITY_FILE=@file@    # below /sys/class/block/@name@
IDENTITY=@value@

# The whole disk is read before mkfs, up to the first byte that is neither 0x00 nor 0xFF. EDIT to skip that:
READ_ALL=yes            # no: trust the report instead
@known@
case $MOUNTPOINT in
    '') stop 'set MOUNTPOINT to the directory to mount on; nothing was done' ;;
    / | *[!A-Za-z0-9/._-]*) stop 'MOUNTPOINT may contain only letters, digits and /._-, and must not be /; nothing was done' ;;
    /*) ;;
    *) stop 'MOUNTPOINT must be an absolute path; nothing was done' ;;
esac
if [ -e "$MOUNTPOINT" ]; then
    [ -d "$MOUNTPOINT" ] || stop "$MOUNTPOINT is not a directory; nothing was done"
    [ -z "$(ls -A "$MOUNTPOINT")" ] || stop "$MOUNTPOINT is not empty; nothing was done"
fi
case $DATABASE in
    '') ;;
    /* | *[!A-Za-z0-9/._-]* | .. | ../* | */.. | */../*) stop 'DATABASE may contain only letters, digits and /._-, and must be below MOUNTPOINT; nothing was done' ;;
    *) id -u -- "$OWNER" >/dev/null 2>&1 || stop 'set OWNER to an existing user, the owner of DATABASE; nothing was done' ;;
esac
case $ADD_TO_FSTAB in
    no) ;;
    yes)
        if awk -v point="$MOUNTPOINT" '$2 == point { found = 1 } END { exit !found }' /etc/fstab; then
            stop "/etc/fstab already has a line for $MOUNTPOINT; nothing was done"
        fi
        ;;
    *) stop 'ADD_TO_FSTAB must be yes or no; nothing was done' ;;
esac
for tool in mkfs.@fstype@ blockdev wipefs blkid lsblk cmp mount; do
    command -v "$tool" >/dev/null || stop "$tool is not installed; nothing was done"
done

# Whether $2 bytes of the disk from byte $1 on are all 0x00 or all 0xFF.
is_blank() {
    cmp -s -n "$2" -i "$1:0" "$DEVICE" /dev/zero && return 0
    tr '\000' '\377' </dev/zero 2>/dev/null | cmp -s -n "$2" -i "$1:0" "$DEVICE" -
}

# The same, MiB by MiB, so that 0x00 and 0xFF can alternate; stops at the first MiB with other data.
mixed_blank() {
    from=$1
    while [ "$from" -lt "$2" ]; do
        count=$(($2 - from))
        [ "$count" -le 1048576 ] || count=1048576
        is_blank "$from" "$count" || stop "$DEVICE holds data, or cannot be read, in the MiB that begins at byte $from; nothing was done"
        from=$((from + count))
    done
}

# Reads the whole disk, a GiB at a time, and prints an estimate of the time after 4 GiB.
read_all() {
    piece=1073741824
    begun=$(date +%s)
    at=0
    printf 'reading all of %s; reading stops at the first byte that is neither 0x00 nor 0xFF\n' "$DEVICE"
    while [ "$at" -lt "$SIZE" ]; do
        length=$((SIZE - at))
        [ "$length" -le "$piece" ] || length=$piece
        is_blank "$at" "$length" || mixed_blank "$at" "$((at + length))"
        at=$((at + length))
        if [ "$at" = $((4 * piece)) ]; then
            minutes=$((($(date +%s) - begun + 1) * (SIZE / 1048576) / 4096 / 60))
            printf 'reading the whole disk takes about %s hours and %s minutes\n' "$((minutes / 60))" "$((minutes % 60))"
        fi
    done
}

# Checks that it is the disk of the report, not in use, and without signatures or data at both ends.
check_disk() {
    sys=/sys/class/block/$NAME
    { [ -b "$DEVICE" ] && [ ! -L "$DEVICE" ]; } || stop "$DEVICE is not a block device; nothing was done"
    [ -d "$sys" ] || stop "the kernel has no device $NAME; nothing was done"
    [ "$(lsblk -dno MAJ:MIN "$DEVICE" | tr -d ' ')" = "$(cat "$sys/dev")" ] || stop "$DEVICE is the device node of another device; nothing was done"
    [ "$(blockdev --getsize64 "$DEVICE")" = "$SIZE" ] || stop "size of $DEVICE differs from the report: another disk? nothing was done"
    if [ -n "$SERIAL" ]; then
        [ "$(lsblk -dno SERIAL "$DEVICE" | tr -d ' ')" = "$SERIAL" ] || stop "serial number of $DEVICE differs from the report; nothing was done"
    fi
    if [ -n "$IDENTITY_FILE" ]; then
        found=$(tr -s '[:space:]' ' ' 2>/dev/null <"$sys/$IDENTITY_FILE") || found=
        found=${found# }
        found=${found% }
        [ "$found" = "$IDENTITY" ] || stop "identity of $DEVICE ($IDENTITY_FILE) differs from the report; nothing was done"
    fi
    [ "$(cat "$sys/ro")" = 0 ] || stop "$DEVICE is read-only; nothing was done"
    [ -z "$(ls -A "$sys/holders")" ] || stop "$DEVICE is in use by $(ls "$sys/holders"); nothing was done"
    for part in "$sys/$NAME"*; do
        [ ! -e "$part" ] || stop "$DEVICE has partitions; nothing was done"
    done
    if awk -v number="$(cat "$sys/dev")" '$3 == number { found = 1 } END { exit !found }' /proc/self/mountinfo; then
        stop "$DEVICE is mounted; nothing was done"
    fi
    for table in /proc/mounts /proc/swaps; do
        if awk -v node="$DEVICE" '$1 == node { found = 1 } END { exit !found }' "$table"; then
            stop "$DEVICE is in $table; nothing was done"
        fi
    done
    # Drop the page cache, so that the following reads come from the disk.
    blockdev --flushbufs "$DEVICE" || stop "cannot re-read $DEVICE; nothing was done"
    found=$(wipefs -n "$DEVICE") || stop "wipefs cannot read $DEVICE; nothing was done"
    [ -z "$found" ] || stop "$DEVICE is no longer free: $found; nothing was done"
    status=0
    blkid -p "$DEVICE" >/dev/null 2>&1 || status=$?
    [ "$status" = 2 ] || stop "blkid finds something on $DEVICE or cannot read it; nothing was done"
    is_blank 0 1048576 || stop "$DEVICE holds data in its first MiB, or that MiB cannot be read; nothing was done"
    is_blank "$((SIZE - 1048576))" 1048576 || stop "$DEVICE holds data in its last MiB, or that MiB cannot be read; nothing was done"
}

lsblk -o NAME,SIZE,MODEL,SERIAL,WWN "$DEVICE"
check_disk
case $READ_ALL in
    yes) read_all ;;
    no) ;;
    *) stop 'READ_ALL must be yes or no; nothing was done' ;;
esac
# Reading may have taken hours.
check_disk
@mkfs@ "$DEVICE"
mkdir -p "$MOUNTPOINT"
mount -t @fstype@ -o @mount@ "$DEVICE" "$MOUNTPOINT"
line="UUID=$(blkid -p -s UUID -o value "$DEVICE") $MOUNTPOINT @fstype@ @mount@ 0 @pass@"
if [ "$ADD_TO_FSTAB" = yes ]; then
    # Without a final newline, the new line would join the last one.
    [ -z "$(tail -c 1 /etc/fstab)" ] || printf '\n' >>/etc/fstab
    printf '%s\n' "$line" >>/etc/fstab
else
    printf 'for the next boot, in /etc/fstab:\n  %s\n' "$line"
fi

if [ -n "$DATABASE" ]; then
    # Not the mount point itself, which may contain lost+found.
    directory=$MOUNTPOINT/$DATABASE
    umask 022
    mkdir -p "$directory"
    chown "$OWNER:$(id -gn -- "$OWNER")" "$directory"
    chmod 0700 "$directory"
@nocow@@database@    printf 'start the server, then:\n  walwise check %s\n' "$directory"
fi
