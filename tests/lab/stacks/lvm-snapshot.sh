# An LVM volume with a classic snapshot: every first write to a place is written twice.
group "$(disk cache-a)"
lvm lvcreate -q -y -n data -L 200M lab
lvm lvcreate -q -y -s -n before -L 100M lab/data
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda"]
#= device("dm-0"; "dm.targets") == ["snapshot-origin"]
