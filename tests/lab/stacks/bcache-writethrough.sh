# bcache, write through: commits are on the disk below as well.
modprobe bcache
a=$(disk spinning) b=$(disk cache-a)
make-bcache -B "$a" -C "$b"
echo "$b" >/sys/fs/bcache/register
echo "$a" >/sys/fs/bcache/register
until_true "there is a bcache device" test -b /dev/bcache0
ext4 /dev/bcache0
#= leaves == ["sda", "sdb"]
#= standing("durable")
#= device("bcache0"; "bcache.cache_mode") == "writethrough"
