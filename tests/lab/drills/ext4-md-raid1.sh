# ext4 over RAID1 of two disks that forget.
#disks 2
make() {
    mdadm -q -C /dev/md0 --run --assume-clean -l1 -n2 /dev/vda /dev/vdb
    mke2fs -q -F -E nodiscard -t ext4 /dev/md0
}
open() {
    [ -b /dev/md0 ] || mdadm -q -A /dev/md0 --run /dev/vda /dev/vdb
    mount -t ext4 /dev/md0 /drill
}
