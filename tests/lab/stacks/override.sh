# Stacks of the lab: disks whose write cache somebody set in the kernel, at each place of a stack. A line `### NAME` begins one, as tests/lab/sections reads them.

### override-inherited
# A volume made while the disk was said to write through; the disk was set right afterwards. Up to 6.10 the volume keeps it.
a=$(disk cache-a)
group "$a"
echo "write through" >/sys/block/sda/queue/write_cache
lvm lvcreate -q -y -n data -l 100%VG lab
echo "write back" >/sys/block/sda/queue/write_cache
ext4 /dev/lab/data
#= device("sda"; "device.write_cache") == "write back"
#= device("dm-0"; "device.write_cache") == if $kernel == "6.1" then "write through" else "write back" end
#= if $kernel == "6.1" then standing("contradictory") or standing("at-risk") else standing("durable") end

### override-leaf
# The kernel was told that the disk writes through, over a disk that caches: nothing is flushed any more.
a=$(disk cache-a)
echo "write through" >"/sys/block/${a#/dev/}/queue/write_cache"
ext4 "$a"
#= standing("contradictory") or standing("at-risk")

### override-middle
# The kernel was told that the RAID under a volume writes through: no flush gets past it.
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$(disk cache-a)" "$(disk cache-b)"
group /dev/md0
lvm lvcreate -q -y -n data -l 100%VG lab
ext4 /dev/lab/data
echo "write through" >/sys/block/md0/queue/write_cache
#= standing("contradictory") or standing("at-risk")

### override-temporary
# The SCSI layer was told for the time being that the disk writes through: the disk itself was not.
a=$(disk cache-a)
echo "temporary write through" >"$(appears "a SCSI disk" '/sys/class/scsi_disk/*/cache_type')"
ext4 "$a"
#= standing("contradictory")

### override-top
# The kernel was told that the volume writes through, over a disk that caches.
group "$(disk cache-a)"
lvm lvcreate -q -y -n data -l 100%VG lab
ext4 /dev/lab/data
echo "write through" >/sys/block/dm-0/queue/write_cache
#= standing("contradictory") or standing("at-risk")
