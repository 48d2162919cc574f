# btrfs while hundreds of MiB wait to be written: looking writes none of them.
device=$(disk cache-a)
modprobe btrfs
mkfs.btrfs -q -f "$device"
put "$device" btrfs
keeps_dirty 300
#= standing("durable")
