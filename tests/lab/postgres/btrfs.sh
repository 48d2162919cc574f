# btrfs as walwise advises it: the cluster in a directory that overwrites in place.
make() { mkfs.btrfs -q -f -K /dev/vda; }
open() { mount -t btrfs -o noatime /dev/vda /drill; }
prepare() { mkdir -p $MAIN && chattr +C $MAIN; }
