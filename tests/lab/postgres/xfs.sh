# XFS as walwise advises it.
make() { mkfs.xfs -q -f -K /dev/vda; }
open() { mount -t xfs -o noatime /dev/vda /drill; }
