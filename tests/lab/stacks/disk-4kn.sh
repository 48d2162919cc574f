# A disk that can be written in 4 KiB only.
ext4 "$(disk native)"
#= standing("durable")
#= device("sda"; "device.logical_block") == 4096
#= device("sda"; "device.physical_block") == 4096
