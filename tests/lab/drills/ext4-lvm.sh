# ext4 over a logical volume.
make() {
    lvm pvcreate -q -ff -y /dev/vda
    lvm vgcreate -q drill /dev/vda
    lvm lvcreate -q -y -Wn -Zn -l 100%FREE -n data drill
    mke2fs -q -F -E nodiscard -t ext4 /dev/drill/data
}
open() {
    lvm vgchange -q -ay drill
    lvm vgmknodes -q drill
    mount -t ext4 /dev/drill/data /drill
}
