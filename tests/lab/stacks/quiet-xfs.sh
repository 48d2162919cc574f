# XFS while hundreds of MiB wait to be written: looking writes none of them.
xfs "$(disk cache-a)"
keeps_dirty 150
#= standing("durable")
