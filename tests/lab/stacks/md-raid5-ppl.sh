# RAID5 with a partial parity log, which closes the write hole.
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --consistency-policy=ppl \
    "$(disk cache-a)" "$(disk cache-b)" "$(disk cache-c)"
ext4 /dev/md0
#= standing("durable")
#= stack("md0: RAID5")
#= device("md0"; "md.consistency_policy") == "ppl"
#= redundancy("whole")
