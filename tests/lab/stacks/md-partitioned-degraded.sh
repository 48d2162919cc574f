# A partition of RAID1 that lost a leg.
a=$(disk cache-a) b=$(disk cache-b)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$a" "$b"
partition /dev/md0 ',,L'
ext4 /dev/md0p1
mdadm /dev/md0 --fail "$b" --remove "$b"
#= standing("durable")
#= redundancy("degraded")
#= leaves == ["sda"]
#= applies("md.degraded")
