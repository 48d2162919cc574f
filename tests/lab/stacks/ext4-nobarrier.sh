# ext4 mounted with nobarrier over a disk with a write cache: commits can be lost, and the file system damaged.
ext4 "$(disk cache-a)" -o nobarrier
#= standing("at-risk")
