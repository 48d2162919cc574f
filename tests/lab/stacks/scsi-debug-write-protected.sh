# A disk that is write-protected: it can only be read. The kernel then takes its cache for off (drivers/scsi/sd.c), which
# the disk itself does not say.
a=$(card scsi_debug -)
mke2fs -q -F -t ext4 "$a"
echo 1 >/sys/module/scsi_debug/parameters/wp
echo 1 >/sys/block/sda/device/rescan
until_true "the kernel has seen it" grep -qx 1 /sys/block/sda/ro
put "$a" ext4 -o ro
#= leaves == ["sda"]
#= applies("layer.read-only")
#= device("sda"; "device.read_only") == true
#= fact("mount /lab/scsi-debug-write-protected"; "mount.read_only") == true
#= standing("contradictory") or standing("unproven")
