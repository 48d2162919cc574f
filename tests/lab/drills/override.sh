# ext4 as it should be, over a disk of which somebody told the kernel that it has no cache.
make() { mke2fs -q -F -E nodiscard -t ext4 /dev/vda; }
open() {
    echo "write through" >/sys/block/vda/queue/write_cache
    mount -t ext4 /dev/vda /drill
}
