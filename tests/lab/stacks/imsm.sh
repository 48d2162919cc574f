# RAID1 of firmware RAID (Intel's metadata) with a partition: a container that never runs, and its volume.
# Its metadata are written by mdmon, which mdadm starts.
export IMSM_NO_PLATFORM=1 IMSM_DEVNAME_AS_SERIAL=1
a=$(disk cache-a) b=$(disk cache-b)
mdadm -C /dev/md127 --run -e imsm -n2 "$a" "$b"
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 /dev/md127
partition /dev/md0 ',,L'
ext4 /dev/md0p1
#= standing("durable")
#= redundancy("whole")
#= leaves == ["sda", "sdb"]
#= device("md127"; "md.level") == "container"
#= device("md0"; "md.metadata") | startswith("external:")
#= applies("md.not-running") | not
