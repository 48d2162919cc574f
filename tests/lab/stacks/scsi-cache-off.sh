# A SCSI disk whose write cache is off: no flushes are sent, and none are needed if that is the disk's own word.
ext4 "$(disk plain-a)"
#= standing("durable")
