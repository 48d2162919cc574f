# btrfs as mkfs.btrfs makes it.
make() { mkfs.btrfs -q -f -K /dev/vda; }
open() { mount -t btrfs /dev/vda /drill; }
