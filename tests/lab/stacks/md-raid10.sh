# RAID10 of four disks with write caches.
mdadm -C /dev/md0 --run --assume-clean -l10 -n4 "$(disk cache-a)" "$(disk cache-b)" "$(disk cache-c)" "$(disk cache-d)"
ext4 /dev/md0
#= standing("durable")
#= stack("md0: RAID10")
#= leaves == ["sda", "sdb", "sdc", "sdd"]
