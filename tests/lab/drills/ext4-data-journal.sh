# ext4 that writes data into its journal first.
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 -o data=journal "$disk" "$at"; }
