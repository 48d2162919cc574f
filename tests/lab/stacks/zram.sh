# Compressed memory: everything is gone without power.
modprobe zram num_devices=1
echo 64M >/sys/block/zram0/disksize
ext4 /dev/zram0
#= standing("at-risk")
