# A disk that takes 512 bytes and writes 4 KiB.
ext4 "$(disk emulated)"
#= standing("durable")
#= device("sda"; "device.logical_block") == 512
#= device("sda"; "device.physical_block") == 4096
