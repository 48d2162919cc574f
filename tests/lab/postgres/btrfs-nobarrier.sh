# btrfs told not to flush, over a disk that forgets.
make() { mkfs.btrfs -q -f -K /dev/vda; }
open() { mount -t btrfs -o noatime,nobarrier /dev/vda /drill; }
prepare() { mkdir -p $MAIN && chattr +C $MAIN; }
