# ext4 with its journal on another disk: that disk matters as much.
a=$(disk cache-a) b=$(disk cache-b)
mke2fs -q -F -b 4096 -O journal_dev "$b"
mke2fs -q -F -t ext4 -b 4096 -J device="$b" "$a"
put "$a" ext4
#= standing("durable")
#= leaves == ["sda", "sdb"]
