# RAID5 with a bitmap that lacks a disk: after a power failure what that held is worked out from parity that may be wrong.
a=$(disk cache-a) b=$(disk cache-b) c=$(disk cache-c)
mdadm -C /dev/md0 --run --assume-clean -l5 -n3 --bitmap=internal "$a" "$b" "$c"
mdadm /dev/md0 --fail "$c" --remove "$c"
ext4 /dev/md0
#= standing("at-risk")
#= redundancy("degraded")
#= leaves == ["sda", "sdb"]
#= evidence("device md0"; "write hole open")
#= applies("md.write-hole-degraded")
