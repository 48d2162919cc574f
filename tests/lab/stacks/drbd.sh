# DRBD that replicates to nobody: whether it flushes the disk below is in its own settings, which nobody has read.
a=$(disk cache-a)
modprobe drbd
drbdmeta --force 0 v08 "$a" internal create-md
drbdsetup new-resource r0
drbdsetup new-minor r0 0 0
drbdsetup attach 0 "$a" "$a" internal
drbdsetup primary 0 --force
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("unproven")
#= device("drbd0"; "drbd.protocol") == null
