# Configurations of tests/lab/drill. A line `### NAME` begins one, as tests/lab/sections reads them.

### btrfs-nobarrier
# btrfs told not to flush, over a disk that forgets.
make() { mkfs.btrfs -q -f -K "$disk"; }
open() { mount -t btrfs -o nobarrier "$disk" "$at"; }

### btrfs-nodatacow
# btrfs that overwrites data in place.
make() { mkfs.btrfs -q -f -K "$disk"; }
open() { mount -t btrfs -o nodatacow "$disk" "$at"; }

### btrfs
# btrfs as mkfs.btrfs makes it.
make() { mkfs.btrfs -q -f -K "$disk"; }
open() { mount -t btrfs "$disk" "$at"; }

### ext4-data-journal
# ext4 that writes data into its journal first.
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 -o data=journal "$disk" "$at"; }

### ext4-data-writeback
# ext4 that does not order data before metadata.
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 -o data=writeback "$disk" "$at"; }

### ext4-fast-commit
# ext4 with fast commits.
#fault Linux 6.12 and 6.18 replay the fast commit of a new directory with wrong link counts; no commit is lost
make() { mke2fs -q -F -E nodiscard -t ext4 -O fast_commit "$disk"; }
open() { mount -t ext4 "$disk" "$at"; }

### ext4-lvm
# ext4 over a logical volume.
make() {
    lvm pvcreate -q -ff -y "$disk"
    lvm vgcreate -q drill$nth "$disk"
    lvm lvcreate -q -y -Wn -Zn -l 100%FREE -n data drill$nth
    mke2fs -q -F -E nodiscard -t ext4 /dev/drill$nth/data
}
open() {
    lvm vgchange -q -ay drill$nth
    lvm vgmknodes -q drill$nth
    mount -t ext4 /dev/drill$nth/data "$at"
}
close() { lvm vgchange -q -an drill$nth; }

### ext4-md-raid1
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
close() { mdadm -q -S /dev/md$nth; }

### ext4-nobarrier
# ext4 told not to flush, over a disk that forgets.
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 -o nobarrier "$disk" "$at"; }

### ext4
# ext4 as mke2fs makes it and mount mounts it.
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 "$disk" "$at"; }

### no-cache-nobarrier
# ext4 told not to flush, over a disk that has no cache to flush.
#disk virtio-blk-pci,write-cache=off
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 -o nobarrier "$disk" "$at"; }

### override
# ext4 as it should be, over a disk of which somebody told the kernel that it has no cache.
#unseen that the disk holds writes back after all: the kernel was told otherwise and asks for no flush
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() {
    echo "write through" >/sys/block/${entire##*/}/queue/write_cache
    mount -t ext4 "$disk" "$at"
}

### usb
# ext4 as it should be, over a disk behind a USB bridge.
#disk usb-storage
#unseen whether the bridge passes a flush on to the disk or answers it itself
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 "$disk" "$at"; }

### xfs
# XFS as mkfs.xfs makes it.
make() { mkfs.xfs -q -f -K "$disk"; }
open() { mount -t xfs "$disk" "$at"; }
