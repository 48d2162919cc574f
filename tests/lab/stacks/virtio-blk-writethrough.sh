# A virtio disk that has no write cache, by the hypervisor's word.
ext4 "$(card virtio_blk LAB-virtio-thr)"
#= standing("durable")
#= fact(disk; "device.write_cache") == "write through"
#probe= measured
#probe= all(server; .flushes_per_commit == 0)
