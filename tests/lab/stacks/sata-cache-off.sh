# A SATA disk behind AHCI, its write cache off.
ext4 "$(card ahci LAB-sata-off)"
#= fact(disk; "device.write_cache") == "write through"
#= standing("durable")
#= fact(disk; "device.drive_cache") == "off"
