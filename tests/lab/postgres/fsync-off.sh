# ext4 as walwise advises it, and fsync off.
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() { mount -t ext4 -o noatime /dev/vda /drill; }
settings() { echo "fsync = off"; }
