# DRBD that replicates to nobody: its own disk gets every flush.
a=$(disk cache-a)
modprobe drbd
drbdmeta --force 0 v08 "$a" internal create-md
drbdsetup new-resource r0
drbdsetup new-minor r0 0 0
drbdsetup attach 0 "$a" "$a" internal
drbdsetup primary 0 --force
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("durable")
#= device("drbd0"; "drbd.protocol") == null
#= device("drbd0"; "drbd.write_ordering") == "flush"
#= device("drbd0"; "drbd.md_flushes") == true
#= (applies("layer.drbd-no-disk-flushes") or applies("layer.drbd-no-md-flushes")) | not
