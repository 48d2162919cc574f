# XFS while a GiB waits to be written: looking writes none of it.
xfs "$(disk roomy)"
keeps_dirty 1024
#= standing("durable")
