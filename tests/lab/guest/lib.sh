# What the scripts of stacks use, and the life of one stack. No udev runs here, so everything is waited for by looking.

fail() {
    echo "$*" >&2
    exit 1
}

# skip WHY: this kernel cannot have the stack.
skip() {
    echo "$*" >"/out/$stack.skipped"
    exit 1
}

# stamp WHAT: says how long the machine has been up now that WHAT is done; tests/lab/times makes durations of it.
stamp() {
    read -r up _ </proc/uptime
    echo "$up $1" >>"/out/$stack.times"
}

# appears WHAT PATTERN: waits until a file of that pattern exists and prints it.
appears() {
    turns=0
    while [ $turns -lt 2000 ]; do
        for found in $2; do
            [ -e "$found" ] && echo "$found" && return
        done
        turns=$((turns + 1))
        sleep 0.05
    done
    fail "$1 did not appear: $2"
}

# until_true WHAT COMMAND...: waits until the command succeeds.
until_true() {
    what=$1 turns=0
    shift
    until "$@"; do
        turns=$((turns + 1))
        [ $turns -lt 2000 ] || fail "waited in vain until $what"
        sleep 0.05
    done
}

# is_sound DEVICE TYPE: whether a file system that is not mounted has no damage; what was found is in /tmp/fsck.
is_sound() {
    case $2 in
    ext4) e2fsck -fn "$1" ;;
    xfs) xfs_repair -n "$1" ;;
    btrfs) btrfs check --readonly "$1" ;;
    esac >/tmp/fsck 2>&1
}

# adapter DRIVER: the SCSI host of that driver.
adapter() {
    for host in /sys/class/scsi_host/host*; do
        [ "$(cat "$host/proc_name")" = "$1" ] && echo "${host##*/host}" && return
    done
    return 1
}

# disk NAME: brings a disk of tests/lab/disks in and prints its device file. Its first MiBs are zeroed.
disk() {
    target=$(awk -v name="$1" '$1 == name { print NR - 1 }' /etc/disks)
    [ -n "$target" ] || fail "no disk is called $1"
    host=$(adapter virtio_scsi)
    echo "0 $target 0" >"/sys/class/scsi_host/host$host/scan"
    found=$(appears "disk $1" "/sys/bus/scsi/devices/$host:0:$target:0/block/*")
    fresh "/dev/${found##*/}"
}

# card DRIVER SERIAL: loads a driver and prints its disk with that serial number (`-`: any; the first).
card() {
    modprobe "$1" || fail "this kernel has no $1"
    found= serial=$2
    until_true "a disk $serial comes with $1" carried
    fresh "/dev/$found"
}

# Whether the disk that `card` looks for is there; its name is in $found then. Names depend on which disk answers first.
carried() {
    for scan in /sys/class/scsi_host/host*/scan; do
        [ "$(cat "${scan%scan}proc_name")" = virtio_scsi ] || echo "- - -" >"$scan"
    done
    for found in $(ls /sys/block); do
        [ "$serial" = - ] && return
        for says in serial device/serial device/vpd_pg80; do
            grep -qs "$serial" "/sys/block/$found/$says" && return
        done
    done
    return 1
}

# emptied DEVICE: writes zeros to its beginning.
emptied() {
    test -b "$1" && dd if=/dev/zero of="$1" bs=1M count=4 conv=fsync 2>/dev/null
}

# fresh DEVICE: waits for the device, empties its beginning and its end, where firmware RAID writes, and prints it. What had
# the device before may let go of it late.
fresh() {
    until_true "$1 is there" test -b "$1"
    until_true "$1 has a size" grep -qvx 0 "/sys/class/block/${1##*/}/size"
    until_true "$1 can be written" emptied "$1"
    sectors=$(cat "/sys/class/block/${1##*/}/size")
    dd if=/dev/zero of="$1" bs=4k seek=$((sectors / 8 - 256)) count=256 conv=fsync 2>/dev/null || fail "$1 has no end"
    echo "$1"
}

# ext4 DEVICE [OPTIONS] and its like: a file system on the device, mounted at /lab/STACK.
ext4() {
    device=$1
    shift
    mke2fs -q -F -E nodiscard -t ext4 "$device"
    put "$device" ext4 "$@"
}

xfs() {
    mkfs.xfs -q -f -K "$1"
    put "$1" xfs
}

put() {
    mkdir -p "/lab/$stack"
    device=$1 type=$2
    shift 2
    mount -t "$type" "$@" "$device" "/lab/$stack"
}

# meets_quota: that nobody's probe of the stack's file system ends for want of quota whenever that is met: before anything is
# written, in the middle of the scratch file when forced, without room for a single name, and in a workload that was begun.
meets_quota() {
    mkdir "/lab/$stack/data"
    chown 65534 "/lab/$stack/data"
    for case in "40m 0:reserving:" "8m 0:writing the scratch file:--force" "0 1:creating the scratch directory:"; do
        limit "${case%%:*}"
        doing=${case#*:}
        ! probe_as_nobody --seconds 2 ${doing#*:} || fail "measured with a quota of $case"
        no_quota "${doing%%:*} "
    done
    limit "0 0"
    probe_as_nobody --workload files --seconds 3000 &
    appears "a scratch file" "/lab/$stack/data/.walwise-probe-*/walwise-*" >/dev/null
    limit "64k 0"
    ! wait $! || fail "measured while the quota shrank"
    no_quota
    limit "0 0"
}

# limit "BYTES FILES": what nobody may have here.
limit() {
    xfs_quota -f -x -c "limit -u bhard=${1% *} ihard=${1#* } 65534" "/lab/$stack"
}

# probe_as_nobody ARGUMENT...: a probe, what it says in /tmp/said.
probe_as_nobody() {
    timeout 200 setpriv --reuid 65534 --clear-groups walwise probe "/lab/$stack/data" "$@" >/tmp/said 2>&1
}

# no_quota [DOING]: whether that ended for want of quota while doing so, and left nothing.
no_quota() {
    grep -q "${1:-}.*quota at" /tmp/said || fail "no word of the quota: $(cat /tmp/said)"
    [ -z "$(ls -A "/lab/$stack/data")" ] || fail "something was left: $(ls -A "/lab/$stack/data")"
}

# dirty: how many MiB wait to be written, in this machine that has one file system on a disk.
dirty() {
    awk '$1 == "nr_dirty" || $1 == "nr_writeback" { pages += $2 } END { print int(pages / 256) }' /proc/vmstat
}

# keeps_dirty MIB: that looking at the stack writes nothing of what waits to be written, while the kernel is told to write
# nothing by itself: as much is left after every command that only looks as after the same time without one.
keeps_dirty() {
    settings="dirty_writeback_centisecs=0 dirty_expire_centisecs=8640000 dirty_background_ratio=90 dirty_ratio=95"
    before=
    for setting in $settings; do
        before="$before ${setting%=*}=$(cat "/proc/sys/vm/${setting%=*}")"
        echo "${setting#*=}" >"/proc/sys/vm/${setting%=*}"
    done
    # A disk that has hardly been written to has hardly a share of what may wait, and whoever wakes the kernel's writer makes it
    # write a first piece of 52 MiB (wb_over_bg_thresh and writeback_chunk_size of the kernel): so this one has its share.
    number=$(awk -v at="/lab/$stack" '$5 == at { print $3 }' /proc/self/mountinfo)
    for share in "/sys/class/bdi/$number/min_ratio" /sys/class/bdi/btrfs-*/min_ratio; do
        if [ -e "$share" ]; then echo 90 >"$share"; fi
    done
    dd if=/dev/zero of="/lab/$stack/dirty" bs=1M count=$1 2>/dev/null
    held=$(dirty)
    # A page or two of the file system's own come and go. ext4 and XFS begin to write when too much of what is free waits.
    [ "$held" -ge "$(($1 - 4))" ] || fail "of $1 MiB written only $held wait"
    read -r begun _ </proc/uptime
    for look in "check --no-probe" "check --no-probe /lab/$stack" facts capture; do
        timeout 300 walwise $look >/dev/null 2>&1 || [ $? -le 5 ] || fail "walwise $look failed"
    done
    read -r ended _ </proc/uptime
    looked=$(dirty)
    sleep "$((${ended%.*} - ${begun%.*}))"
    waited=$(dirty)
    for setting in $before; do echo "${setting#*=}" >"/proc/sys/vm/${setting%=*}"; done
    echo "MiB that wait: $held, $looked after looking, $waited after as long without"
    [ "$looked" -ge "$((held - 4))" ] && [ "$looked" -ge "$((waited - 4))" ] || fail "looking wrote: $held MiB, then $looked"
    sync -f "/lab/$stack"
    [ "$(dirty)" -lt "$((held / 2))" ] || fail "what waits cannot be seen here"
    rm "/lab/$stack/dirty"
}

# Options that mount(8) and the kernel know of every file system.
of_every_file_system() {
    printf '%s\n' X-walwise _netdev async atime auto comment=text defaults dev diratime dirsync exec group iversion \
        lazytime loud mand noatime noauto nodev nodiratime noexec nofail noiversion nolazytime nomand \
        norelatime nostrictatime nosuid nosymfollow nouser owner relatime ro rw silent strictatime suid sync \
        user user=text users x-walwise
}

# tried FS DEVICE: mounts the file system with each line of options that it is given, and with those of every file
# system, and writes an fstab with those lines in which the mount point says what came of it: /taken/N or /refused/N.
# walwise judges the same lines by their words.
tried() {
    mkdir -p /tmp/try
    line=0
    { cat && of_every_file_system; } | while read -r options; do
        line=$((line + 1))
        came=refused
        if mount -t "$1" -o "$options" "$2" /tmp/try 2>/dev/null; then
            came=taken
            umount /tmp/try
        fi
        echo "$2 /$came/$line $1 $options 0 0"
    done >/etc/fstab
}

# one STACK: the life of one stack. What went wrong is left in /out/STACK.failed. The deadlines are for what hangs.
one() {
    stack=$1 log=/out/$1.log
    if ! timeout 300 sh -euc "stack=$1; . /lib.sh; . /stacks/$1.sh" >"$log" 2>&1 </dev/null; then
        [ -e "/out/$1.skipped" ] || mv "$log" "/out/$1.failed"
        stamp making
    else
        cd /
        stamp making
        ask
        stamp walwise
    fi
    cleared || {
        {
            echo "cannot be cleared away, so the stacks after it are not tried:"
            ls /sys/block
            tail -n 20 /tmp/clearing
            dmesg | tail -n 5
        } >>"/out/$1.failed"
        hand_over
        poweroff -f
    }
    stamp clearing
}

# What walwise says of the stack: the report, the capture, and what it measures where the stack expects something of that.
ask() {
    timeout 300 walwise check -v "/lab/$stack" --no-probe --format json >"/out/$stack.json" 2>>"$log"
    echo "walwise check: exit code $?" >>"$log"
    timeout 300 walwise capture "/lab/$stack" >"/out/$stack.host" 2>>"$log" || mv "/out/$stack.host" "/out/$stack.failed"
    grep -q '^#probe= ' "/stacks/$stack.sh" || return 0
    # On a slow day a round of all methods takes longer.
    for seconds in 2 20 100; do
        timeout 300 walwise probe "/lab/$stack" --seconds $seconds --format json >"/out/$stack.probe" 2>>"$log"
        ! grep -q '^  "rounds": [1-9]' "/out/$stack.probe" || break
    done
}

# Takes everything down, in as many rounds as layers lie above each other. A disk goes only when nothing uses it.
cleared() {
    round=0
    while [ $round -lt 1000 ]; do
        round=$((round + 1))
        swapoff -a
        awk '$5 ~ "^/lab/" { print $5 }' /proc/self/mountinfo | sed '1!G;h;$!d' | while read -r mount; do umount "$mount"; done
        [ ! -e /sys/module/dm_mod ] || dmsetup remove_all
        for device in /sys/block/*; do
            case ${device##*/} in
            md*) mdadm --stop "/dev/${device##*/}" ;;
            bcache*) for stop in "$device/bcache/stop" /sys/fs/bcache/*-*/stop; do echo 1 >"$stop"; done ;;
            loop*) losetup -D ;;
            nbd*) nbd-client -d "/dev/${device##*/}" ;;
            drbd*) for minor in 0 1; do drbdsetup down "r$minor"; done ;;
            esac
        done
        # A cache set outlives its bcache device.
        for stop in /sys/fs/bcache/*-*/stop; do [ ! -e "$stop" ] || echo 1 >"$stop"; done
        if ! grep -q ' /lab/' /proc/self/mountinfo && ! ls /sys/block | grep -qE '^(dm-|md|bcache|drbd)'; then
            for gone in /sys/block/sd*/device/delete; do [ ! -e "$gone" ] || echo 1 >"$gone"; done
            for driver in $DRIVERS; do [ ! -e "/sys/module/$driver" ] || modprobe -r "$driver"; done
            [ -z "$(ls /sys/block)" ] && break
        fi
        sleep 0.02
    done >/tmp/clearing 2>&1
    rm -rf /dev/lab /etc/fstab
    [ -z "$(ls /sys/block)" ]
}

# What a stack may have loaded and what brings disks, or keeps settings, as long as it is there.
DRIVERS="virtio_blk nvme megaraid_sas ahci uas usb_storage xhci_pci mmc_block sdhci_pci scsi_debug nd_pmem nd_e820 loop
    zram brd bcache nbd drbd raid0 raid1 raid10 raid456"

# Gives what is in /out to the machine outside.
hand_over() {
    tar -c -C /out . >/dev/vport0p1
}

# group DEVICE...: a volume group called lab.
group() {
    lvm vgcreate -q -y lab "$@"
}

# encrypt DEVICE: LUKS with a key derivation that costs nothing, opened as /dev/mapper/secret.
encrypt() {
    echo lab | cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$1" -
    echo lab | cryptsetup open --disable-external-tokens --key-file - "$1" secret
}

# pair PROTOCOL LOWER PEER [OPTION...]: DRBD on LOWER, as /dev/drbd0, that replicates to PEER in this machine, with these
# options of its disks. Both are empty, so nothing is copied first.
pair() {
    protocol=$1 minor=0 ports="7788 7789"
    shift
    one=$1 other=$2
    shift 2
    ip link set lo up
    modprobe drbd
    for lower in "$one" "$other"; do
        drbdmeta --force "$minor" v08 "$lower" internal create-md
        drbdsetup new-resource "r$minor"
        drbdsetup new-minor "r$minor" "$minor" 0
        drbdsetup attach "$minor" "$lower" "$lower" internal "$@"
        drbdsetup connect "r$minor" "ipv4:127.0.0.1:${ports% *}" "ipv4:127.0.0.1:${ports#* }" --protocol="$protocol"
        minor=1 ports="7789 7788"
    done
    until_true "they have found each other" grep -q "^ 0: cs:Connected" /proc/drbd
    drbdsetup new-current-uuid 0 --clear-bitmap
    drbdsetup primary 0
    until_true "they are alike" grep -q "^ 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate" /proc/drbd
}

# commits DEVICE OWN PEER: 20 blocks written to DEVICE, each with a flush, and how many flushes came of it on its OWN disk
# (on_own) and on that of its PEER (on_peer). The peer's come later, if they come.
commits() {
    own=$(flushed "$2") peer=$(flushed "$3")
    for block in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        dd if=/dev/zero of="$1" bs=4k seek=$block count=1 conv=notrunc,fsync 2>/dev/null
    done
    sleep 5
    on_own=$(($(flushed "$2") - own)) on_peer=$(($(flushed "$3") - peer))
    echo "20 blocks, each with a flush: $on_own flushes on its own disk, $on_peer on its peer's"
}

# flushed DISK: how many flushes it has been sent.
flushed() {
    awk '{ print $16 }' "/sys/class/block/${1##*/}/stat"
}

# partition DISK LINE...: a partition for every line of sfdisk.
partition() {
    device=$1
    shift
    printf '%s\n' "$@" | sfdisk -q --no-reread --no-tell-kernel "$device"
    blockdev --rereadpt "$device"
    case $device in
    *[0-9]) until_true "$device has $# partitions" test -b "${device}p$#" ;;
    *) until_true "$device has $# partitions" test -b "$device$#" ;;
    esac
}
