# A thin LVM volume: promised space can be more than there is.
group "$(disk cache-a)"
lvm lvcreate -q -y --type thin -n data -V 1G -L 300M --thinpool pool lab
ext4 /dev/lab/data
#= standing("durable")
#= leaves == ["sda"]
#= device("dm-4"; "dm.targets") == ["thin"]
#= [.facts[] | select(.fact == "thin.data_percent" and .reading.value != null)] | length > 0
