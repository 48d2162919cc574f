# The kernel's own SCSI test disk, told to say that its write cache is off (opts=0x1000).
modprobe scsi_debug opts=0x1000
ext4 "$(card scsi_debug -)"
#= leaves == ["sda"]
#= standing("durable")
#= device("sda"; "device.write_cache") == "write through"
