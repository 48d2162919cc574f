# XFS as mkfs.xfs makes it.
make() { mkfs.xfs -q -f -K /dev/vda; }
open() { mount -t xfs /dev/vda /drill; }
