# The kernel was told that the RAID under a volume writes through: no flush gets past it.
mdadm -C /dev/md0 --run --assume-clean -l1 -n2 "$(disk cache-a)" "$(disk cache-b)"
group /dev/md0
lvm lvcreate -q -y -n data -l 100%VG lab
ext4 /dev/lab/data
echo "write through" >/sys/block/md0/queue/write_cache
#= standing("contradictory") or standing("at-risk")
