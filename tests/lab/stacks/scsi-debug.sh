# The kernel's own SCSI test disk: memory that says of itself what it is told to.
ext4 "$(card scsi_debug -)"
#= leaves == ["sda"]
#= standing("durable")
