# A virtio disk with a write cache.
ext4 "$(card virtio_blk LAB-virtio-back)"
#= standing("durable")
#= fact(disk; "device.write_cache") == "write back"
#probe= measured
#probe= all(server; .flushes_per_commit > 0)
