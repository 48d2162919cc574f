# bcache, write back: what was committed may be on the cache disk alone.
modprobe bcache
a=$(disk spinning) b=$(disk cache-a)
make-bcache --writeback -B "$a" -C "$b"
echo "$b" >/sys/fs/bcache/register
echo "$a" >/sys/fs/bcache/register
until_true "there is a bcache device" test -b /dev/bcache0
echo writeback >/sys/block/bcache0/bcache/cache_mode
ext4 /dev/bcache0
#= leaves == ["sda", "sdb"]
#= standing("durable")
#= device("bcache0"; "bcache.cache_mode") == "writeback"
