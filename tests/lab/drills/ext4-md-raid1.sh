# ext4 over RAID1 of two disks that forget.
#disks 2
make() {
    mdadm -q -C /dev/md$nth --run --assume-clean -l1 -n2 "$disk" "$twin"
    mke2fs -q -F -E nodiscard -t ext4 /dev/md$nth
}
open() {
    [ -b /dev/md$nth ] || mdadm -q -A /dev/md$nth --run "$disk" "$twin"
    mount -t ext4 /dev/md$nth "$at"
}
