# Stacks of the lab: file systems and what is put on them. A line `### NAME` begins one, as tests/lab/sections reads them.

### bind
# A directory of an ext4 that is mounted by itself.
ext4 "$(disk cache-a)"
mkdir /lab/whole
mount --move "/lab/$stack" /lab/whole
mkdir /lab/whole/pg
mount --bind /lab/whole/pg "/lab/$stack"
#= standing("durable")
#= leaves == ["sda"]
#= any(.stacks[0].layers[]; .text | test("directory /pg"))

### btrfs-raid1
# btrfs over two disks, data and metadata twice.
a=$(disk cache-a) b=$(disk cache-b)
modprobe btrfs
mkfs.btrfs -q -f -d raid1 -m raid1 "$a" "$b"
put "$a" btrfs
#= standing("durable")
#= leaves == ["sda", "sdb"]

### ext4-external-journal
# ext4 with its journal on another disk: that disk matters as much.
a=$(disk cache-a) b=$(disk cache-b)
mke2fs -q -F -b 4096 -O journal_dev "$b"
mke2fs -q -F -t ext4 -b 4096 -J device="$b" "$a"
put "$a" ext4
#= standing("durable")
#= leaves == ["sda", "sdb"]

### ext4-no-journal
# ext4 without a journal: flushes arrive, but after a crash whole directories may be gone.
a=$(disk cache-a)
mke2fs -q -F -t ext4 -O ^has_journal "$a"
put "$a" ext4
#= standing("at-risk")
#= applies("ext4.no-journal")

### ext4-nobarrier
# ext4 mounted with nobarrier over a disk with a write cache: commits can be lost, and the file system damaged.
ext4 "$(disk cache-a)" -o nobarrier
#= standing("at-risk")

### image
# The container image, started as documented: as root and with the host's namespaces it gives the host's verdict.
ext4 "$(disk cache-a)"
mount -t cgroup2 none /sys/fs/cgroup
walwise check --no-probe -v --format json /lab/image | jq -S .verdicts >/tmp/host
crun --cgroup-manager=disabled run --no-pivot --bundle /image image | jq -S .verdicts >/tmp/image
umount /sys/fs/cgroup
grep -q '"durable"' /tmp/host || fail "no verdict on the host"
cmp /tmp/host /tmp/image || fail "in a container: $(cat /tmp/image)"
#= standing("durable")

### quiet-btrfs
# btrfs while a GiB waits to be written: looking writes none of it.
device=$(disk roomy)
modprobe btrfs
mkfs.btrfs -q -f "$device"
put "$device" btrfs
keeps_dirty 1024
#= standing("durable")

### quiet-ext4
# ext4 while a GiB waits to be written: looking writes none of it.
ext4 "$(disk roomy)"
keeps_dirty 1024
#= standing("durable")

### quiet-xfs
# XFS while a GiB waits to be written: looking writes none of it.
xfs "$(disk roomy)"
keeps_dirty 1024
#= standing("durable")

### quota-ext4
# A user's quota on ext4: a probe keeps to it and says so. The kernels of many clouds know no quotas; Debian's do.
device=$(disk cache-a)
modprobe quota_v2
mke2fs -q -F -E nodiscard -t ext4 -O quota "$device"
put "$device" ext4 -o usrquota
meets_quota
#= standing("durable")

### quota-xfs
# A user's quota on XFS: a probe keeps to it and says so.
device=$(disk cache-a)
mkfs.xfs -q -f -K "$device"
put "$device" xfs -o uquota
meets_quota
#= standing("durable")

### swap-beside
# Swap on another partition of the disk.
a=$(disk cache-a)
partition "$a" ',100M,S' ',,L'
mkswap -q "${a}1"
swapon "${a}1"
ext4 "${a}2"
#= standing("durable")
#= device("sda1"; "device.swap") == true

### xfs
# XFS on a disk with a write cache.
xfs "$(disk cache-a)"
#= standing("durable")
#= stack("sda")
#= redundancy("none")
