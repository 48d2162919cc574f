# ext4 that does not order data before metadata.
make() { mke2fs -q -F -E nodiscard -t ext4 /dev/vda; }
open() { mount -t ext4 -o data=writeback /dev/vda /drill; }
