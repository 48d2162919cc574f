# A file of an ext4 as a disk: flushes pass through two file systems.
modprobe loop max_loop=0
ext4 "$(disk cache-a)"
mkdir /lab/under
mount --move "/lab/$stack" /lab/under
truncate -s 100M /lab/under/image
ext4 "$(losetup -f --show /lab/under/image)"
#= standing("durable")
#= leaves == ["sda"]
