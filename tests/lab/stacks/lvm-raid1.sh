# LVM's own RAID1, whose legs `dmsetup status` shows.
group "$(disk cache-a)" "$(disk cache-b)"
lvm lvcreate -q -y --type raid1 -m1 --nosync -n data -L 200M lab
ext4 /dev/lab/data
#= standing("durable")
#= redundancy("whole")
#= leaves == ["sda", "sdb"]
#= any(.facts[]; .fact == "dm.targets" and .reading.value == ["raid"])
