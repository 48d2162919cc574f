# One step of a drill, told by the kernel's command line: to make a file system, ask walwise about it and write until the
# power goes; or to mount what is left, read it and check it.

said() { echo "$*" >/dev/ttyS0; }

word() { sed -n "s/.* $1=\([^ ]*\).*/\1/p" /proc/cmdline; }

drill() {
    modprobe virtio_blk
    . "/drills/$(word drill).sh"
    mkdir -p /drill
    until_true "the disk is there" test -b /dev/vda
    case $(word step) in
    write)
        make >/tmp/log 2>&1 && open >>/tmp/log 2>&1 || return 1
        walwise check /drill --no-probe --format json >/tmp/report 2>>/tmp/log || [ $? -le 5 ] || return 1
        said "verdict $(jq -r '[.verdicts[].standing] | join(",")' /tmp/report)"
        walwise drill write /drill --method "$(word method)" --segments "$(word segments)" >/dev/ttyS0 2>>/tmp/log
        return 1
        ;;
    read)
        # A file system that cannot be mounted has lost everything.
        if open >/tmp/log 2>&1; then
            walwise drill read /drill >/dev/ttyS0 2>>/tmp/log || said "unreadable: $(cat /tmp/log)"
            where=$(sed -n 's|^\([^ ]*\) /drill .*|\1|p' /proc/mounts) type=$(sed -n 's|^[^ ]* /drill \([^ ]*\).*|\1|p' /proc/mounts)
            umount /drill
            case $type in
            ext4) e2fsck -fn "$where" ;;
            xfs) xfs_repair -n "$where" ;;
            btrfs) btrfs check --readonly "$where" ;;
            esac >/tmp/fsck 2>&1 && said "file system sound" || said "file system damaged"
        else
            said "cannot be mounted: $(tail -n 1 /tmp/log)"
        fi
        said "step ended"
        ;;
    esac
}
