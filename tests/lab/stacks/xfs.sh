# XFS on a disk with a write cache.
xfs "$(disk cache-a)"
#= standing("durable")
#= stack("sda")
#= redundancy("none")
