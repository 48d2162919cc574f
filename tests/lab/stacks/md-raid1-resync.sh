# RAID1 while its second leg is still being written for the first time.
mdadm -C /dev/md0 --run -l1 -n2 "$(disk cache-a)" "$(disk cache-b)"
echo 1 >/sys/block/md0/md/sync_speed_max
until_true "the resync has begun" grep -qx resync /sys/block/md0/md/sync_action
ext4 /dev/md0
#= standing("durable")
#= device("md0"; "md.sync_action") == "resync"
#= stack("md0: .*resync")
