# One disk behind two ports, joined by dm-multipath: two paths, one leaf.
a=$(disk port-1) b=$(disk port-2)
size=$(blockdev --getsz "$a")
modprobe dm_multipath
modprobe dm_round_robin
dmsetup create mpatha -u mpath-35000c50000000001 --table "0 $size multipath 0 0 1 1 round-robin 0 2 1 $a 1 $b 1"
ext4 /dev/mapper/mpatha
#= standing("durable")
#= device("sda"; "device.unit") == "naa.5000c50000000001"
#= device("sdb"; "device.unit") == "naa.5000c50000000001"
