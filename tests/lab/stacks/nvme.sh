# An NVMe disk with a write cache.
ext4 "$(card nvme LAB-nvme)"
#= standing("durable")
