# A SCSI disk without a caching page: the kernel takes it for one without a write cache, which nobody said.
a=$(card scsi_debug -)
mount -t debugfs debugfs /sys/kernel/debug || skip "no debugfs"
error=$(echo /sys/kernel/debug/scsi_debug/*/error)
[ -e "$error" ] || skip "scsi_debug makes no errors to order"
# MODE SENSE, of six bytes and of ten, is refused from now on: illegal request, invalid field in the command.
for command in 0x1a 0x5a; do echo "2 1 $command 0 0 2 0x5 0x24 0x0" >"$error"; done
echo 1 >/sys/block/sda/device/rescan
until_true "the kernel has asked" grep -qx "write through" /sys/block/sda/queue/write_cache
ext4 "$a"
#= leaves == ["sda"]
#= standing("unproven")
#= device("sda"; "device.write_cache") == "write through"
#= missing("device.drive_cache")
