# ext4 over a logical volume.
make() {
    lvm pvcreate -q -ff -y "$disk"
    lvm vgcreate -q drill$nth "$disk"
    lvm lvcreate -q -y -Wn -Zn -l 100%FREE -n data drill$nth
    mke2fs -q -F -E nodiscard -t ext4 /dev/drill$nth/data
}
open() {
    lvm vgchange -q -ay drill$nth
    lvm vgmknodes -q drill$nth
    mount -t ext4 /dev/drill$nth/data "$at"
}
