# The SCSI layer was told for the time being that the disk writes through: the disk itself was not.
a=$(disk cache-a)
echo "temporary write through" >"$(appears "a SCSI disk" '/sys/class/scsi_disk/*/cache_type')"
ext4 "$a"
#= standing("contradictory")
