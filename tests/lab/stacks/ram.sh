# A disk in memory: everything is gone without power.
modprobe brd rd_nr=1 rd_size=65536
ext4 /dev/ram0
#= standing("at-risk")
