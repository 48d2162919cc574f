# A partition of RAID1, as machines with firmware RAID have it.
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$(disk cache-a)" "$(disk cache-b)"
partition /dev/md0 ',,L'
ext4 /dev/md0p1
#= standing("durable")
#= redundancy("whole")
#= leaves == ["sda", "sdb"]
#= stack("md0p1: partition.*\nmd0: RAID1, 2 of 2")
