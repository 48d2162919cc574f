# btrfs while a GiB waits to be written: looking writes none of it.
device=$(disk roomy)
modprobe btrfs
mkfs.btrfs -q -f "$device"
put "$device" btrfs
keeps_dirty 1024
#= standing("durable")
