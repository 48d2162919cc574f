# ext4 as mke2fs makes it and mount mounts it.
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 "$disk" "$at"; }
