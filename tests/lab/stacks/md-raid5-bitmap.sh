# RAID5 with a bitmap: after a crash parity may be wrong, which the resync mends unless a disk fails before (write hole).
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --bitmap=internal "$(disk cache-a)" "$(disk cache-b)" "$(disk cache-c)"
ext4 /dev/md0
#= standing("durable")
#= stack("md0: RAID5")
#= device("md0"; "md.consistency_policy") == "bitmap"
#= device("md0"; "md.bitmap") != "none"
#= redundancy("write-hole")
