# ext4 told not to flush, over a disk that forgets.
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 -o nobarrier "$disk" "$at"; }
