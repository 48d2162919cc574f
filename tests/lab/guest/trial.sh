# Trials on real disks with serial numbers: /dev/vda, whose middle holds ones that nobody may touch, and /dev/vdb, which gets
# partitions. Each thing that is shown is a line on the console; tests/trials/disk counts them.

said() { echo "$*" >/dev/ttyS0; }
shows() { said "shown: $*"; }
wrong() {
    said "wrong: $*"
    [ ! -s /tmp/said ] || sed 's/^/    /' /tmp/said >/dev/ttyS0
}

CANDIDATES=ext4,xfs
SIZE=320 # MiB of the extent
MIDDLE=31

# try WORD...: a trial on /dev/vda, what it says in /tmp/said and its record in /tmp/record.
try() {
    rm -f /tmp/record
    timeout 600 walwise trial --budget 10m --writes 2 --force --size $SIZE --clients 1 --seconds 0.1 --candidates $CANDIDATES --record /tmp/record "$@" \
        >/tmp/said 2>&1 </dev/null
}

# recorded: that the trial measured every candidate without an error.
recorded() {
    jq -e '.extent == "disk" and (.blocks | length > 0) and ([.blocks[].cells[].error] | all(. == null))' /tmp/record >/dev/null 2>&1 &&
        shows "$(jq -r '"\([.candidates[].candidate]): \(.blocks | length) blocks, \(.seconds | floor) s"' /tmp/record)" ||
        wrong "its record: $(jq -c '[.blocks[].cells[].error]' /tmp/record 2>&1)"
}

# refuses WORDS COMMAND...: that it is refused with these words, and nothing is written.
refuses() {
    words=$1
    shift
    status=0
    "$@" || status=$?
    [ $status = 2 ] || { wrong "not refused but $status: $*" && return; }
    grep -qFe "$words" /tmp/said && shows "refused: $words" || wrong "no word of \"$words\""
}

# is_zero DEVICE SKIP COUNT: whether these MiB of it are zeros.
is_zero() { dd if="$1" bs=1M skip="$2" count="$3" 2>/dev/null | cmp -s -n $(($3 * 1048576)) - /dev/zero; }
is_ones() { dd if="$1" bs=1M skip="$2" count="$3" 2>/dev/null | tr '\377' '\000' | cmp -s -n $(($3 * 1048576)) - /dev/zero; }

fresh_vda() {
    dd if=/dev/zero of=/dev/vda bs=1M count=$SIZE conv=fsync 2>/dev/null
    tr '\000' '\377' </dev/zero | dd of=/dev/vda bs=1M iflag=fullblock seek=$SIZE count=$((MIDDLE + 1)) conv=fsync 2>/dev/null
}

# cleared WHAT: that the extent is zeros, the last MiB too, and the middle as it was.
cleared() {
    is_zero /dev/vda 0 $SIZE || { wrong "$1: the extent is not zeros" && return; }
    is_zero /dev/vda $((SIZE + MIDDLE)) 1 || { wrong "$1: the last MiB is not zeros" && return; }
    is_ones /dev/vda $SIZE $MIDDLE || { wrong "$1: the disk behind the extent was written to" && return; }
    grep -q vda /proc/mounts && wrong "$1: something is mounted" || shows "$1: zeros, and nothing else was touched"
}

# processes ROLE: the processes of a trial with that word.
processes() {
    for line in /proc/[0-9]*/cmdline; do
        words=
        # The shell leaves zero bytes out, and is cheaper than any program here.
        { read -r words <"$line"; } 2>/dev/null
        case $words in *"$1"*)
            line=${line#/proc/}
            echo "${line%/cmdline}"
            ;;
        esac
    done
}
nobody() { [ -z "$(processes '__trial-inside')" ]; }
mounted() { for pid in $(processes __trial-inside); do grep -qE ' /tmp (ext4|xfs) ' "/proc/$pid/mounts" && return; done; return 1; }
reads() { [ -n "$(processes __trial-inside)" ]; }

# killed SIGNAL ROLE [WHEN]: a trial in the middle of which these are killed.
killed() {
    rm -f /tmp/record
    walwise trial /dev/vda --erase TRIAL-one --force --size $SIZE --clients 1 --seconds 0.1 --candidates ext4,xfs --budget 200s \
        >/tmp/said 2>&1 </dev/null &
    outer=$!
    until_true "it measures" "${3:-mounted}"
    case $2 in outer) kill "-$1" $outer ;; *) kill "-$1" $(processes "$2") ;; esac
    wait $outer
    until_true "its processes are gone" nobody
}

trial() {
    modprobe virtio_blk
    for serial in TRIAL-one TRIAL-two; do until_true "disk $serial" grep -qsx "$serial" /sys/block/vd[ab]/serial; done
    grep -qx TRIAL-one /sys/block/vda/serial || wrong "the disks have other names"
    printf 'proc /proc proc defaults 0 0\n' >/etc/fstab
    for driver in ext4 xfs btrfs nvme; do modprobe "$driver"; done
    for disk in sda nvme0n1; do until_true "$disk" test -b "/dev/$disk"; done

    refuses "serial number TRIAL-one" try /dev/vda
    refuses "serial number TRIAL-scsi" try /dev/sda
    refuses "serial number TRIAL-nvme" try /dev/nvme0n1
    refuses "has neither a unique serial number nor a unique WWN" try /dev/vdc --erase TRIAL-one
    refuses "is not the serial number of /dev/vda" try /dev/vda --erase TRIAL-two
    refuses "--yes applies only to a directory" try /dev/vda --yes
    refuses "--yes applies only to a directory" try /dev/vda --yes --erase TRIAL-one
    refuses "apply only to a disk" try /tmp --erase TRIAL-one --yes
    ln -s /dev/vda /dev/link && refuses "is a symbolic link" try /dev/link --erase TRIAL-one
    mknod /tmp/node b $(sed 's/:/ /' /sys/block/vda/dev) && refuses "kernel does" try /tmp/node --yes
    refuses "there is no trial data" try /dev/vda --erase TRIAL-one --clear
    sleep 1000 3</dev/vda &
    refuses "is open in sleep" try /dev/vda --erase TRIAL-one
    kill $!
    echo "/dev/disk/by-id/virtio-TRIAL-one /srv ext4 defaults 0 0" >/etc/fstab
    refuses "is named in /etc/fstab" try /dev/vda --erase TRIAL-one
    echo >/etc/fstab
    mkswap -q /dev/vda && refuses "holds swap" try /dev/vda --erase TRIAL-one
    swapon /dev/vda && refuses "swap" try /dev/vda --erase TRIAL-one
    swapoff /dev/vda
    fresh_vda
    printf x | dd of=/dev/vda bs=1 seek=123456789 conv=notrunc,fsync 2>/dev/null
    refuses "data" try /dev/vda --erase TRIAL-one
    fresh_vda

    try /dev/vda --erase TRIAL-one || wrong "a trial on a blank disk"
    recorded
    cleared "a trial"

    fresh_vda
    killed TERM outer reads
    is_zero /dev/vda 0 $SIZE && is_ones /dev/vda $SIZE $((MIDDLE + 1)) && shows "TERM while it reads: nothing was written" ||
        wrong "TERM while it reads"
    killed TERM outer
    cleared "TERM"
    fresh_vda
    killed KILL outer
    cleared "KILL of the one that was started"
    fresh_vda
    killed KILL __trial-between
    cleared "KILL of the one between"
    fresh_vda
    killed KILL __trial-inside
    cleared "KILL of the one inside"
    fresh_vda
    killed KILL 'trial'
    refuses "walwise trial /dev/vda --erase TRIAL-one --clear" try /dev/vda --erase TRIAL-one
    is_ones /dev/vda $SIZE $MIDDLE || wrong "the disk behind the extent was written to"
    cp /tmp/said /tmp/left
    refuses "is not the serial number" try /dev/vda --erase TRIAL-two --clear
    $(sed -n 's/.*To clear the disk: //p' /tmp/left) >/tmp/said 2>&1 || wrong "the line that clears"
    cleared "KILL of all, and the line that clears"

    partition /dev/vdb "2048,$((330 * 2048))" ',,L'
    tr '\000' 'x' </dev/zero | dd of=/dev/vdb2 bs=1M iflag=fullblock count=4 conv=fsync 2>/dev/null
    cat /dev/vdb2 >/tmp/before
    refuses "in use: partitioned" try /dev/vdb --erase TRIAL-two
    CANDIDATES=ext4-fast-commit,btrfs,btrfs-nocow
    try /dev/vdb1 --erase TRIAL-two || wrong "a trial on a partition"
    recorded
    is_zero /dev/vdb1 0 330 && cmp -s /dev/vdb2 /tmp/before && shows "a partition: zeros, and its neighbour as it was" ||
        wrong "a partition"
    said "shown all"
}
