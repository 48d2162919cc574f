# btrfs as mkfs.btrfs makes it.
make() { mkfs.btrfs -q -f -K "$disk"; }
open() { mount -t btrfs "$disk" "$at"; }
