# ext4 while a GiB waits to be written: looking writes none of it.
ext4 "$(disk roomy)"
keeps_dirty 1024
#= standing("durable")
