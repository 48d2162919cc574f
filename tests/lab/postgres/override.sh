# ext4 as it should be, over a disk of which somebody told the kernel that it has no cache.
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() {
    echo "write through" >/sys/block/vda/queue/write_cache
    mount -t ext4 -o noatime /dev/vda /drill
}
