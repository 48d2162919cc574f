# A volume made while the disk was said to write through; the disk was set right afterwards. Up to 6.10 the volume keeps it.
a=$(disk cache-a)
group "$a"
echo "write through" >/sys/block/sda/queue/write_cache
lvm lvcreate -q -y -n data -l 100%VG lab
echo "write back" >/sys/block/sda/queue/write_cache
ext4 /dev/lab/data
#= device("sda"; "device.write_cache") == "write back"
#= device("dm-0"; "device.write_cache") == if $kernel == "6.1" then "write through" else "write back" end
#= if $kernel == "6.1" then standing("contradictory") or standing("at-risk") else standing("durable") end
