# Configurations of tests/lab/drill-postgres --passive: stacks whose disks must get each flush of the server. A line
# `### NAME` begins one, as tests/lab/sections reads them.

### btrfs
make() { mkfs.btrfs -q -f -K /dev/vda; }
open() { mount -t btrfs -o noatime /dev/vda /drill; }
prepare() { mkdir -p $MAIN && chattr +C $MAIN; }

### btrfs-cow
make() { mkfs.btrfs -q -f -K /dev/vda; }
open() { mount -t btrfs -o noatime /dev/vda /drill; }

### ext4
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() { mount -t ext4 -o noatime /dev/vda /drill; }

### ext4-data-journal
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() { mount -t ext4 -o data=journal /dev/vda /drill; }

### ext4-fast-commit
make() { mkfs.ext4 -q -F -E nodiscard -O fast_commit -m 1 /dev/vda; }
open() { mount -t ext4 -o noatime /dev/vda /drill; }

### lvm
make() {
    lvm pvcreate -q -ff -y /dev/vda
    lvm vgcreate -q drill /dev/vda
    lvm lvcreate -q -y -Wn -Zn -l 100%FREE -n data drill
    mkfs.ext4 -q -F -E nodiscard -m 1 /dev/drill/data
}
open() { mount -t ext4 -o noatime /dev/drill/data /drill; }

### lvm-striped
#disks 2
make() {
    lvm pvcreate -q -ff -y /dev/vda /dev/vdb
    lvm vgcreate -q drill /dev/vda /dev/vdb
    lvm lvcreate -q -y -Wn -Zn -i 2 -l 100%FREE -n data drill
    mkfs.xfs -q -f -K /dev/drill/data
}
open() { mount -t xfs -o noatime /dev/drill/data /drill; }

### md-raid1
#disks 2
make() {
    modprobe raid1
    mdadm -q -C /dev/md0 --run --assume-clean -l1 -n2 /dev/vda /dev/vdb
    mkfs.ext4 -q -F -E nodiscard -m 1 /dev/md0
}
open() { mount -t ext4 -o noatime /dev/md0 /drill; }

### wal-apart
#disks 2
wal_apart noatime

### xfs
make() { mkfs.xfs -q -f -K /dev/vda; }
open() { mount -t xfs -o noatime /dev/vda /drill; }
