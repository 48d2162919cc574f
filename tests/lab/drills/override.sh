# ext4 as it should be, over a disk of which somebody told the kernel that it has no cache.
#unseen that the disk holds writes back after all: the kernel was told otherwise and asks for no flush
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() {
    echo "write through" >/sys/block/${disk##*/}/queue/write_cache
    mount -t ext4 "$disk" "$at"
}
