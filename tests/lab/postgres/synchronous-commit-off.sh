# ext4 as walwise advises it, and synchronous_commit off.
make() { mkfs.ext4 -q -F -E nodiscard -m 1 /dev/vda; }
open() { mount -t ext4 -o noatime /dev/vda /drill; }
settings() { echo "synchronous_commit = off"; }
