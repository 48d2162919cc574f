# DRBD with disk-flushes and md-flushes off: its own disk still gets the flushes of a file system, and its peer's gets none.
a=$(disk cache-a) b=$(disk cache-b)
pair C "$a" "$b" --disk-flushes=no --md-flushes=no
commits /dev/drbd0 "$a" "$b"
[ "$on_own" -ge 20 ] || fail "20 flushes came to $on_own on its own disk"
[ "$on_peer" = 0 ] || fail "20 flushes came to $on_peer on its peer's disk"
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("durable")
#= evidence("device drbd0"; "protocol C")
#= device("drbd0"; "drbd.protocol") == "C"
#= device("drbd0"; "drbd.write_ordering") == "drain"
#= device("drbd0"; "drbd.md_flushes") == false
#= applies("layer.drbd-no-disk-flushes") and applies("layer.drbd-no-md-flushes")
