# RAID5 with a journal device, which closes the write hole.
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --write-journal="$(disk plain-a)" \
    "$(disk cache-a)" "$(disk cache-b)" "$(disk cache-c)"
ext4 /dev/md0
#= stack("md0: RAID5")
#= device("md0"; "md.consistency_policy") == "journal"
#= leaves == ["sda", "sdb", "sdc", "sdd"]
