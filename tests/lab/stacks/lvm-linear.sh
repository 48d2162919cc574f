# A linear LVM volume over two disks: it may use both.
a=$(disk cache-a) b=$(disk cache-b)
group "$a" "$b"
lvm lvcreate -q -y -n data -l 100%VG lab
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= device("dm-0"; "dm.targets") == ["linear", "linear"]
