# One step of a drill, told by the kernel's command line: to make a file system for each way of writing, ask walwise about it
# and write until the power goes; or to mount what is left, read it and check it.

said() { echo "$*" >/dev/ttyS0; }

word() { sed -n "s/.* $1=\([^ ]*\).*/\1/p" /proc/cmdline; }

# Whether the disk with that number is there; its device file is in $found then.
disk_is_there() {
    for queue in /sys/block/[vs]d*; do
        found=/dev/${queue##*/}
        path=$(readlink -f "$queue")
        for serial in "$queue/serial" "${path%%/host[0-9]*}/../serial"; do
            grep -qsx "DRILL-$1" "$serial" && return
        done
    done
    return 1
}

# The place with that number: its disks, its directory, and a number for what has a name of its own there.
place() {
    nth=$1 at=/drill/$1 disk= twin=
    mkdir -p "$at"
    until_true "disk $((nth * disks)) is there" disk_is_there $((nth * disks))
    disk=$found entire=$found
    [ "$disks" = 1 ] || {
        until_true "disk $((nth * disks + 1)) is there" disk_is_there $((nth * disks + 1))
        twin=$found
    }
}

# The serial port with that name.
port() {
    name=$(grep -lx "$1" /sys/class/virtio-ports/*/name) || return
    name=${name%/name}
    echo "/dev/${name##*/}"
}

begin() {
    make >/tmp/log 2>&1 && open >>/tmp/log 2>&1 || return 1
    walwise check -v "$at" --no-probe --format json >/tmp/report 2>>/tmp/log || [ $? -le 5 ] || return 1
    said "place $nth is $(jq -r '[.verdicts[].standing] | join(",")' /tmp/report)"
}

write() {
    walwise drill write "$at" --method "${way%:*}" --segments "${way#*:}" >"$(port "log$nth")" 2>/tmp/log
    said "step failed: the writer of place $nth ended: $(cat /tmp/log)"
}

# For tests/crash-states, which records the requests of the disks: the file system is in a first partition, and what is
# acknowledged is written to the second one of the first disk, a block each, so that the order of both is recorded.
record() {
    for one in "$disk" $twin; do
        printf 'label: dos\nsize=380M\nsize=+\n' | sfdisk -q "$one" >/tmp/log 2>&1 || return 1
        until_true "${one}1 is there" test -b "${one}1"
    done
    disk=${disk}1 twin=${twin:+${twin}1}
    begin || return 1
    mounted
    sync -f "$at"
    said "$type on physical $(cat "/sys/block/${entire##*/}/queue/physical_block_size") of $(uname -r)"
    echo "ack 0" | dd of="${entire}2" bs=4096 conv=sync,notrunc oflag=direct 2>/dev/null
    walwise drill write "$at" --method "${way%:*}" --segments "${way#*:}" 2>/tmp/log | tee "$(port "log$nth")" |
        dd of="${entire}2" bs=4096 seek=1 conv=sync,notrunc oflag=direct 2>/dev/null
    return 1
}

# For tests/crash-states: recovers what the host puts on the disks, as often as it asks. Between two states nothing has them open,
# so that the kernel keeps none of their content.
recover() {
    # A resync that ends would hide how the mirrors differ.
    echo 1 2>/dev/null >/proc/sys/dev/raid/speed_limit_max
    export LVM_SUPPRESS_FD_WARNINGS=1
    exec 3<>"$(port states)"
    echo ready >&3
    while read -r state <&3; do
        outcome=unmounted commits=
        if open >/tmp/log 2>&1; then
            mounted
            walwise drill read "$at" >/tmp/survived 2>>/tmp/log
            while read -r word range; do
                [ "$word" != survived ] || commits="$commits $range"
            done </tmp/survived
            umount -i "$at"
            is_sound "$where" "$type" && outcome=sound || outcome=damaged
        fi
        close >>/tmp/log 2>&1
        [ $outcome != unmounted ] || said "state $state: $(cat /tmp/log)"
        echo "state $state $outcome$commits" >&3
    done
}

# What is mounted there, and its type.
mounted() {
    while read -r where directory type _; do
        [ "$directory" != "$at" ] || return 0
    done </proc/mounts
    return 1
}

rest() {
    # A file system that cannot be mounted has lost everything.
    open >/tmp/log 2>&1 || {
        said "place $nth cannot be mounted: $(tail -n 1 /tmp/log)"
        return
    }
    walwise drill read "$at" >"$(port "log$nth")" 2>/tmp/log || said "unreadable: $(cat /tmp/log)"
    mounted
    umount "$at"
    is_sound "$where" "$type" && said "place $nth sound" || said "place $nth damaged"
}

drill() {
    modprobe virtio_blk
    modprobe xhci_pci
    modprobe usb_storage
    disks=$(word disks)
    close() { [ "$type" != btrfs ] || btrfs device scan --forget; }
    . "/drills/$(word drill).sh"
    each=0
    for way in $(word ways | tr , ' '); do
        place $each
        each=$((each + 1))
        case $(word step) in
        write) begin || return 1 ;;
        read) rest ;;
        record) record || return 1 ;;
        recover) recover ;;
        esac
    done
    [ "$(word step)" = write ] || {
        said "step ended"
        return
    }
    each=0
    for way in $(word ways | tr , ' '); do
        place $each
        each=$((each + 1))
        write &
    done
    wait
    return 1
}
