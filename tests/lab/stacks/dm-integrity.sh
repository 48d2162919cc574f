# dm-integrity by itself: checksums and a journal of its own before the disk.
a=$(disk cache-a)
partition "$a" ',64M,L'
integritysetup format -q "${a}1"
integritysetup open "${a}1" checked
ext4 /dev/mapper/checked
#= standing("durable")
#= leaves == ["sda"]
#= device("dm-0"; "dm.targets") == ["integrity"]
