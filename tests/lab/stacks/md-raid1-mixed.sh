# RAID1 of a disk with a write cache and one that says it has none, which is the kernel's word alone.
a=$(disk cache-a) b=$(disk plain-a)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$a" "$b"
ext4 /dev/md0
#= standing("unproven")
#= leaves == ["sda", "sdb"]
#= cache("sda"; "volatile; flushes are passed on")
#= cache("sdb"; "unknown; flushes are not passed on")
