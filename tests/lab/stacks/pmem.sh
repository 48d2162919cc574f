# Persistent memory by the kernel's command line: no cache that the block layer knows of.
modprobe nd_e820
ext4 "$(card nd_pmem -)"
#= leaves == ["pmem0"]
#= standing("unproven")
#= device("pmem0"; "device.transport") == "pmem"
