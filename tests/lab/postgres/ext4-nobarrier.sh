# ext4 told not to flush, over a disk that forgets.
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() { mount -t ext4 -o noatime,nobarrier /dev/vda /drill; }
