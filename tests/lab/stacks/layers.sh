# Stacks of the lab: device mapper, LVM, bcache, DRBD and loop devices. A line `### NAME` begins one, as tests/lab/sections reads them.

### bcache-writeback
# bcache, write back: what was committed may be on the cache disk alone.
modprobe bcache
a=$(disk spinning) b=$(disk cache-a)
make-bcache --writeback -B "$a" -C "$b"
echo "$b" >/sys/fs/bcache/register
echo "$a" >/sys/fs/bcache/register
until_true "there is a bcache device" test -b /dev/bcache0
echo writeback >/sys/block/bcache0/bcache/cache_mode
ext4 /dev/bcache0
#= leaves == ["sda", "sdb"]
#= standing("durable")
#= device("bcache0"; "bcache.cache_mode") == "writeback"

### bcache-writethrough
# bcache, write through: commits are on the disk below as well.
modprobe bcache
a=$(disk spinning) b=$(disk cache-a)
make-bcache -B "$a" -C "$b"
echo "$b" >/sys/fs/bcache/register
echo "$a" >/sys/fs/bcache/register
until_true "there is a bcache device" test -b /dev/bcache0
ext4 /dev/bcache0
#= leaves == ["sda", "sdb"]
#= standing("durable")
#= device("bcache0"; "bcache.cache_mode") == "writethrough"

### dm-integrity
# dm-integrity by itself: checksums and a journal of its own before the disk.
a=$(disk cache-a)
partition "$a" ',64M,L'
integritysetup format -q "${a}1"
integritysetup open "${a}1" checked
ext4 /dev/mapper/checked
#= standing("durable")
#= leaves == ["sda"]
#= device("dm-0"; "dm.targets") == ["integrity"]

### dm-unlisted
# A mapping of which walwise knows nothing: it may do with a flush what it likes.
a=$(disk cache-a)
dmsetup create slow --table "0 $(cat "/sys/class/block/${a##*/}/size") delay $a 0 0"
ext4 /dev/mapper/slow
#= standing("unproven")
#= evidence("device dm-0"; "cannot inspect")
#= leaves == ["sda"]

### drbd-no-flushes
# DRBD with disk-flushes and md-flushes off: its own disk still gets the flushes of a file system, and its peer's gets none.
a=$(disk cache-a) b=$(disk cache-b)
pair C "$a" "$b" --disk-flushes=no --md-flushes=no
commits /dev/drbd0 "$a" "$b"
[ "$on_own" -ge 20 ] || fail "20 flushes came to $on_own on its own disk"
[ "$on_peer" = 0 ] || fail "20 flushes came to $on_peer on its peer's disk"
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("durable")
#= evidence("device drbd0"; "protocol C")
#= device("drbd0"; "drbd.protocol") == "C"
#= device("drbd0"; "drbd.write_ordering") == "drain"
#= device("drbd0"; "drbd.md_flushes") == false
#= applies("layer.drbd-no-disk-flushes") and applies("layer.drbd-no-md-flushes")

### drbd-pair
# DRBD with its defaults: the flushes of a file system reach its own disk and, as barriers between epochs, its peer's.
a=$(disk cache-a) b=$(disk cache-b)
pair C "$a" "$b"
commits /dev/drbd0 "$a" "$b"
[ "$on_own" -ge 20 ] || fail "20 flushes came to $on_own on its own disk"
[ "$on_peer" -ge 20 ] || fail "20 flushes came to $on_peer on its peer's disk"
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("durable")
#= evidence("device drbd0"; "protocol C")
#= device("drbd0"; "drbd.protocol") == "C"
#= device("drbd0"; "drbd.write_ordering") == "flush"
#= device("drbd0"; "drbd.md_flushes") == true
#= (applies("layer.drbd-no-disk-flushes") or applies("layer.drbd-no-md-flushes")) | not

### drbd-protocol-a
# DRBD that calls a commit done before its peer has it (protocol A); here the peer is a second device of the same machine.
a=$(disk cache-a) b=$(disk cache-b)
pair A "$a" "$b"
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("durable")
#= evidence("device drbd0"; "protocol A")
#= device("drbd0"; "drbd.protocol") == "A"
#= applies("layer.drbd-asynchronous")

### drbd
# DRBD that replicates to nobody: its own disk gets every flush.
a=$(disk cache-a)
modprobe drbd
drbdmeta --force 0 v08 "$a" internal create-md
drbdsetup new-resource r0
drbdsetup new-minor r0 0 0
drbdsetup attach 0 "$a" "$a" internal
drbdsetup primary 0 --force
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("durable")
#= device("drbd0"; "drbd.protocol") == null
#= device("drbd0"; "drbd.write_ordering") == "flush"
#= device("drbd0"; "drbd.md_flushes") == true
#= (applies("layer.drbd-no-disk-flushes") or applies("layer.drbd-no-md-flushes")) | not

### loop-over-disk
# A loop that was given a disk instead of a file.
modprobe loop max_loop=0
ext4 "$(losetup -f --show "$(disk cache-a)")"
#= standing("durable")
#= leaves == ["sda"]
#= stack("loop0: loop.*\nsda")

### loop
# A file of an ext4 as a disk: flushes pass through two file systems.
modprobe loop max_loop=0
ext4 "$(disk cache-a)"
mkdir /lab/under
mount --move "/lab/$stack" /lab/under
truncate -s 100M /lab/under/image
ext4 "$(losetup -f --show /lab/under/image)"
#= standing("durable")
#= leaves == ["sda"]

### luks-on-lvm-on-md
# The usual server: LUKS on an LVM volume on RAID1 on partitions.
a=$(disk cache-a) b=$(disk cache-b)
partition "$a" ',,fd'
partition "$b" ',,fd'
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "${a}1" "${b}1"
group /dev/md0
lvm lvcreate -q -y -n data -l 100%VG lab
encrypt /dev/lab/data
ext4 /dev/mapper/secret
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= stack("dm-1: LUKS.*\ndm-0: LVM.*\nmd0: RAID1.*\nsda1: partition")

### luks
# LUKS on a disk with a write cache: dm-crypt passes flushes on.
a=$(disk cache-a)
encrypt "$a"
ext4 /dev/mapper/secret
#= standing("durable")
#= leaves == ["sda"]
#= device("dm-0"; "dm.targets") == ["crypt"]

### lvm-cache-writeback
# An LVM volume cached on another disk (dm-cache, write back): what was committed may be on the cache disk alone.
a=$(disk spinning) b=$(disk cache-a)
group "$a" "$b"
lvm lvcreate -q -y -n data -L 300M lab "$a"
lvm lvcreate -q -y -n fast -L 100M lab "$b"
lvm lvconvert -q -y --type cache --cachevol fast --cachemode writeback lab/data
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= device("dm-0"; "dm.targets") == ["cache"]
#= device("dm-0"; "dm.cache_mode") == "writeback"

### lvm-cache-writethrough
# An LVM volume cached on another disk (dm-cache, write through).
a=$(disk spinning) b=$(disk cache-a)
group "$a" "$b"
lvm lvcreate -q -y -n data -L 300M lab "$a"
lvm lvcreate -q -y -n fast -L 100M lab "$b"
lvm lvconvert -q -y --type cache --cachevol fast --cachemode writethrough lab/data
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= device("dm-0"; "dm.cache_mode") == "writethrough"

### lvm-linear
# A linear LVM volume over two disks: it may use both.
a=$(disk cache-a) b=$(disk cache-b)
group "$a" "$b"
lvm lvcreate -q -y -n data -l 100%VG lab
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= device("dm-0"; "dm.targets") == ["linear", "linear"]

### lvm-raid1
# LVM's own RAID1, whose legs `dmsetup status` shows.
group "$(disk cache-a)" "$(disk cache-b)"
lvm lvcreate -q -y --type raid1 -m1 --nosync -n data -L 200M lab
ext4 /dev/lab/data
#= standing("durable")
#= redundancy("whole")
#= leaves == ["sda", "sdb"]
#= any(.facts[]; .fact == "dm.targets" and .reading.value == ["raid"])

### lvm-snapshot
# An LVM volume with a classic snapshot: every first write to a place is written twice.
group "$(disk cache-a)"
lvm lvcreate -q -y -n data -L 200M lab
lvm lvcreate -q -y -s -n before -L 100M lab/data
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda"]
#= device("dm-0"; "dm.targets") == ["snapshot-origin"]

### lvm-striped
# A striped LVM volume over two disks.
a=$(disk cache-a) b=$(disk cache-b)
group "$a" "$b"
lvm lvcreate -q -y -n data -i 2 -L 400M lab
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= device("dm-0"; "dm.targets") == ["striped"]

### lvm-thin
# A thin LVM volume: promised space can be more than there is.
group "$(disk cache-a)"
lvm lvcreate -q -y --type thin -n data -V 1G -L 300M --thinpool pool lab
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda"]
#= device("dm-4"; "dm.targets") == ["thin"]
#= [.facts[] | select(.fact == "thin.data_percent" and .reading.value != null)] | length > 0

### lvm-writecache
# An LVM volume with dm-writecache: everything is written to the cache disk first.
a=$(disk spinning) b=$(disk cache-a)
group "$a" "$b"
lvm lvcreate -q -y -n data -L 300M lab "$a"
lvm lvcreate -q -y -n fast -L 100M lab "$b"
lvm lvchange -an lab/fast
lvm lvconvert -q -y --type writecache --cachevol fast lab/data
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= device("dm-0"; "dm.targets") == ["writecache"]

### multipath
# One disk behind two ports, joined by dm-multipath: two paths, one leaf.
a=$(disk port-1) b=$(disk port-2)
size=$(blockdev --getsz "$a")
modprobe dm_multipath
modprobe dm_round_robin
dmsetup create mpatha -u mpath-35000c50000000001 --table "0 $size multipath 0 0 1 1 round-robin 0 2 1 $a 1 $b 1"
ext4 /dev/mapper/mpatha
#= standing("durable")
#= device("sda"; "device.unit") == "naa.5000c50000000001"
#= device("sdb"; "device.unit") == "naa.5000c50000000001"

### nbd
# A disk on the network (nbd): what its server does after a flush cannot be seen from here.
modprobe nbd nbds_max=1
nbdkit -U /run/nbd.sock --filter=exitlast memory 256M
until_true "the server listens" test -S /run/nbd.sock
nbd-client -unix /run/nbd.sock /dev/nbd0
ext4 "$(fresh /dev/nbd0)"
#= leaves == ["nbd0"]
#= standing("unproven")
#= device("nbd0"; "device.fabric") == "nbd"
