# An LVM volume cached on another disk (dm-cache, write back): what was committed may be on the cache disk alone.
a=$(disk spinning) b=$(disk cache-a)
group "$a" "$b"
lvm lvcreate -q -y -n data -L 300M lab "$a"
lvm lvcreate -q -y -n fast -L 100M lab "$b"
lvm lvconvert -q -y --type cache --cachevol fast --cachemode writeback lab/data
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= device("dm-0"; "dm.targets") == ["cache"]
#= device("dm-0"; "dm.cache_mode") == "writeback"
