# An LVM volume with dm-writecache: everything is written to the cache disk first.
a=$(disk spinning) b=$(disk cache-a)
group "$a" "$b"
lvm lvcreate -q -y -n data -L 300M lab "$a"
lvm lvcreate -q -y -n fast -L 100M lab "$b"
lvm lvchange -an lab/fast
lvm lvconvert -q -y --type writecache --cachevol fast lab/data
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= device("dm-0"; "dm.targets") == ["writecache"]
