# RAID1 of which a leg has failed and was not taken out.
a=$(disk cache-a) b=$(disk cache-b)
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$a" "$b"
mdadm /dev/md0 --fail "$b"
ext4 /dev/md0
#= standing("durable")
#= redundancy("degraded")
#= leaves == ["sda"]
#= device("sdb"; "device.used_by") == ["member of md0"]
