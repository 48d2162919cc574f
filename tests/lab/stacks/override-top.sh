# The kernel was told that the volume writes through, over a disk that caches.
group "$(disk cache-a)"
lvm lvcreate -q -y -n data -l 100%VG lab
ext4 /dev/lab/data
echo "write through" >/sys/block/dm-0/queue/write_cache
#= standing("contradictory") or standing("at-risk")
