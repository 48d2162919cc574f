# Stacks of the lab: disks of each bus, with and without a write cache. A line `### NAME` begins one, as tests/lab/sections reads them.

### cloud-ephemeral
# A cloud's local disk that says so by its model: what is on it goes with the machine.
ext4 "$(disk google)"
#= device("sda"; "device.model") | test("EphemeralDisk")
#= standing("at-risk")
#= device("sda"; "device.ephemeral") == true

### disk-4kn
# A disk that can be written in 4 KiB only.
ext4 "$(disk native)"
#= standing("durable")
#= device("sda"; "device.logical_block") == 4096
#= device("sda"; "device.physical_block") == 4096

### disk-512e
# A disk that takes 512 bytes and writes 4 KiB.
ext4 "$(disk emulated)"
#= standing("durable")
#= device("sda"; "device.logical_block") == 512
#= device("sda"; "device.physical_block") == 4096

### megaraid
# A MegaRAID controller: its driver answers flushes itself, and the controller's tool is missing.
ext4 "$(card megaraid_sas LAB-raid)"
#= standing("unproven")
#= device("sda"; "device.driver") == "megaraid_sas"

### nvme
# An NVMe disk with a write cache.
ext4 "$(card nvme LAB-nvme)"
#= standing("durable")

### pmem
# Persistent memory by the kernel's command line: no cache that the block layer knows of.
modprobe nd_e820
ext4 "$(card nd_pmem -)"
#= leaves == ["pmem0"]
#= standing("unproven")
#= device("pmem0"; "device.transport") == "pmem"

### ram
# A disk in memory: everything is gone without power.
modprobe brd rd_nr=1 rd_size=65536
ext4 /dev/ram0
#= standing("at-risk")

### sata-cache-off
# A SATA disk behind AHCI, its write cache off.
ext4 "$(card ahci LAB-sata-off)"
#= fact(disk; "device.write_cache") == "write through"
#= standing("durable")
#= fact(disk; "device.drive_cache") == "off"

### sata
# A SATA disk behind AHCI, its write cache on.
ext4 "$(card ahci LAB-sata-on)"
#= standing("durable")
#= fact(disk; "device.write_cache") == "write back"
#= fact(disk; "device.medium") == "virtual"

### scsi-cache-off
# A SCSI disk whose write cache is off: no flushes are sent, and none are needed if that is the disk's own word.
ext4 "$(disk plain-a)"
#= standing("durable")

### scsi-debug-cache-off
# The kernel's own SCSI test disk, told to say that its write cache is off (opts=0x1000).
modprobe scsi_debug opts=0x1000
ext4 "$(card scsi_debug -)"
#= leaves == ["sda"]
#= standing("durable")
#= device("sda"; "device.write_cache") == "write through"

### scsi-debug-no-caching-page
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

### scsi-debug-write-protected
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

### scsi-debug
# The kernel's own SCSI test disk: memory that says of itself what it is told to.
ext4 "$(card scsi_debug -)"
#= leaves == ["sda"]
#= standing("durable")

### sd-card
# An SD card.
modprobe mmc_block
ext4 "$(card sdhci_pci -)"
#= leaves == ["mmcblk0"]
#= standing("unproven")

### usb
# A USB disk.
modprobe xhci_pci
ext4 "$(card usb_storage -)"
#= leaves == ["sda"]
#= standing("unproven")
#= device("sda"; "device.transport") == "usb"

### virtio-blk-writethrough
# A virtio disk that has no write cache, by the hypervisor's word.
ext4 "$(card virtio_blk LAB-virtio-thr)"
#= standing("durable")
#= fact(disk; "device.write_cache") == "write through"
#probe= measured
#probe= all(server; .flushes_per_commit == 0)

### virtio-blk
# A virtio disk with a write cache.
ext4 "$(card virtio_blk LAB-virtio-back)"
#= standing("durable")
#= fact(disk; "device.write_cache") == "write back"
#probe= measured
#probe= all(server; .flushes_per_commit > 0)

### virtio-scsi
# A SCSI disk with a write cache behind virtio-scsi, and ext4: flushes are sent all the way.
ext4 "$(disk cache-a)"
#= standing("durable")

### zram
# Compressed memory: everything is gone without power.
modprobe zram num_devices=1
echo 64M >/sys/block/zram0/disksize
ext4 /dev/zram0
#= standing("at-risk")
