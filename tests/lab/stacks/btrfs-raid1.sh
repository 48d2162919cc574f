# btrfs over two disks, data and metadata twice.
a=$(disk cache-a) b=$(disk cache-b)
modprobe btrfs
mkfs.btrfs -q -f -d raid1 -m raid1 "$a" "$b"
put "$a" btrfs
#= standing("durable")
#= leaves == ["sda", "sdb"]
