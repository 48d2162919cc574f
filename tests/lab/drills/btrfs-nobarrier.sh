# btrfs told not to flush, over a disk that forgets.
make() { mkfs.btrfs -q -f -K "$disk"; }
open() { mount -t btrfs -o nobarrier "$disk" "$at"; }
