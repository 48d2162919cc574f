# A SATA disk behind AHCI, its write cache on.
ext4 "$(card ahci LAB-sata-on)"
#= standing("durable")
#= fact(disk; "device.write_cache") == "write back"
#= fact(disk; "device.medium") == "virtual"
