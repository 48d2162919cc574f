# A striped LVM volume over two disks.
a=$(disk cache-a) b=$(disk cache-b)
group "$a" "$b"
lvm lvcreate -q -y -n data -i 2 -L 400M lab
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= device("dm-0"; "dm.targets") == ["striped"]
