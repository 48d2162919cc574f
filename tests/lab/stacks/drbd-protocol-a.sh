# DRBD that calls a commit done before its peer has it (protocol A); here the peer is a second device of the same machine.
a=$(disk cache-a) b=$(disk cache-b)
pair A "$a" "$b"
ext4 /dev/drbd0
#= leaves == ["sda"]
#= standing("durable")
#= evidence("device drbd0"; "protocol A")
#= device("drbd0"; "drbd.protocol") == "A"
#= applies("layer.drbd-asynchronous")
