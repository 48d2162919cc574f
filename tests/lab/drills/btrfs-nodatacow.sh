# btrfs that overwrites data in place.
make() { mkfs.btrfs -q -f -K "$disk"; }
open() { mount -t btrfs -o nodatacow "$disk" "$at"; }
