# A SCSI disk with a write cache behind virtio-scsi, and ext4: flushes are sent all the way.
ext4 "$(disk cache-a)"
#= standing("durable")
