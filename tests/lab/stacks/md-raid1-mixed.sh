# RAID1 of a disk with a write cache and one that says it has none, and answers so when asked past the kernel.
a=$(disk cache-a) b=$(disk plain-a)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$a" "$b"
ext4 /dev/md0
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= cache("sda"; "volatile; flushes passed on")
#= cache("sdb"; "none claimed; flushes dropped")
