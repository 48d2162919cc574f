# The kernel was told that the disk writes through, over a disk that caches: nothing is flushed any more.
a=$(disk cache-a)
echo "write through" >"/sys/block/${a#/dev/}/queue/write_cache"
ext4 "$a"
#= standing("contradictory") or standing("at-risk")
