# ext4 with fast commits.
make() { mke2fs -q -F -E nodiscard -t ext4 -O fast_commit "$disk"; }
open() { mount -t ext4 "$disk" "$at"; }
