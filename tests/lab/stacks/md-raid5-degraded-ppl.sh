# RAID5 with a partial parity log that lacks a disk: the next failure loses it, a power failure does not.
a=$(disk cache-a) b=$(disk cache-b) c=$(disk cache-c)
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --consistency-policy=ppl "$a" "$b" "$c"
mdadm /dev/md0 --fail "$c" --remove "$c"
ext4 /dev/md0
#= standing("durable")
#= redundancy("degraded")
#= leaves == ["sda", "sdb"]
