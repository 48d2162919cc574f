# btrfs that overwrites data in place.
make() { mkfs.btrfs -q -f -K /dev/vda; }
open() { mount -t btrfs -o nodatacow /dev/vda /drill; }
