# Stacks of the lab: md and firmware RAID. A line `### NAME` begins one, as tests/lab/sections reads them.

### imsm
# RAID1 of firmware RAID (Intel's metadata) with a partition: a container that never runs, and its volume.
# Its metadata are written by mdmon, which mdadm starts.
export IMSM_NO_PLATFORM=1 IMSM_DEVNAME_AS_SERIAL=1
a=$(disk cache-a) b=$(disk cache-b)
mdadm -C /dev/md127 --run -e imsm -n2 "$a" "$b"
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 /dev/md127
partition /dev/md0 ',,L'
ext4 /dev/md0p1
#= standing("durable")
#= redundancy("whole")
#= leaves == ["sda", "sdb"]
#= device("md127"; "md.level") == "container"
#= device("md0"; "md.metadata") | startswith("external:")
#= applies("md.not-running") | not

### md-partitioned-degraded
# A partition of RAID1 that lost a leg.
a=$(disk cache-a) b=$(disk cache-b)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$a" "$b"
partition /dev/md0 ',,L'
ext4 /dev/md0p1
mdadm /dev/md0 --fail "$b" --remove "$b"
#= standing("durable")
#= redundancy("degraded")
#= leaves == ["sda"]
#= applies("md.degraded")

### md-partitioned
# A partition of RAID1, as machines with firmware RAID have it.
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$(disk cache-a)" "$(disk cache-b)"
partition /dev/md0 ',,L'
ext4 /dev/md0p1
#= standing("durable")
#= redundancy("whole")
#= leaves == ["sda", "sdb"]
#= stack("md0p1: partition.*\nmd0: RAID1, 2 of 2")

### md-raid1-degraded
# RAID1 that lost a leg: still durable, and one failure from losing everything.
a=$(disk cache-a) b=$(disk cache-b)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$a" "$b"
mdadm /dev/md0 --fail "$b" --remove "$b"
ext4 /dev/md0
#= standing("durable")
#= leaves == ["sda"]
#= device("md0"; "md.degraded") == 1
#= redundancy("degraded")

### md-raid1-failed-member
# RAID1 of which a leg has failed and was not taken out.
a=$(disk cache-a) b=$(disk cache-b)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$a" "$b"
mdadm /dev/md0 --fail "$b"
ext4 /dev/md0
#= standing("durable")
#= redundancy("degraded")
#= leaves == ["sda"]
#= device("sdb"; "device.used_by") == ["member of md0"]

### md-raid1-failed-spare
# RAID1 that is whole and whose spare has failed.
a=$(disk cache-a) b=$(disk cache-b) c=$(disk cache-c)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 -x1 "$a" "$b" "$c"
mdadm /dev/md0 --fail "$c"
ext4 /dev/md0
#= standing("durable")
#= redundancy("failed-member")
#= leaves == ["sda", "sdb"]
#= device("md0"; "md.failed_members") == ["sdc"]
#= device("md0"; "md.degraded") == 0
#= applies("md.failed-member")
#= device("sdc"; "device.used_by") == ["member of md0"]

### md-raid1-mixed
# RAID1 of a disk with a write cache and one that says it has none, and answers so when asked past the kernel.
a=$(disk cache-a) b=$(disk plain-a)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$a" "$b"
ext4 /dev/md0
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= cache("sda"; "volatile; flushes passed on")
#= cache("sdb"; "no volatile cache")

### md-raid1-resync
# RAID1 while its second leg is still being written for the first time.
mdadm -C /dev/md0 --run -l1 -n2 "$(disk cache-a)" "$(disk cache-b)"
echo 1 >/sys/block/md0/md/sync_speed_max
until_true "the resync has begun" grep -qx resync /sys/block/md0/md/sync_action
ext4 /dev/md0
#= standing("durable")
#= device("md0"; "md.sync_action") == "resync"
#= stack("md0: .*resync")

### md-raid10
# RAID10 of four disks with write caches.
mdadm -C /dev/md0 --run --assume-clean -l10 -n4 "$(disk cache-a)" "$(disk cache-b)" "$(disk cache-c)" "$(disk cache-d)"
ext4 /dev/md0
#= standing("durable")
#= stack("md0: RAID10")
#= leaves == ["sda", "sdb", "sdc", "sdd"]

### md-raid5-bitmap
# RAID5 with a bitmap: after a crash parity may be wrong, which the resync mends unless a disk fails before (write hole).
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --bitmap=internal "$(disk cache-a)" "$(disk cache-b)" "$(disk cache-c)"
ext4 /dev/md0
#= standing("durable")
#= stack("md0: RAID5")
#= device("md0"; "md.consistency_policy") == "bitmap"
#= device("md0"; "md.bitmap") != "none"
#= redundancy("write-hole")

### md-raid5-degraded-ppl
# RAID5 with a partial parity log that lacks a disk: the next failure loses it, a power failure does not.
a=$(disk cache-a) b=$(disk cache-b) c=$(disk cache-c)
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --consistency-policy=ppl "$a" "$b" "$c"
mdadm /dev/md0 --fail "$c" --remove "$c"
ext4 /dev/md0
#= standing("durable")
#= redundancy("degraded")
#= leaves == ["sda", "sdb"]

### md-raid5-degraded
# RAID5 with a bitmap that lacks a disk: after a power failure what that held is worked out from parity that may be wrong.
a=$(disk cache-a) b=$(disk cache-b) c=$(disk cache-c)
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --bitmap=internal "$a" "$b" "$c"
mdadm /dev/md0 --fail "$c" --remove "$c"
ext4 /dev/md0
#= standing("at-risk")
#= redundancy("degraded")
#= leaves == ["sda", "sdb"]
#= evidence("device md0"; "open write hole")
#= applies("md.write-hole-degraded")

### md-raid5-journal
# RAID5 with a journal device, which closes the write hole.
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --write-journal="$(disk plain-a)" \
    "$(disk cache-a)" "$(disk cache-b)" "$(disk cache-c)"
ext4 /dev/md0
#= stack("md0: RAID5")
#= device("md0"; "md.consistency_policy") == "journal"
#= leaves == ["sda", "sdb", "sdc", "sdd"]

### md-raid5-ppl
# RAID5 with a partial parity log, which closes the write hole.
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --consistency-policy=ppl \
    "$(disk cache-a)" "$(disk cache-b)" "$(disk cache-c)"
ext4 /dev/md0
#= standing("durable")
#= stack("md0: RAID5")
#= device("md0"; "md.consistency_policy") == "ppl"
#= redundancy("whole")
