# RAID1 that is whole and whose spare has failed.
a=$(disk cache-a) b=$(disk cache-b) c=$(disk cache-c)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 -x1 "$a" "$b" "$c"
mdadm /dev/md0 --fail "$c"
ext4 /dev/md0
#= standing("durable")
#= redundancy("failed-member")
#= leaves == ["sda", "sdb"]
#= device("md0"; "md.failed_members") == ["sdc"]
#= device("md0"; "md.degraded") == 0
#= applies("md.failed-member")
#= device("sdc"; "device.used_by") == ["member of md0"]
