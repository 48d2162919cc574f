# LUKS on a disk with a write cache: dm-crypt passes flushes on.
a=$(disk cache-a)
encrypt "$a"
ext4 /dev/mapper/secret
#= standing("durable")
#= leaves == ["sda"]
#= device("dm-0"; "dm.targets") == ["crypt"]
