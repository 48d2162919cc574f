# A loop that was given a disk instead of a file.
modprobe loop max_loop=0
ext4 "$(losetup -f --show "$(disk cache-a)")"
#= standing("durable")
#= leaves == ["sda"]
#= stack("loop0: loop.*\nsda")
