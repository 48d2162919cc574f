# LVM's own RAID1, whose state only LVM tells.
group "$(disk cache-a)" "$(disk cache-b)"
lvm lvcreate -q -y --type raid1 -m1 --nosync -n data -L 200M lab
ext4 /dev/lab/data
#= standing("durable")
#= redundancy("unknown")
#= leaves == ["sda", "sdb"]
#= any(.facts[]; .fact == "dm.targets" and .reading.value == ["raid"])
#= verdict.second_fault | test("lv_health_status")
