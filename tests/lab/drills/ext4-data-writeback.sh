# ext4 that does not order data before metadata.
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 -o data=writeback "$disk" "$at"; }
