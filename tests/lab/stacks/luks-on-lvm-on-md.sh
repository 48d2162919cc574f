# The usual server: LUKS on an LVM volume on RAID1 on partitions.
a=$(disk cache-a) b=$(disk cache-b)
partition "$a" ',,fd'
partition "$b" ',,fd'
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "${a}1" "${b}1"
group /dev/md0
lvm lvcreate -q -y -n data -l 100%VG lab
encrypt /dev/lab/data
ext4 /dev/mapper/secret
#= standing("durable")
#= leaves == ["sda", "sdb"]
#= stack("dm-1: LUKS.*\ndm-0: LVM.*\nmd0: RAID1.*\nsda1: partition")
