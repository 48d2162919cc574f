# ext4 while hundreds of MiB wait to be written: looking writes none of them.
ext4 "$(disk cache-a)"
keeps_dirty 200
#= standing("durable")
