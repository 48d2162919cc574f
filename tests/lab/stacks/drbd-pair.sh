# DRBD with its defaults: the flushes of a file system reach its own disk and, as barriers between epochs, its peer's.
a=$(disk cache-a) b=$(disk cache-b)
pair C "$a" "$b"
commits /dev/drbd0 "$a" "$b"
[ "$on_own" -ge 20 ] || fail "20 flushes came to $on_own on its own disk"
[ "$on_peer" -ge 20 ] || fail "20 flushes came to $on_peer on its peer's disk"
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("durable")
#= evidence("device drbd0"; "protocol C")
#= device("drbd0"; "drbd.protocol") == "C"
#= device("drbd0"; "drbd.write_ordering") == "flush"
#= device("drbd0"; "drbd.md_flushes") == true
#= (applies("layer.drbd-no-disk-flushes") or applies("layer.drbd-no-md-flushes")) | not
