# RAID1 that lost a leg: still durable, and one failure from losing everything.
a=$(disk cache-a) b=$(disk cache-b)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$a" "$b"
mdadm /dev/md0 --fail "$b" --remove "$b"
ext4 /dev/md0
#= standing("durable")
#= leaves == ["sda"]
#= device("md0"; "md.degraded") == 1
#= redundancy("degraded")
