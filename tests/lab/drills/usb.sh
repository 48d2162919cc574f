# ext4 as it should be, over a disk behind a USB bridge.
#disk usb-storage
#unseen whether the bridge passes a flush on to the disk or answers it itself
make() { mke2fs -q -F -E nodiscard -t ext4 "$disk"; }
open() { mount -t ext4 "$disk" "$at"; }
