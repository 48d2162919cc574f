# ext4 that writes data into its journal first.
make() { mke2fs -q -F -E nodiscard -t ext4 /dev/vda; }
open() { mount -t ext4 -o data=journal /dev/vda /drill; }
